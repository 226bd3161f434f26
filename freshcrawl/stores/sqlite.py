"""Records in one SQLite table, written through sqlitedict as JSON."""

from __future__ import annotations

import json
from contextlib import closing
from threading import RLock
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.bounded_sqlitedict import BoundedSqliteDict, checked_name
from freshcrawl.stores.sqlitefile import (
    connect_checked,
    connect_writer,
    keeps_writers_out,
    layout_version,
    reported,
    use_wal,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SCHEMA_VERSION = 1

VERSION_QUERY = "SELECT json_extract(value, '$.version') FROM records WHERE key = 'meta:schema'"
_GET = "SELECT value FROM records WHERE key = ?"
_RANGE = "SELECT key, value FROM records WHERE key >= ? AND key < ? ORDER BY key"
_PAGE = f"{_RANGE} LIMIT 500"
_AFTER_ALL = "\U0010ffff"


def _create(path: Path) -> None:
    """Check the file, or make the table and its version row in one transaction."""
    with closing(connect_writer(path)) as conn:
        version = layout_version(conn, path, VERSION_QUERY, SCHEMA_VERSION)
        use_wal(conn)
        if version:
            return
        conn.execute("BEGIN IMMEDIATE")
        # As sqlitedict would make it; with all in place it only reads when it opens.
        conn.execute("CREATE TABLE records (key TEXT PRIMARY KEY, value BLOB)")
        row = ("meta:schema", json.dumps({"version": SCHEMA_VERSION}))
        conn.execute("INSERT INTO records VALUES (?, ?)", row)
        conn.execute("COMMIT")


class SqliteRecordStore:
    """RecordStore in the file ``path``; any thread may call it.

    With ``read_only`` nothing is created, a missing file reads as an empty
    store, and a writer is neither waited for nor held up.

    Raises:
        StoreError: the file is damaged, newer than this version, or cannot be opened.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._path = path
        self._lock = RLock()
        self._closed = False
        self._reader: sqlite3.Connection | None = None
        self._writer: BoundedSqliteDict | None = None
        with reported(path):
            if read_only:
                self._open_reader()
            else:
                _create(path)
                self._writer = BoundedSqliteDict(path)

    @property
    def keeps_writers_out(self) -> bool:
        """Whether a writer has to wait until this is closed: it reads where nothing is shared."""
        return keeps_writers_out(self._reader)

    def get(self, name: str) -> dict[str, Any] | None:
        """Return the object, or None."""
        checked_name(self._path, name)
        with self._lock, reported(self._path):
            if self._writer:
                rows = self._writer.select(_GET, (name,))
            else:
                conn = self._open_reader()
                rows = conn.execute(_GET, (name,)).fetchall() if conn else []
        return _object(self._path, name, rows[0][0]) if rows else None

    def items(self, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield ``(name, object)`` of names that start with ``prefix``, sorted by name."""
        rows = self._writer_rows(prefix) if self._writer else self._reader_rows(prefix)
        for name, value in rows:
            yield name, _object(self._path, name, value)

    def put(self, name: str, value: Mapping[str, Any]) -> None:
        """Set an object; seen by ``get`` at once, durable after ``commit``."""
        with self._lock, reported(self._path):
            self._writing().put(name, value)

    def delete(self, name: str) -> None:
        """Remove a name; nothing happens if it is not there."""
        with self._lock, reported(self._path):
            self._writing().delete(name)

    def commit(self) -> None:
        """Make all that was put and deleted durable, in one transaction."""
        with self._lock, reported(self._path):
            self._writing().commit()

    def close(self) -> None:
        """Drop what is not committed and release the store."""
        with self._lock:
            if self._writer:
                self._writer.close()
            if self._reader:
                self._reader.close()
            self._writer = self._reader = None
            self._closed = True

    def _writing(self) -> BoundedSqliteDict:
        if self._writer is None:
            state = "closed" if self._closed else "opened for reading only"
            raise StoreError(f"{self._path}: the store is {state}")
        return self._writer

    def _open_reader(self) -> sqlite3.Connection | None:
        """Return the reader's connection; None while there is no file with tables."""
        if self._closed:
            raise StoreError(f"{self._path}: the store is closed")
        if self._reader is None and self._path.exists():
            self._reader = connect_checked(self._path, VERSION_QUERY, SCHEMA_VERSION)
        return self._reader

    def _reader_rows(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Yield the rows as one read transaction sees them."""
        with reported(self._path):
            with self._lock:
                conn = self._open_reader()
            if conn:
                yield from conn.execute(_RANGE, (prefix, prefix + _AFTER_ALL))

    def _writer_rows(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Yield the rows a page at a time, so that large records never all sit in memory."""
        start = prefix
        while page := self._page(start, prefix + _AFTER_ALL):
            yield from page
            start = page[-1][0] + "\0"

    def _page(self, start: str, end: str) -> list[Any]:
        with self._lock, reported(self._path):
            return self._writing().select(_PAGE, (start, end))


def json_object(text: Any) -> dict[str, Any] | None:
    """Return the JSON object of a row's value, None if it is none."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _object(path: Path, name: str, text: Any) -> dict[str, Any]:
    """Return the JSON object of a row.

    Raises:
        StoreError: it is none.
    """
    found = json_object(text)
    if found is None:
        raise StoreError(
            f"{path}: the row {name!r} is no JSON object; the file is damaged: scrapy verify says "
            "what can be repaired"
        )
    return found
