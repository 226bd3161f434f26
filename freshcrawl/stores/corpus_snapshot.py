"""Reading one whole generation of the SQLite corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.stores.corpus_tables import (
    current_generation,
    read_chunk,
    read_page,
    select_in,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from freshcrawl.core.published import Chunk, Published

_INFO = ("published_at", "run_id", "model", "dimension", "pages", "chunks")
_NO_INFO = (0.0, "", "", 0, 0, 0)
_CHUNKS = "SELECT * FROM open_chunks ORDER BY key, ordinal"
_CHUNKS_OF_PAGE = "SELECT * FROM open_chunks WHERE key = ? ORDER BY ordinal"
_CHUNKS_BY_ID = "SELECT * FROM open_chunks WHERE id IN"
_VECTORS = (
    "SELECT id, vector FROM open_chunks JOIN vectors USING (embed_digest)"
    " WHERE model = ? ORDER BY id"
)


class SqliteSnapshot:
    """Snapshot over a connection with an open transaction.

    ``owned``: the connection is this snapshot's own, and closed with it.
    """

    def __init__(self, conn: sqlite3.Connection, *, owned: bool) -> None:
        self._conn = conn
        self._owned = owned
        self._generation = current_generation(conn)  # the read that fixes what is seen

    @property
    def generation(self) -> int:
        """Number of the generation; 0 before the first publish."""
        return self._generation

    def info(self) -> dict[str, Any]:
        """Return ``published_at, run_id, model, dimension, pages, chunks`` of it."""
        query = (
            "SELECT published_at, run_id, model, dimension, pages, chunks"
            " FROM generations WHERE generation = ?"
        )
        row = self._conn.execute(query, (self._generation,)).fetchone()
        return dict(zip(_INFO, row or _NO_INFO, strict=True))

    def pages(self) -> Iterator[Published]:
        """Yield the rows of all statuses, by key."""
        for row in self._conn.execute("SELECT * FROM open_pages ORDER BY key"):
            yield read_page(row)

    def page(self, key: str) -> Published | None:
        """Return one row."""
        row = self._conn.execute("SELECT * FROM open_pages WHERE key = ?", (key,)).fetchone()
        return read_page(row) if row else None

    def chunks(self, key: str | None = None) -> Iterator[Chunk]:
        """Yield live chunks by (key, ordinal); ``embed_text`` is not stored."""
        conn = self._conn
        rows = conn.execute(_CHUNKS) if key is None else conn.execute(_CHUNKS_OF_PAGE, (key,))
        for row in rows:
            yield read_chunk(row)

    def chunks_by_id(self, ids: Sequence[int]) -> dict[int, Chunk]:
        """Return the live chunks among ``ids``."""
        rows = select_in(self._conn, _CHUNKS_BY_ID, (), ids)
        return {row[0]: read_chunk(row) for row in rows}

    def vectors(self) -> Iterator[tuple[int, Any]]:
        """Yield ``(chunk id, float32 vector)`` of live chunks, by id."""
        import numpy as np

        for chunk_id, vector in self._conn.execute(_VECTORS, (self.info()["model"],)):
            yield chunk_id, np.frombuffer(vector, dtype="<f4")

    def published_at(self, generation: int) -> float:
        """Return when a generation was published (epoch seconds), 0 if unknown."""
        query = "SELECT published_at FROM generations WHERE generation = ?"
        row = self._conn.execute(query, (generation,)).fetchone()
        return float(row[0]) if row else 0.0

    def close(self) -> None:
        """Release the snapshot."""
        if self._owned:
            self._conn.close()
