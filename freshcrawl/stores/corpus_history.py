"""What the SQLite corpus knows beside its rows: kept generations, versions, rollback, marks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from freshcrawl.core.forgetting import Forgotten, Mark
from freshcrawl.core.rollback import Rollback
from freshcrawl.core.versions import Version
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus_tables import PAGE_FIELDS, read_page

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

FORGOTTEN_KEY, FORGOTTEN_PATTERN = "forgotten:key:", "forgotten:pattern:"
FORGOTTEN_GENERATION = "forgotten:generation"
_MARKS = "SELECT name, value FROM meta WHERE name >= 'forgotten:' AND name < 'forgotten;'"
_VERSIONS = (
    f"SELECT {', '.join(f'p.{name}' for name in PAGE_FIELDS)}, p.to_gen,"
    " ifnull(entered.published_at, 0.0), ifnull(closed.published_at, 0.0) FROM published AS p"
    " LEFT JOIN generations AS entered ON entered.generation = p.from_gen"
    " LEFT JOIN generations AS closed ON closed.generation = p.to_gen"
    " WHERE p.key = ? ORDER BY p.from_gen DESC"
)


def kept_generations(conn: sqlite3.Connection) -> list[int]:
    """Return the numbers of the generations that are kept whole, ascending."""
    query = "SELECT generation FROM generations WHERE kept ORDER BY generation"
    return [number for (number,) in conn.execute(query)]


def distrust_closed_in(conn: sqlite3.Connection, generation: int) -> None:
    """Keep no generation that has chunks which ``generation`` closed."""
    conn.execute(
        "UPDATE generations SET kept = 0 WHERE generation < ?"
        " AND generation >= (SELECT min(from_gen) FROM chunks WHERE to_gen = ?)",
        (generation, generation),
    )


def not_kept(generation: int, kept: Sequence[int]) -> StoreError:
    """Return the error for a generation that is not kept."""
    known = ", ".join(map(str, kept)) or "none"
    return StoreError(f"generation {generation} is not kept; kept: {known}")


def versions_of(conn: sqlite3.Connection, key: str) -> list[Version]:
    """Return the kept versions of a page, newest first."""
    return [
        Version(read_page(row), to_gen, published_at, left_at)
        for *row, to_gen, published_at, left_at in conn.execute(_VERSIONS, (key,))
    ]


def note_rollback(conn: sqlite3.Connection, rollback: Rollback) -> None:
    """Keep the last rollback, inside the caller's transaction."""
    row = json.dumps(rollback.to_json())
    conn.execute("INSERT OR REPLACE INTO meta VALUES ('rollback', ?)", (row,))


def last_rollback(conn: sqlite3.Connection) -> Rollback | None:
    """Return the last rollback, released or not."""
    row = conn.execute("SELECT value FROM meta WHERE name = 'rollback'").fetchone()
    return Rollback.from_json(json.loads(row[0])) if row else None


def read_marks(conn: sqlite3.Connection) -> Forgotten:
    """Return the marks of the pages that were purged for good."""
    marks = Forgotten()
    for name, value in conn.execute(_MARKS):
        found = json.loads(value)
        if name.startswith(FORGOTTEN_KEY):
            marks.keys[name.removeprefix(FORGOTTEN_KEY)] = Mark(*found)
        elif name.startswith(FORGOTTEN_PATTERN):
            marks.patterns[name.removeprefix(FORGOTTEN_PATTERN)] = found
        else:
            marks.generation = found
    return marks
