"""Every row of ``corpus.sqlite``, also those that no generation has."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from freshcrawl.core.pages import Status
from freshcrawl.stores.corpus_snapshot import SqliteSnapshot
from freshcrawl.stores.corpus_tables import connect_existing, create_tables
from freshcrawl.stores.sqlitefile import reported

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GENERATIONS = (
    "SELECT generation, run_id, model, dimension, pages, chunks FROM generations"
    " WHERE kept ORDER BY generation"
)
_NEWEST = (
    "SELECT max(gen) FROM (SELECT max(from_gen) gen FROM published"
    " UNION ALL SELECT max(to_gen) FROM published"
    " UNION ALL SELECT max(from_gen) FROM chunks UNION ALL SELECT max(to_gen) FROM chunks)"
)
_VECTORS = (
    "SELECT id, key, chunks.embed_digest, vector FROM chunks"
    " LEFT JOIN vectors ON vectors.embed_digest = chunks.embed_digest AND model = ?"
    " WHERE from_gen <= ? AND (to_gen IS NULL OR to_gen > ?) ORDER BY id"
)
_STRAYS = (
    "SELECT key, count(*) FROM open_chunks"
    " WHERE key NOT IN (SELECT key FROM open_pages WHERE status = ?) GROUP BY key ORDER BY key"
)


class GenerationRow(NamedTuple):
    """A row of ``generations``."""

    number: int
    run_id: str
    model: str
    dimension: int
    pages: int
    chunks: int


class CorpusAudit:
    """What one read transaction sees of the file ``path``; a missing one is empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with reported(path):
            conn = connect_existing(self._path)
            if conn is None:
                conn = sqlite3.connect(":memory:", isolation_level=None)
                create_tables(conn)
            self._conn = conn
            try:
                conn.execute("BEGIN")
                self.snapshot = SqliteSnapshot(conn, owned=True)
            except BaseException:
                conn.close()
                raise

    def close(self) -> None:
        """Release the file."""
        self._conn.close()

    def generations(self) -> list[GenerationRow]:
        """Return the kept generations, ascending."""
        return [GenerationRow(*row) for row in self._rows(_GENERATIONS)]

    def kept_now(self) -> set[int]:
        """Return the generations that are kept by now, whatever was so when this was opened."""
        with reported(self._path):
            conn = connect_existing(self._path)
            if conn is None:
                return set()
            with closing(conn):
                rows = conn.execute("SELECT generation FROM generations WHERE kept").fetchall()
        return {number for (number,) in rows}

    def newest_row(self) -> int:
        """Return the highest generation that a row of a page or chunk names, 0 for none."""
        return int(self._rows(_NEWEST)[0][0] or 0)

    def counts(self) -> tuple[int, int]:
        """Return how many live pages and how many chunks the current generation has in rows."""
        query = "SELECT count(*) FROM open_pages WHERE status = ?"
        [(pages,)] = self._rows(query, Status.LIVE)
        [(chunks,)] = self._rows("SELECT count(*) FROM open_chunks")
        return int(pages), int(chunks)

    def chunk_rows(self, key: str) -> dict[int, tuple[Any, ...]]:
        """Return the open rows (CHUNK_FIELDS) of a page by id, as they are stored."""
        return {row[0]: row for row in self._rows("SELECT * FROM open_chunks WHERE key = ?", key)}

    def strays(self) -> list[tuple[str, int]]:
        """Return the keys of open chunks that are of no live page, and how many these are."""
        return self._rows(_STRAYS, Status.LIVE)

    def vectors_at(self, generation: int, model: str) -> Iterator[tuple[int, str, str, bytes]]:
        """Yield ``(chunk id, key, embed digest, bytes)`` of a generation, by id.

        The bytes are empty where no vector of the model is kept.
        """
        with reported(self._path):
            rows = self._conn.execute(_VECTORS, (model, generation, generation))
            for number, key, digest, vector in rows:
                yield number, key, digest, vector or b""

    def all_vectors(self, model: str) -> Iterator[tuple[str, bytes]]:
        """Yield ``(embed digest, bytes)`` of all vectors of a model."""
        with reported(self._path):
            query = "SELECT embed_digest, vector FROM vectors WHERE model = ?"
            yield from self._conn.execute(query, (model,))

    def used_digests(self) -> set[str]:
        """Return the embed digests of the current generation's chunks."""
        return {row[0] for row in self._rows("SELECT DISTINCT embed_digest FROM open_chunks")}

    def content(self, digest: str) -> bytes | None:
        """Return kept content as it is stored, None if there is none."""
        found = self._rows("SELECT data FROM content WHERE digest = ?", digest)
        return found[0][0] if found else None

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Yield ``(digest, stored bytes)`` of all content."""
        with reported(self._path):
            yield from self._conn.execute("SELECT digest, data FROM content ORDER BY digest")

    def _rows(self, query: str, *args: Any) -> list[tuple[Any, ...]]:
        with reported(self._path):
            return self._conn.execute(query, args).fetchall()
