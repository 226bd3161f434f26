"""Purging pages from every generation of ``corpus.sqlite``, and the marks that keep them out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from freshcrawl.core.pages import Status
from freshcrawl.stores.corpus_history import (
    FORGOTTEN_GENERATION,
    FORGOTTEN_KEY,
    FORGOTTEN_PATTERN,
)
from freshcrawl.stores.corpus_publish import Publication
from freshcrawl.stores.corpus_snapshot import SqliteSnapshot

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable

    from freshcrawl.core.forgetting import Forgotten
    from freshcrawl.stores.base import Snapshot
    from freshcrawl.stores.corpus import SqliteCorpus

_PUT = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
_IN = "from_gen <= generation AND (to_gen IS NULL OR to_gen > generation)"
_PURGED = "key IN (SELECT key FROM temp.purged)"
_UNCOUNT = (
    "UPDATE generations SET"
    f" pages = pages - (SELECT count(*) FROM published WHERE {_PURGED} AND status = ? AND {_IN}),"
    f" chunks = chunks - (SELECT count(*) FROM chunks WHERE {_PURGED} AND {_IN}) WHERE kept"
)
_ORPHANS = (
    "DELETE FROM content"
    " WHERE NOT EXISTS (SELECT 1 FROM published WHERE published.content = content.digest)",
    "DELETE FROM vectors"
    " WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.embed_digest = vectors.embed_digest)"
    " AND embed_digest NOT IN (SELECT digest FROM temp.waiting)",
)


class CorpusForgetting:
    """Purges ``corpus`` through its own writer: each call is one transaction."""

    def __init__(self, corpus: SqliteCorpus) -> None:
        self._corpus = corpus

    def purge(
        self,
        marks: Forgotten,
        *,
        waiting: Iterable[str],
        run_id: str,
        published_at: float,
        build: Callable[[Snapshot], None],
    ) -> int:
        """Delete all rows of the marked pages, note the marks, and publish what is left.

        With them go content and vectors that nothing has any more, whatever page they were of,
        but for the vectors of the embed digests ``waiting``. ``build`` is called inside the
        transaction as by a publish. Returns the current generation: a new one, unless nothing
        was published of the pages.
        """
        with self._corpus.editing() as conn:
            _list(conn, "purged", "key", marks.keys)
            _list(conn, "waiting", "digest", waiting)
            conn.execute(_UNCOUNT, (Status.LIVE,))
            deleted = [
                conn.execute(f"DELETE FROM {table} WHERE {_PURGED}").rowcount
                for table in ("published", "chunks")
            ]
            for statement in _ORPHANS:
                conn.execute(statement)
            _put(conn, marks)
            query = "SELECT generation, model, dimension FROM generations ORDER BY generation DESC"
            current = conn.execute(query).fetchone()
            if current is None or not any(deleted):
                return int(current[0]) if current else 0
            publication = Publication(conn, current[1], current[2], published_at)
            publication.apply([], run_id, always=True)
            conn.execute(_PUT, (FORGOTTEN_GENERATION, json.dumps(publication.number)))
            build(SqliteSnapshot(conn, owned=False))
            return publication.number

    def let_in(self, keys: Collection[str], patterns: Collection[str]) -> None:
        """Drop marks."""
        names = [FORGOTTEN_KEY + key for key in keys] + [
            FORGOTTEN_PATTERN + pattern for pattern in patterns
        ]
        with self._corpus.editing() as conn:
            conn.executemany("DELETE FROM meta WHERE name = ?", [(name,) for name in names])


def _put(conn: sqlite3.Connection, marks: Forgotten) -> None:
    rows = [(FORGOTTEN_KEY + key, json.dumps(mark)) for key, mark in marks.keys.items()]
    rows += [
        (FORGOTTEN_PATTERN + pattern, json.dumps(at)) for pattern, at in marks.patterns.items()
    ]
    conn.executemany(_PUT, rows)


def _list(conn: sqlite3.Connection, table: str, column: str, values: Iterable[str]) -> None:
    """Put values into a temporary table of their own."""
    conn.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} ({column} TEXT PRIMARY KEY)")
    conn.execute(f"DELETE FROM temp.{table}")
    conn.executemany(f"INSERT OR IGNORE INTO temp.{table} VALUES (?)", [(v,) for v in values])
