"""A file that is made once and never overwritten: asked for first, written when all is done."""

from __future__ import annotations

import errno
import json
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.config import ConfigError
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODE = 0o600
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK}


class ProofFile:
    """A JSON file that nobody else can read, at a path where there is none yet.

    The ``with`` block is entered before the work that it is about: it holds a draft in the same
    folder, which goes if nothing is written.

    Raises:
        ConfigError: there is something at the path, or nothing can be written beside it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        self._file = -1

    def __enter__(self) -> Self:
        if os.path.lexists(self._path):
            raise ConfigError(f"{self._path} is there already: name a file that is not")
        try:
            self._file = os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
        except OSError as error:
            raise ConfigError(
                f"{self._path} cannot be written ({error.strerror}): nothing was changed; name a "
                "file in a folder that can be written"
            ) from None
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._file >= 0:
            os.close(self._file)
            with suppress(OSError):
                self._draft.unlink()

    def write(self, document: Mapping[str, Any]) -> None:
        """Write and sync the document, and give it its name.

        Raises:
            StoreError: it cannot be written, or something took its name meanwhile.
        """
        data = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        try:
            with os.fdopen(self._file, "wb", closefd=False) as file:
                file.write(data.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
            self._name()
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise StoreError(
                f"{self._path}: the pages are forgotten, but the proof cannot be written "
                f"({error.strerror}); run the same command again, with a file that can be"
            ) from None

    def _name(self) -> None:
        """Rename the draft, but not over another file."""
        try:
            os.link(self._draft, self._path)
        except OSError as error:
            if error.errno not in _NO_LINKS or os.path.lexists(self._path):
                raise
            self._draft.rename(self._path)
