"""Opening SQLite files: bounded waits, one-line errors, newer layouts refused.

A file is only ever looked at through SQLite itself: opening and closing it by
other means would drop the locks that this process holds on it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.advice import DAMAGED, advice
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.identity import identity
from freshcrawl.stores.sqlite_reader import UnchangingConnection, open_reader

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
_OPTIONS: dict[str, Any] = {
    "timeout": BUSY_SECS,
    "isolation_level": None,
    "check_same_thread": False,
}


def store_error(path: Path, error: Exception) -> StoreError:
    """Return the one-line error for what SQLite said about ``path``."""
    what = advice(path, error)
    said = str(error) or type(error).__name__
    return StoreError(f"{path}: {said}{f'; {what}' if what else ''}")


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn what SQLite raises inside the block into a StoreError that names ``path``."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, error) from error


def refuse_unwritable(path: Path) -> None:
    """Refuse a file that is there and not writable, in a folder that is.

    SQLite would leave ``-wal`` and ``-shm`` files with the same mode behind, which stop every
    writer even when that is mended.

    Raises:
        StoreError: it is so.
    """
    if path.exists() and not os.access(path, os.W_OK):
        error = PermissionError(errno.EACCES, "")
        raise StoreError(f"{path}: not writable; {advice(path, error)}")


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open ``path`` in autocommit mode for any thread; ``mode`` is ``rw`` or ``rwc``.

    Raises:
        StoreError: the file is there and not writable.
    """
    refuse_unwritable(path)
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    conn: sqlite3.Connection = sqlite3.connect(uri, uri=True, **_OPTIONS)
    return conn


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open ``path`` for durable writing, with its folder; the file may be new.

    Raises:
        StoreError: the folder cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise store_error(path, error) from error
    return _durable(connect(path, "rwc"))


def connect_existing(path: Path) -> sqlite3.Connection:
    """Open ``path`` for durable writing; a file that is not there is not made.

    Raises:
        StoreError: the file cannot be written.
    """
    return _durable(connect(path, "rw"))


def _durable(conn: sqlite3.Connection) -> sqlite3.Connection:
    try:
        conn.execute("PRAGMA synchronous=FULL")
        conn.execute(f"PRAGMA journal_size_limit={LOG_BYTES}")
        conn.execute("PRAGMA secure_delete=ON")  # no deleted text in free pages
    except sqlite3.Error:
        conn.close()
        raise
    return conn


def use_wal(conn: sqlite3.Connection) -> None:
    """Let readers and a writer work side by side; for a file that is known to be ours."""
    conn.execute("PRAGMA journal_mode=WAL")


def checkpoint(conn: sqlite3.Connection) -> None:
    """Bring the write-ahead log into the file and empty it, as far as readers let."""
    conn.execute(f"PRAGMA busy_timeout={round(CHECKPOINT_SECS * 1_000)}")
    try:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        conn.execute(f"PRAGMA busy_timeout={round(BUSY_SECS * 1_000)}")


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open the existing ``path`` for reading beside a writer, also where nothing can be written.

    Raises:
        StoreError: it cannot be read, or only where its folder can be written.
    """
    if os.access(path.parent, os.W_OK):
        refuse_unwritable(path)
    return open_reader(path, **_OPTIONS)


def keeps_writers_out(conn: sqlite3.Connection | None) -> bool:
    """Tell whether no writer can open the site until a connection is closed."""
    return isinstance(conn, UnchangingConnection)


class FileIdentity:
    """Which file stood at ``path`` when it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found = identity(path)

    def check(self) -> None:
        """Refuse to go on with a file that is not there any more: SQLite would write to nowhere.

        Raises:
            StoreError: it was taken away, or another one put in its place.
        """
        if identity(self._path) != self._found:
            raise StoreError(
                f"{self._path}: was taken away or replaced while it was written to; nothing more "
                "is written: put files back only while no run is on, then run again"
            )


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
        raise StoreError(f"{path}: {' '.join(found.split())}; {DAMAGED}")
    return True
