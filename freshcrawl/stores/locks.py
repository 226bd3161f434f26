"""One writer per site: a kernel lock that dies with its process."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from pathlib import Path


class LockedError(StoreError):
    """Another process writes to the site."""


class SiteLock:
    """The lock of a site's folder: ``flock`` on ``<folder>/.lock``.

    What the file says about the holder is for display only. The descriptor is
    closed on exec, so that started programs (a browser) do not hold the lock on.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".lock"
        self._fd: int | None = None

    def acquire(self, command: str, since: float) -> Self:
        """Take the lock at once or not at all; ``since``: seconds since the epoch.

        Raises:
            LockedError: it is held, also by this very object.
            StoreError: the file cannot be opened or locked.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(
                f"{self._path}: cannot be locked ({error.strerror}); the file and its folder must "
                "be writable by this user"
            ) from error
        try:
            self._lock(fd)
            self._describe(fd, command, since)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def release(self) -> None:
        """Give the lock up; nothing happens if it is not held. The file stays."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _lock(self, fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LockedError(self._held(fd)) from error
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be locked: {error.strerror}") from error

    def _held(self, fd: int) -> str:
        return f"{self._path.parent} is in use by {_told(fd)}; try again when that has ended"

    @staticmethod
    def _describe(fd: int, command: str, since: float) -> None:
        holder: dict[str, Any] = {
            "command": command,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.fromtimestamp(since, UTC).isoformat(timespec="seconds"),
        }
        with suppress(OSError):  # a full disk must not keep the lock from being taken
            os.ftruncate(fd, 0)
            os.pwrite(fd, json.dumps(holder).encode(), 0)


def holder(folder: Path) -> str:
    """Return who holds the lock of a site's folder now, as far as the file says; empty for nobody.

    A file that tells of nobody is not locked even for a moment, so that no writer is kept out.
    """
    with suppress(OSError), (folder / ".lock").open("rb") as file:
        if os.fstat(file.fileno()).st_size:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _told(file.fileno())
    return ""


def _told(fd: int) -> str:
    """Return who holds the lock, as far as the file says."""
    try:
        told = json.loads(os.pread(fd, 4096, 0))
        return (
            f"`{told['command']}` (process {told['pid']} on {told['host']}, since {told['since']})"
        )
    except (ValueError, TypeError, KeyError):
        return "another process"
