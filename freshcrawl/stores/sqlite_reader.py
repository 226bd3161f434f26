"""Opening SQLite files for reading where nothing can be written: a full or read-only disk."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.advice import primary_code
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import make_lock_file, share_lock

if TYPE_CHECKING:
    from pathlib import Path

WRITER_SECS = 1.0
"""Longest wait for a writer that begins or ends: it has the lock, and shares nothing yet."""
_PAUSE_SECS = 0.02
_SHM_BYTES = 32_768
"""Least size of a ``-shm`` file in use; an attempt for which there was no room leaves less."""
_NO_PLACE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
}
"""What SQLite says if it cannot make the ``-shm`` file that readers share with a writer."""


class UnchangingConnection(sqlite3.Connection):
    """A reader that takes a file for unchanging, and keeps freshcrawl's writers out meanwhile.

    It holds the site's lock together with other readers; ``close`` lets it go. Whoever has one
    closes it soon.
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
    neither be found nor made, no writer is at work, and the file is read without it, by an
    UnchangingConnection.

    Raises:
        sqlite3.Error: the file cannot be opened.
        StoreError: it could be read only if its folder could be written, or another reader that
            cannot write has it.
    """
    try:
        return _open_somehow(path, options)
    except sqlite3.OperationalError as error:
        if primary_code(error) == sqlite3.SQLITE_BUSY and _has_no_writer(path.parent):
            raise StoreError(
                f"{path}: {error}; another reader, which cannot write beside it, has it for "
                "itself: free some space, or try again when that has ended"
            ) from error
        raise


def _open_somehow(path: Path, options: dict[str, Any]) -> sqlite3.Connection:
    writable = os.access(path.parent, os.W_OK)
    until = time.monotonic() + WRITER_SECS
    while True:
        refused = None
        try:
            conn = _open_beside(path, writable, options)
            if conn is not None:
                return conn
        except sqlite3.OperationalError as error:
            if primary_code(error) not in _NO_PLACE:
                raise
            refused = error
        try:
            lock_fd = _keep_writers_out(path.parent, writable)
        except OSError as error:  # a writer, or nobody can tell
            if not isinstance(error, BlockingIOError) or time.monotonic() >= until:
                raise refused or error from None
            time.sleep(_PAUSE_SECS)
        else:
            return _open_alone(path, lock_fd, writable, options)


def _open_beside(path: Path, writable: bool, options: dict[str, Any]) -> sqlite3.Connection | None:
    """Open a file with ``-shm``; None if another connection of this process reads it without.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    # Where it could leave files behind, not `ro`: such a connection does not remove them.
    mode = "rw" if writable else "ro"
    conn: sqlite3.Connection = sqlite3.connect(_uri(path, f"mode={mode}"), uri=True, **options)
    try:
        _first_read(conn)
        [journal] = conn.execute("PRAGMA journal_mode").fetchone()
        if writable and journal == "wal" and _size(path, "-shm") < _SHM_BYTES:
            # It would go on once the other one is closed, and have the file for itself.
            conn.close()
            return None
    except BaseException:
        conn.close()
        raise
    return conn


def _open_alone(
    path: Path, lock_fd: int | None, writable: bool, options: dict[str, Any]
) -> sqlite3.Connection:
    """Open a file that nobody writes to meanwhile; the connection closes ``lock_fd``."""
    try:
        pending = _size(path, "-wal") or _size(path, "-journal")
        if pending and not writable:
            raise StoreError(
                f"{path}: its latest changes are in the file -wal beside it, which can be read "
                "only where the folder can be written; run `scrapy status` there once"
            )
        # A full disk: what is pending is read with the knowledge of it in memory. SQLite lets no
        # other process read the file as long as that lasts, so that others wait for it.
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


def _keep_writers_out(folder: Path, writable: bool) -> int | None:
    """Share the site's lock with other readers.

    None if there is no lock file, as in a copy that was made without it, and it cannot be made.
    Then this disk keeps writers out by itself, as they would have to make it, too; not so those
    that reach the folder in another way (another mount, another user). Such a one that begins
    just now is not noticed until what is being read is done.

    Raises:
        BlockingIOError: a writer has it.
        OSError: it cannot be opened.
    """
    try:
        return share_lock(folder)
    except FileNotFoundError:
        if not (writable and make_lock_file(folder)):
            return None
        return share_lock(folder)


def _has_no_writer(folder: Path) -> bool:
    try:
        os.close(share_lock(folder))
    except OSError:
        return False
    return True


def _first_read(conn: sqlite3.Connection) -> None:
    conn.execute("PRAGMA query_only=ON")
    conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


def _size(path: Path, suffix: str) -> int:
    with suppress(FileNotFoundError):
        return path.with_name(path.name + suffix).stat().st_size
    return 0


def _uri(path: Path, query: str) -> str:
    return f"{path.absolute().as_uri()}?{query}"
