"""Dropping from the SQLite corpus what is past its retention, a bounded piece at a time.

What was looked at is noted in ``meta``, so that a call looks only at pages that have a new
version since. Each function works inside the caller's transaction.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from freshcrawl.core.versions import Retention

BATCH = 2_000
"""Rows that one transaction drops, of each kind."""

_LOOKED = "retained"
"""Name of the note in ``meta``: oldest kept generation, and versions kept, of the last call."""
_TOO_MANY = (
    "SELECT rowid, content FROM (SELECT rowid, content, to_gen,"
    " row_number() OVER (PARTITION BY key ORDER BY from_gen DESC) AS place"
    " FROM published WHERE key IN (SELECT key FROM published WHERE to_gen > ?))"
    " WHERE place > ? AND to_gen <= ? LIMIT ?"
)
_TOO_OLD = (
    "SELECT rowid, content FROM published WHERE to_gen <= ifnull("
    "(SELECT max(generation) FROM generations WHERE generation <= ? AND published_at < ?), 0)"
    " LIMIT ?"
)


def leave_generations(conn: sqlite3.Connection, generations: int) -> list[int]:
    """Mark all but the newest ``generations`` as not kept; return those that are, ascending."""
    newest = "SELECT generation FROM generations WHERE kept ORDER BY generation DESC LIMIT ?"
    kept = sorted(number for (number,) in conn.execute(newest, (max(1, generations),)))
    if kept:
        # Pages of an older generation that still stand are dated by its row.
        conn.execute("UPDATE generations SET kept = 0 WHERE generation < ? AND kept", (kept[0],))
    return kept


def drop_some(conn: sqlite3.Connection, oldest: int, retention: Retention) -> bool:
    """Drop some of what no generation from ``oldest`` on needs; True if there may be more."""
    chunks = "SELECT rowid FROM chunks WHERE to_gen <= ? LIMIT ?"
    full = _delete(conn, "chunks", chunks, (oldest, BATCH))
    full = _drop_versions(conn, oldest, retention) or full
    vectors = (
        "SELECT rowid FROM vectors WHERE used_at < ? AND NOT ("
        " model IN (SELECT model FROM generations WHERE kept)"
        " AND EXISTS (SELECT 1 FROM chunks WHERE chunks.embed_digest = vectors.embed_digest))"
        " LIMIT ?"
    )
    full = _delete(conn, "vectors", vectors, (retention.unused_since, BATCH)) or full
    if not full:
        conn.execute(
            "DELETE FROM generations WHERE NOT kept"
            " AND NOT EXISTS (SELECT 1 FROM published WHERE from_gen = generation)"
            " AND NOT EXISTS (SELECT 1 FROM published WHERE to_gen = generation)"
        )
    return full


def _delete(conn: sqlite3.Connection, table: str, query: str, args: tuple[Any, ...]) -> bool:
    """Delete the rows that a query finds; True if it found as many as it may."""
    return conn.execute(f"DELETE FROM {table} WHERE rowid IN ({query})", args).rowcount >= BATCH


def _drop_versions(conn: sqlite3.Connection, oldest: int, retention: Retention) -> bool:
    looked_to = _looked_to(conn, retention.versions)
    many = conn.execute(_TOO_MANY, (looked_to, retention.versions, oldest, BATCH)).fetchall()
    old = conn.execute(_TOO_OLD, (oldest, retention.left_since, BATCH)).fetchall()
    _delete_versions(conn, many + old)
    full = max(len(many), len(old)) >= BATCH
    anything = "SELECT 1 FROM published WHERE to_gen IS NOT NULL LIMIT 1"
    if not full and looked_to != oldest and conn.execute(anything).fetchone():
        row = (_LOOKED, json.dumps([oldest, retention.versions]))
        conn.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)
    return full


def _looked_to(conn: sqlite3.Connection, versions: int) -> int:
    """Return the oldest generation that was kept when all pages had at most ``versions``."""
    row = conn.execute("SELECT value FROM meta WHERE name = ?", (_LOOKED,)).fetchone()
    oldest, kept = json.loads(row[0]) if row else (0, versions)
    return int(oldest) if kept <= versions else 0


def _delete_versions(conn: sqlite3.Connection, rows: Sequence[tuple[int, str]]) -> None:
    conn.executemany("DELETE FROM published WHERE rowid = ?", [(row[0],) for row in rows])
    conn.executemany(
        "DELETE FROM content WHERE digest = ?1 AND published"
        " AND NOT EXISTS (SELECT 1 FROM published WHERE content = ?1)",
        {(content,) for _, content in rows if content},
    )
