"""One writer per site: a kernel lock that dies with its process."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.stores.advice import advice
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.identity import identity

if TYPE_CHECKING:
    from pathlib import Path

WAIT_SECS = 0.3
"""How long a lock is tried for that another process holds: what only looks at it is gone then."""
_PAUSE_SECS = 0.02
_NAME = ".lock"
EMBEDDING = ".embedding"
"""Name of the lock of who embeds for a site, and writes to it for moments only."""
_BRIEF = "embed"
"""What such a one calls itself while it writes."""
_BRIEF_SECS = 60.0
"""How long it is waited for: to publish a large index takes a while."""
_SOMEBODY = "another process"
_READER = "a reader that cannot write beside the files"
_MODE = 0o644


class LockedError(StoreError):
    """Another process writes to the site."""


class SiteLock:
    """A lock of a site's folder: ``flock`` on a file in it, ``.lock`` for who writes to the site.

    What the file says about the holder is for display only. The descriptor is
    closed on exec and in forked children, so that neither started programs (a
    browser) nor workers hold the lock on after this process.
    """

    def __init__(self, folder: Path, name: str = _NAME) -> None:
        self._path = folder / name
        self._fd: int | None = None

    def acquire(self, command: str, since: float) -> Self:
        """Take the lock, or give up within ``WAIT_SECS``; ``since``: seconds since the epoch.

        A holder that has it for moments only (``scrapy embed``) is waited for.

        Raises:
            LockedError: it is held, also by this very object.
            StoreError: the file cannot be opened or locked.
        """
        began = time.monotonic()
        while (fd := self._locked()) is None:
            waited = time.monotonic() - began
            if waited >= WAIT_SECS and (waited >= _BRIEF_SECS or not self._is_brief()):
                raise LockedError(self._held())
            time.sleep(_PAUSE_SECS)
        _describe(fd, command, since)
        self._fd = fd
        _HELD.add(self)
        return self

    def check(self) -> None:
        """Make sure that a lock that is held still guards the folder.

        Raises:
            StoreError: the folder was deleted, and perhaps made anew by another process.
        """
        if self._fd is not None and not _is_at(self._path, self._fd):
            raise StoreError(
                f"{self._path.parent}: the folder was deleted or replaced while this process wrote "
                "to it; nothing more is written: run it again"
            )

    def release(self) -> None:
        """Give the lock up; nothing happens if it is not held. The file stays."""
        if self._fd is not None:
            with suppress(OSError):  # closing it is what counts
                os.ftruncate(self._fd, 0)
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _locked(self) -> int | None:
        """Return the descriptor of the file, locked; None if another one has it locked.

        A folder that is deleted at the same moment takes its lock with it: what was locked then
        is no longer what others lock.

        Raises:
            StoreError: the file cannot be opened or locked.
        """
        fd = self._opened()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(self._path, fd):
                return fd
        except BlockingIOError:
            pass
        except OSError as error:
            os.close(fd)
            raise StoreError(f"{self._path}: cannot be locked: {error.strerror}") from error
        os.close(fd)
        return None

    def _opened(self) -> int:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
        except OSError as error:
            what = advice(self._path, error) or "the file and its folder must be writable"
            raise StoreError(
                f"{self._path}: cannot be locked ({error.strerror}); {what}"
            ) from error

    def _is_brief(self) -> bool:
        return self._path.name == _NAME and _said(self._path).get("command") == _BRIEF

    def _held(self) -> str:
        folder = self._path.parent
        told = _told(self._path)
        if self._path.name == _NAME:
            with suppress(OSError):
                os.close(share_lock(folder))
                told = _READER  # what the file says was left by a writer that was killed
        return f"{folder} is in use by {told}; try again when that has ended"

    def _close(self) -> None:
        fd, self._fd = self._fd, None
        _HELD.discard(self)
        if fd is not None:
            os.close(fd)


_HELD: set[SiteLock] = set()


def _close_in_child() -> None:
    """Leave the locks to the parent: a child that outlives it must not hold them on."""
    for lock in list(_HELD):
        lock._close()


os.register_at_fork(after_in_child=_close_in_child)


def holder(folder: Path) -> str:
    """Return who holds the lock of a site's folder now, as far as the file says; empty for nobody.

    To find out, the file is locked for a moment, which a writer waits for.
    """
    with suppress(OSError):
        try:
            os.close(share_lock(folder))
        except BlockingIOError:
            return _told(folder / _NAME)
    return ""


def share_lock(folder: Path) -> int:
    """Lock a site's folder against writers, together with others that do; return the descriptor.

    Raises:
        BlockingIOError: a writer has it.
        OSError: there is no lock file, or it cannot be opened.
    """
    fd = os.open(folder / _NAME, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BaseException:
        os.close(fd)
        raise
    return fd


def make_lock_file(folder: Path) -> bool:
    """Make the lock file of a folder that has none, as its owner's; tell whether it is there."""
    try:
        fd = os.open(folder / _NAME, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, _MODE)
    except OSError:
        return False
    try:
        owner = folder.stat()
        with suppress(OSError):  # only root can, and only root need
            os.fchown(fd, owner.st_uid, owner.st_gid)
    finally:
        os.close(fd)
    return True


def _is_at(path: Path, fd: int) -> bool:
    """Tell whether a path still names an open file."""
    return identity(path) == identity(fd)


def _describe(fd: int, command: str, since: float) -> None:
    """Write down who holds the lock; a full disk does not keep it from being taken."""
    holder: dict[str, Any] = {
        "command": command,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.fromtimestamp(since, UTC).isoformat(timespec="seconds"),
    }
    text = json.dumps(holder).encode()
    try:
        os.pwrite(fd, text, 0)
        os.ftruncate(fd, len(text))
    except OSError:
        with suppress(OSError):
            os.ftruncate(fd, 0)  # better no name than that of one that is dead


def _told(path: Path) -> str:
    """Return who holds a lock, as far as its file says."""
    told = _said(path)
    try:
        return (
            f"`{told['command']}` (process {told['pid']} on {told['host']}, since {told['since']})"
        )
    except KeyError:
        return _SOMEBODY


def _said(path: Path) -> dict[str, Any]:
    """Return what the file of a lock says of its holder."""
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return {}
