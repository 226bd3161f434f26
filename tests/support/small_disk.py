"""A small disk of a test's own: a tmpfs, which can be filled, emptied and made read-only."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BALLAST = "ballast"
_BLOCK = 4096


class SmallDisk:
    """A tmpfs of ``mib`` MiB at ``folder``; a test is skipped where nothing can be mounted."""

    def __init__(self, folder: Path, mib: int = 8) -> None:
        self.folder = folder
        self._mib = mib

    def __enter__(self) -> Self:
        self.folder.mkdir()
        options = f"size={self._mib}m"
        done = _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder))
        if done.returncode:
            pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
        return self

    def __exit__(self, *_: object) -> None:
        _run("umount", "--lazy", str(self.folder))

    def fill(self, leave_kib: int = 0) -> None:
        """Fill the disk up to so many KiB."""
        fill(self.folder, leave_kib)

    def make_room(self) -> None:
        """Take away what fills the disk."""
        (self.folder / BALLAST).unlink(missing_ok=True)

    def read_only(self, on: bool) -> None:
        """Mount it for reading only, or for writing again."""
        done = _run("mount", "-o", f"remount,{'ro' if on else 'rw'}", str(self.folder))
        assert done.returncode == 0, done.stderr


@contextmanager
def read_only_view(folder: Path, at: Path) -> Iterator[None]:
    """Show a folder at another path, too, where nothing can be written; skip where that fails."""
    at.mkdir()
    done = _run("mount", "--bind", str(folder), str(at))
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        done = _run("mount", "-o", "remount,bind,ro", str(at))
        assert done.returncode == 0, done.stderr
        yield
    finally:
        _run("umount", "--lazy", str(at))


def fill(folder: Path, leave_kib: int = 0) -> None:
    """Write until the disk of ``folder`` is full, then give so many KiB back."""
    fd = os.open(folder / BALLAST, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        with suppress(OSError):
            while True:
                os.write(fd, b"\xff" * _BLOCK)
        os.ftruncate(fd, max(0, os.fstat(fd).st_size - leave_kib * 1024))
    finally:
        os.close(fd)


def _run(*args: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(args, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        return subprocess.CompletedProcess(args, 127, "", str(error))
