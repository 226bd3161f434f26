"""What tells a file from others that stand, stood or will stand at the same path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def identity(file: Path | int) -> tuple[int, int] | None:
    """Return which file a path names, or a descriptor has open; None if there is none.

    It is only the file's own while that is open somewhere: afterwards a new one may get it.
    """
    found = _stat(file)
    return (found.st_dev, found.st_ino) if found else None


def version(path: Path) -> tuple[int, ...] | None:
    """Return which file a path names and how it was last written; None if there is none."""
    found = _stat(path)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if found else None


def _stat(file: Path | int) -> os.stat_result | None:
    try:
        return os.fstat(file) if isinstance(file, int) else file.stat()
    except OSError:
        return None
