"""Opening SQLite files: bounded waits, one-line errors, newer layouts refused.

A file is only ever looked at through SQLite itself: opening and closing it by
other means would drop the locks that this process holds on it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_SECS = 5.0
"""Longest wait for a lock that another process holds."""
CHECKPOINT_SECS = 0.2
"""Longest wait for readers of an older generation when the write-ahead log is to be emptied."""
LOG_BYTES = 16 * 2**20
"""To what the write-ahead log is cut when it begins anew: a large publish must not stay in it."""
_CHECKED_STEPS = 1_000
"""Steps of SQLite between two looks at the clock."""

_DAMAGED = "the file is damaged; put a backup in its place (it is never recreated by itself)"
_FOLDER = "the file and its folder must be writable by this user"
_ADVICE = {
    sqlite3.SQLITE_BUSY: "another process is writing to it; try again when that has ended",
    sqlite3.SQLITE_CANTOPEN: _FOLDER,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FULL: "the disk is full; free some space and run again",
    sqlite3.SQLITE_IOERR: "check the disk and run again",
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_READONLY: _FOLDER,
}


def store_error(path: Path, error: Exception) -> StoreError:
    """Return the one-line error for what SQLite said about ``path``."""
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    advice = f"; {_ADVICE[primary]}" if primary in _ADVICE else ""
    return StoreError(f"{path}: {error}{advice}")


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn what SQLite raises inside the block into a StoreError that names ``path``."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, error) from error


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open ``path`` in autocommit mode for any thread; ``mode`` is ``rw`` or ``rwc``.

    Raises:
        StoreError: the file is there and not writable. SQLite would leave ``-wal`` and ``-shm``
            files with the same mode behind, which stop every writer even when that is mended.
    """
    if path.exists() and not os.access(path, os.W_OK):
        raise StoreError(f"{path}: not writable; {_FOLDER}")
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECS,
        isolation_level=None,
        check_same_thread=False,
    )


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open ``path`` for durable writing, with its folder; the file may be new.

    Raises:
        StoreError: the folder cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise store_error(path, error) from error
    conn = connect(path, "rwc")
    try:
        conn.execute("PRAGMA journal_mode=WAL")
        conn.execute("PRAGMA synchronous=FULL")
        conn.execute(f"PRAGMA journal_size_limit={LOG_BYTES}")
        conn.execute("PRAGMA secure_delete=ON")  # no deleted text in free pages
    except sqlite3.Error:
        conn.close()
        raise
    return conn


def checkpoint(conn: sqlite3.Connection) -> None:
    """Bring the write-ahead log into the file and empty it, as far as readers let."""
    conn.execute(f"PRAGMA busy_timeout={round(CHECKPOINT_SECS * 1_000)}")
    try:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        conn.execute(f"PRAGMA busy_timeout={round(BUSY_SECS * 1_000)}")


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open the existing ``path`` for reading beside a writer.

    Not ``mode=ro``: such a connection leaves ``-wal`` and ``-shm`` files behind.
    """
    conn = connect(path, "rw")
    conn.execute("PRAGMA query_only=ON")
    return conn


def layout_version(conn: sqlite3.Connection, path: Path, query: str, known: int) -> int:
    """Return the version that ``query`` finds, 0 for a file without tables.

    Raises:
        StoreError: the layout is newer than ``known``, or the file is another program's.
    """
    if conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return 0
    try:
        row = conn.execute(query).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        row = None
    if row is None or not isinstance(row[0], int):
        raise StoreError(f"{path}: not a file of freshcrawl; move it away or name another folder")
    if row[0] > known:
        raise StoreError(
            f"{path}: written in layout {row[0]}, this version understands up to {known}; "
            "update freshcrawl"
        )
    return int(row[0])


def connect_checked(path: Path, query: str, known: int) -> sqlite3.Connection | None:
    """Return a reader of ``path``, or None while the file has no tables yet."""
    conn = connect_reader(path)
    version = 0
    try:
        version = layout_version(conn, path, query, known)
    finally:
        if not version:
            conn.close()
    return conn if version else None


def quick_check(path: Path, seconds: float) -> bool:
    """Look for damage in an existing file; tell whether all of it was looked at in that time.

    Raises:
        StoreError: the file is damaged or cannot be read.
    """
    deadline = time.monotonic() + seconds
    with reported(path), closing(connect_reader(path)) as conn:
        conn.set_progress_handler(lambda: time.monotonic() > deadline, _CHECKED_STEPS)
        try:
            found = conn.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                return False
            raise
    if found != "ok":
        raise StoreError(f"{path}: {' '.join(found.split())}; {_DAMAGED}")
    return True
