"""Looking at SQLite files whole: damage in one, and every row of ``records.sqlite``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.sqlite import SCHEMA_VERSION, VERSION_QUERY, json_object
from freshcrawl.stores.sqlitefile import connect_checked, connect_reader, reported, store_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def database_damage(path: Path) -> str:
    """Return what SQLite finds wrong with an existing file, ``""`` for nothing.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        with closing(connect_reader(path)) as conn:
            found = str(conn.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
            raise store_error(path, error) from error
        found = str(error)
    return "" if found == "ok" else " ".join(found.split())


class RecordsAudit:
    """The rows of ``records.sqlite`` as one read transaction sees them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._conns: list[sqlite3.Connection] = []
        try:
            with reported(path):
                # A connection that has no transaction sees when another process commits.
                watch, conn = self._connect(), self._connect()
                self._watch, self._conn = watch, conn
                self._version = self._data_version()
                conn.execute("BEGIN")
                conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except BaseException:
            self.close()
            raise

    def moved(self) -> bool:
        """Tell whether another connection has committed since this was opened."""
        with reported(self._path):
            return self._version != self._data_version()

    def rows(self) -> Iterator[tuple[str, dict[str, Any] | None]]:
        """Yield ``(name, object)`` by name; None for a value that is no JSON object."""
        with reported(self._path):
            for name, value in self._conn.execute("SELECT key, value FROM records ORDER BY key"):
                yield str(name), json_object(value)

    def close(self) -> None:
        """Release the file."""
        for conn in self._conns:
            conn.close()

    def _connect(self) -> sqlite3.Connection:
        conn = connect_checked(self._path, VERSION_QUERY, SCHEMA_VERSION)
        if conn is None:  # a first crawl is just making it
            conn = sqlite3.connect(":memory:", isolation_level=None)
            conn.execute("CREATE TABLE records (key TEXT PRIMARY KEY, value BLOB)")
        self._conns.append(conn)
        return conn

    def _data_version(self) -> int:
        return int(self._watch.execute("PRAGMA data_version").fetchone()[0])
