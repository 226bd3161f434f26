"""Opening SQLite files for reading where nothing can be written: a full or read-only disk."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.advice import primary_code
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from pathlib import Path

_NO_PLACE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
}
"""What SQLite says if it cannot make the ``-shm`` file that readers share with a writer."""


class UnchangingConnection(sqlite3.Connection):
    """A reader that takes a file for unchanging, and keeps freshcrawl's writers out meanwhile.

    It holds the site's lock together with other readers; ``close`` lets it go.
    """

    lock_fd: int | None = None

    def close(self) -> None:
        """Close the connection, then let writers in."""
        super().close()
        self._let_go()

    def __del__(self) -> None:
        self._let_go()

    def _let_go(self) -> None:
        fd, self.lock_fd = self.lock_fd, None
        if fd is not None:
            os.close(fd)


def open_reader(path: Path, **options: Any) -> sqlite3.Connection:
    """Open the existing ``path`` for reading beside a writer; ``options`` are sqlite3.connect's.

    SQLite shares what readers and a writer know in ``-shm``, beside the file. Where that can
    neither be found nor made, no writer is at work, and the file is read without it.

    Raises:
        sqlite3.Error: the file cannot be opened.
        StoreError: it could be read only if its folder could be written.
    """
    writable = os.access(path.parent, os.W_OK)
    # Where it could leave files behind, not `ro`: such a connection does not remove them.
    mode = "rw" if writable else "ro"
    conn: sqlite3.Connection = sqlite3.connect(_uri(path, f"mode={mode}"), uri=True, **options)
    try:
        _first_read(conn)
    except sqlite3.OperationalError as error:
        conn.close()
        if primary_code(error) not in _NO_PLACE:
            raise
        return _open_alone(path, error, writable, options)
    except BaseException:
        conn.close()
        raise
    return conn


def _open_alone(
    path: Path, error: sqlite3.OperationalError, writable: bool, options: dict[str, Any]
) -> sqlite3.Connection:
    try:
        lock_fd = _keep_writers_out(path.parent / ".lock")
    except OSError:  # a writer is at it, or nobody can tell
        raise error from None
    try:
        pending = _size(path, "-wal") or _size(path, "-journal")
        if pending and not writable:
            raise StoreError(
                f"{path}: its latest changes are in the file -wal beside it, which can be read "
                "only where the folder can be written; run `scrapy status` there once"
            ) from error
        # A full disk: what is pending is read with the knowledge of it in memory.
        how = "mode=rw&vfs=unix-excl" if pending else "mode=ro&immutable=1"
        conn = sqlite3.connect(_uri(path, how), uri=True, factory=UnchangingConnection, **options)
    except BaseException:
        if lock_fd is not None:
            os.close(lock_fd)
        raise
    conn.lock_fd = lock_fd
    try:
        _first_read(conn)
    except BaseException:
        conn.close()
        raise
    return conn


def _keep_writers_out(lock: Path) -> int | None:
    """Share the site's lock with other readers; None if there is none: nobody has ever written.

    Raises:
        OSError: a writer has it, or it cannot be opened.
    """
    try:
        fd = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _first_read(conn: sqlite3.Connection) -> None:
    conn.execute("PRAGMA query_only=ON")
    conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


def _size(path: Path, suffix: str) -> int:
    with suppress(FileNotFoundError):
        return path.with_name(path.name + suffix).stat().st_size
    return 0


def _uri(path: Path, query: str) -> str:
    return f"{path.absolute().as_uri()}?{query}"
