"""Every row of every table of a SQLite file, whatever its layout: for looking what is left."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.sqlitefile import connect_reader, reported

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def all_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(table, row)`` of all tables; a row is its values by column.

    Raises:
        StoreError: the file cannot be read.
    """
    with reported(path), closing(connect_reader(path)) as conn:
        for (table,) in conn.execute(_TABLES).fetchall():
            # A name that SQLite itself gave.
            cursor = conn.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            columns = [column[0] for column in cursor.description]
            for values in cursor:
                yield table, dict(zip(columns, values, strict=True))
