"""sqlitedict's thread and dictionary, without their traps: see ``bounded_sqlitedict``."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

from sqlitedict import SqliteDict, SqliteMultithread

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.sqlitefile import LOG_BYTES, connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

POLL_SECS = 0.5
STUCK_SECS = 30.0
"""Longest wait for a sign of life: one statement, which waits ``BUSY_SECS`` for a lock at most."""


def encode(value: Mapping[str, Any]) -> str:
    """Return the JSON text of a record."""
    return json.dumps(value, separators=(",", ":"))


class GuardedConnection:
    """Connection and cursor of the thread in one: after an error nothing is executed any more.

    So what is queued behind a failed write neither waits for the same lock, one after the other,
    nor is committed.
    """

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._cursor = conn.cursor()
        self.refusal: Exception | None = None
        """Why nothing is executed any more."""

    def execute(self, sql: str, args: tuple[Any, ...] = ()) -> None:
        """Execute a statement, unless one before it failed.

        Raises:
            Exception: it fails, or one before it did.
        """
        if self.refusal is not None:
            raise self.refusal
        try:
            self._cursor.execute(sql, args)
        except Exception as error:
            self.refusal = error
            raise

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(()) if self.refusal is not None else self._cursor

    def commit(self) -> None:
        """Commit, unless a statement failed."""
        if self.refusal is None:
            self._conn.commit()

    def close(self) -> None:
        """Close the connection; SQLite rolls back what was not committed."""
        self._conn.close()


class BoundedThread(SqliteMultithread):  # type: ignore[misc] # sqlitedict has no types
    """sqlitedict's thread, which tells of every error and whose callers never wait for ever.

    Its own dies of errors while rows are read or committed, with a traceback on stderr, and
    leaves those to wait who asked.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard: GuardedConnection | None = None
        self.exception: Any
        super().__init__(str(path), autocommit=False, journal_mode="WAL", outer_stack=False)

    def run(self) -> None:
        """Serve requests; an error that ends it is kept for whoever asks next."""
        try:
            super().run()
        except BaseException:
            with self._lock:
                if self.exception is None:
                    self.exception = sys.exc_info()
        finally:
            if self._guard is not None:
                self._guard.close()

    def _connect(self) -> tuple[GuardedConnection, GuardedConnection]:
        """Return connection and cursor. The file must be there: it is never made anew."""
        conn = connect(self._path, "rw")
        conn.execute("PRAGMA synchronous=FULL")  # sqlitedict turns it off
        conn.execute(f"PRAGMA journal_size_limit={LOG_BYTES}")
        conn.execute("PRAGMA secure_delete=ON")  # no deleted text in free pages
        conn.isolation_level = "DEFERRED"  # a write begins a transaction
        self._guard = GuardedConnection(conn)
        return self._guard, self._guard

    def select(self, req: str, arg: tuple[Any, ...] | None = None) -> Iterator[tuple[Any, ...]]:
        """Return all rows of a statement, after everything queued before it.

        Raises:
            Exception: it failed, or one before it did.
            StoreError: the thread is dead, or does nothing for ``STUCK_SECS``.
        """
        answers: Queue[Any] = Queue()
        self.execute(req, arg, answers)
        rows: list[tuple[Any, ...]] = []
        polls, left = 0, self.reqs.qsize()
        # Polls, not the clock: a process that is stopped for a while is not stuck.
        while polls * POLL_SECS < STUCK_SECS:
            alive = self.is_alive()
            try:
                row = answers.get(timeout=POLL_SECS)
            except Empty:
                self.check_raise_error()
                if not alive:
                    raise StoreError(
                        f"{self._path}: its writer thread died; check the file and the disk"
                    ) from None
                before, left = left, self.reqs.qsize()
                polls = polls + 1 if left == before else 0
                continue
            if not isinstance(row, tuple):  # sqlitedict's end mark
                self.check_raise_error()
                return iter(rows)
            rows.append(row)
            polls = 0
        raise StoreError(
            f"{self._path}: no answer for {STUCK_SECS:g} s; another process may hold it, or the "
            "disk hangs: end that, and run again"
        )

    def drop_queued(self) -> None:
        """Let what is queued do nothing."""
        if self._guard is not None and self._guard.refusal is None:
            self._guard.refusal = sqlite3.ProgrammingError("the store is closed")


class OwnedDict(SqliteDict):  # type: ignore[misc] # sqlitedict has no types
    """A SqliteDict on that thread. It belongs to the process that opened it."""

    def __init__(self, path: Path) -> None:
        self._pid = os.getpid()
        try:
            super().__init__(
                str(path),
                tablename="records",
                autocommit=False,
                journal_mode="WAL",
                encode=encode,
                decode=json.loads,
                outer_stack=False,
            )
        except BaseException:
            self.close(do_log=False, force=True)
            raise

    def _new_conn(self) -> BoundedThread:
        return BoundedThread(Path(self.filename))

    def close(self, do_log: bool = True, force: bool = False) -> None:
        """Tell the thread to end; a forked process has none, and its queue may be locked."""
        if os.getpid() == self._pid:
            super().close(do_log, force)
