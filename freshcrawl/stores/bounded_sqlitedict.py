"""sqlitedict, with an end to every wait."""

from __future__ import annotations

import json
import logging
import sqlite3
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.sqlitefile import LOG_BYTES, store_error

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_POLL_SECS = 0.5
_CLOSE_SECS = 30.0


def encode(value: Mapping[str, Any]) -> str:
    """Return the JSON text of a record."""
    return json.dumps(value, separators=(",", ":"))


class BoundedSqliteDict:
    """A SqliteDict whose thread may die without its callers waiting for ever.

    sqlitedict's own ``select`` and ``commit`` wait without a limit for an
    answer that a dead thread never gives, and a COMMIT that is queued behind a
    failed write still commits the other writes. Here a failure is final.
    """

    def __init__(self, path: Path) -> None:
        from sqlitedict import SqliteDict

        # Its many error lines say less than the StoreError that is raised.
        logging.getLogger("sqlitedict").setLevel(logging.CRITICAL)
        self._path = path
        self._failure: StoreError | None = None
        self._dirty = False
        self._dict = SqliteDict(
            str(path),
            tablename="records",
            autocommit=False,
            journal_mode="WAL",
            encode=encode,
            decode=json.loads,
            outer_stack=False,
        )
        self.select("PRAGMA synchronous=FULL")  # sqlitedict turns it off
        self.select(f"PRAGMA journal_size_limit={LOG_BYTES}")
        self.select("PRAGMA secure_delete=ON")  # no deleted text in free pages

    def put(self, name: str, value: Mapping[str, Any]) -> None:
        """Queue a write; its failure surfaces at a later call, ``commit`` at the latest."""
        self._raise_failure()
        self._dict[name] = value
        self._dirty = True

    def delete(self, name: str) -> None:
        """Queue a deletion."""
        self._send("DELETE FROM records WHERE key = ?", (name,))
        self._dirty = True

    def select(self, sql: str, args: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement, after everything queued before it."""
        answers: Queue[Any] = Queue()
        self._send(sql, args, answers)
        rows = []
        while isinstance(row := self._answer(answers), tuple):
            rows.append(row)
        self._raise_failure()
        return rows

    def commit(self) -> None:
        """Commit, unless one of the writes before failed."""
        if not self._dirty:
            return
        self.select("SELECT 1")
        self.select("COMMIT")
        self._dirty = False

    def close(self) -> None:
        """End the thread; SQLite rolls back what was not committed."""
        thread = self._dict.conn
        self._dict.close(do_log=False, force=True)
        thread.join(_CLOSE_SECS)

    def _send(self, sql: str, args: tuple[Any, ...], answers: Queue[Any] | None = None) -> None:
        self._raise_failure()
        self._dict.conn.execute(sql, args, answers)

    def _answer(self, answers: Queue[Any]) -> Any:
        """Return the next row, or sqlitedict's end mark (a str)."""
        while True:
            alive = self._dict.conn.is_alive()
            try:
                return answers.get(timeout=_POLL_SECS)
            except Empty:
                if not alive:
                    self._failure = self._failure or StoreError(
                        f"{self._path}: its writer thread died; check the file and the disk"
                    )
                    self._raise_failure()

    def _raise_failure(self) -> None:
        try:
            self._dict.conn.check_raise_error()
        except sqlite3.Error as error:
            self._failure = self._failure or store_error(self._path, error)
        if self._failure:
            raise self._failure
