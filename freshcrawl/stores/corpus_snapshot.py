"""Reading one whole generation of the SQLite corpus, the current or an older one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.stores.corpus_history import (
    kept_generations,
    last_rollback,
    not_kept,
    read_marks,
    versions_of,
)
from freshcrawl.stores.corpus_tables import (
    CHUNK_FIELDS,
    PAGE_FIELDS,
    current_generation,
    read_chunk,
    read_page,
    select_in,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from freshcrawl.core.forgetting import Forgotten
    from freshcrawl.core.published import Chunk, Published
    from freshcrawl.core.rollback import Rollback
    from freshcrawl.core.versions import Version

_INFO = ("published_at", "run_id", "model", "dimension", "pages", "chunks")
_NO_INFO = (0.0, "", "", 0, 0, 0)
_OLD, _NEW = (", ".join(f"{table}.{name}" for name in PAGE_FIELDS) for table in ("old", "new"))
_CHANGED = (
    "WITH touched AS (SELECT key FROM published WHERE from_gen > :since"
    " UNION SELECT key FROM published WHERE to_gen > :since)"
    f" SELECT {_OLD}, {_NEW} FROM touched"
    " LEFT JOIN published AS old ON old.key = touched.key AND old.from_gen <= :since"
    " AND (old.to_gen IS NULL OR old.to_gen > :since)"
    " LEFT JOIN published AS new ON new.key = touched.key AND new.to_gen IS NULL"
    " ORDER BY touched.key"
)
_IN_GENERATION = "from_gen <= {0} AND (to_gen IS NULL OR to_gen > {0})"


class SqliteSnapshot:
    """Snapshot over a connection with an open transaction, of the current or an older generation.

    ``owned``: the connection is this snapshot's own, and closed with it.

    Raises:
        StoreError: the generation is not kept.
    """

    def __init__(
        self, conn: sqlite3.Connection, *, owned: bool, generation: int | None = None
    ) -> None:
        self._conn = conn
        self._owned = owned
        self._generation = current_generation(conn)  # the read that fixes what is seen
        self._pages, self._chunks = "open_pages", "open_chunks"
        if generation is not None and generation != self._generation:
            self._go_back(generation)

    def _go_back(self, generation: int) -> None:
        kept = self.generations()
        if generation not in kept:
            if self._owned:
                self._conn.close()
            raise not_kept(generation, kept)
        of = _IN_GENERATION.format(int(generation))
        self._generation = generation
        self._pages = f"(SELECT {', '.join(PAGE_FIELDS)} FROM published WHERE {of})"
        self._chunks = f"(SELECT {', '.join(CHUNK_FIELDS)} FROM chunks WHERE {of})"

    @property
    def generation(self) -> int:
        """Number of the generation; 0 before the first publish."""
        return self._generation

    def info(self, generation: int | None = None) -> dict[str, Any]:
        """Return ``published_at, run_id, model, dimension, pages, chunks`` of it, or of another."""
        query = (
            "SELECT published_at, run_id, model, dimension, pages, chunks"
            " FROM generations WHERE generation = ?"
        )
        number = self._generation if generation is None else generation
        row = self._conn.execute(query, (number,)).fetchone()
        return dict(zip(_INFO, row or _NO_INFO, strict=True))

    def pages(self) -> Iterator[Published]:
        """Yield the rows of all statuses, by key."""
        for row in self._conn.execute(f"SELECT * FROM {self._pages} ORDER BY key"):
            yield read_page(row)

    def page(self, key: str) -> Published | None:
        """Return one row."""
        query = f"SELECT * FROM {self._pages} WHERE key = ?"
        row = self._conn.execute(query, (key,)).fetchone()
        return read_page(row) if row else None

    def chunks(self, key: str | None = None) -> Iterator[Chunk]:
        """Yield live chunks by (key, ordinal); ``embed_text`` is not stored."""
        query = f"SELECT * FROM {self._chunks}"
        if key is None:
            rows = self._conn.execute(f"{query} ORDER BY key, ordinal")
        else:
            rows = self._conn.execute(f"{query} WHERE key = ? ORDER BY ordinal", (key,))
        for row in rows:
            yield read_chunk(row)

    def chunks_by_id(self, ids: Sequence[int]) -> dict[int, Chunk]:
        """Return the live chunks among ``ids``."""
        rows = select_in(self._conn, f"SELECT * FROM {self._chunks} WHERE id IN", (), ids)
        return {row[0]: read_chunk(row) for row in rows}

    def vectors(self) -> Iterator[tuple[int, Any]]:
        """Yield ``(chunk id, float32 vector)`` of live chunks, by id."""
        import numpy as np

        query = (
            f"SELECT id, vector FROM {self._chunks} JOIN vectors USING (embed_digest)"
            " WHERE model = ? ORDER BY id"
        )
        for chunk_id, vector in self._conn.execute(query, (self.info()["model"],)):
            yield chunk_id, np.frombuffer(vector, dtype="<f4")

    def published_at(self, generation: int) -> float:
        """Return when a generation was published (epoch seconds), 0 if unknown."""
        query = "SELECT published_at FROM generations WHERE generation = ?"
        row = self._conn.execute(query, (generation,)).fetchone()
        return float(row[0]) if row else 0.0

    def generations(self) -> list[int]:
        """Return the numbers of the generations that are kept whole, ascending."""
        return kept_generations(self._conn)

    def versions(self, key: str) -> list[Version]:
        """Return the kept versions of a page, newest first, whatever the generation."""
        return versions_of(self._conn, key)

    def changed_since(self, generation: int) -> Iterator[tuple[Published | None, Published | None]]:
        """Yield the row that a page had in a generation and the one it has now, by key.

        Of the pages with another row since; None for no row.
        """
        width = len(PAGE_FIELDS)
        for row in self._conn.execute(_CHANGED, {"since": generation}):
            old, new = row[:width], row[width:]
            yield read_page(old) if old[0] else None, read_page(new) if new[0] else None

    def rollback(self) -> Rollback | None:
        """Return the last rollback, released or not."""
        return last_rollback(self._conn)

    def forgotten(self) -> Forgotten:
        """Return the marks of the pages that were purged for good."""
        return read_marks(self._conn)

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """Yield ``(key, URL, digest)`` of every kept version of a page, each once, by key."""
        query = "SELECT DISTINCT key, url, digest FROM published ORDER BY key, url, digest"
        yield from self._conn.execute(query)

    def close(self) -> None:
        """Release the snapshot."""
        if self._owned:
            self._conn.close()
