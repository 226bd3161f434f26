"""A connection whose errors name the file and say what to do, also while rows are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.stores.sqlitefile import reported

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class ToldRows:
    """The rows of a statement."""

    def __init__(self, cursor: sqlite3.Cursor, path: Path) -> None:
        self._cursor = cursor
        self._path = path

    def __iter__(self) -> Iterator[Any]:
        with reported(self._path):
            yield from self._cursor

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        with reported(self._path):
            return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        with reported(self._path):
            return self._cursor.fetchall()


class ToldConnection:
    """What reading needs of a connection.

    Raises:
        StoreError: SQLite cannot read.
    """

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        self._conn = conn
        self._path = path

    def execute(self, sql: str, args: Sequence[Any] = ()) -> ToldRows:
        """Execute a statement."""
        with reported(self._path):
            return ToldRows(self._conn.execute(sql, args), self._path)

    def close(self) -> None:
        """Close the connection."""
        self._conn.close()
