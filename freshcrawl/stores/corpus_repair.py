"""Edits of ``corpus.sqlite`` that no publish makes: rows that never belonged to a generation.

Each is one transaction of its own, and does nothing the second time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.pages import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.stores.corpus import SqliteCorpus


class CorpusRepair:
    """Repairs ``corpus`` through its own writer: never a file that took the place of its own."""

    def __init__(self, corpus: SqliteCorpus) -> None:
        self._corpus = corpus

    def drop_strays(self) -> None:
        """Delete the open chunks that are of no live page: no reader was ever shown them."""
        with self._corpus.editing() as conn:
            conn.execute(
                "DELETE FROM chunks WHERE to_gen IS NULL"
                " AND key NOT IN (SELECT key FROM open_pages WHERE status = ?)",
                (Status.LIVE,),
            )

    def drop_content(self, digests: Iterable[str]) -> None:
        """Delete kept content."""
        with self._corpus.editing() as conn:
            conn.executemany(
                "DELETE FROM content WHERE digest = ?", [(digest,) for digest in digests]
            )

    def drop_vectors(self, model: str, digests: Iterable[str]) -> None:
        """Delete vectors."""
        with self._corpus.editing() as conn:
            conn.executemany(
                "DELETE FROM vectors WHERE model = ? AND embed_digest = ?",
                [(model, digest) for digest in digests],
            )

    def restore_generation(
        self, number: int, embedding: tuple[str, int], published_at: float
    ) -> None:
        """Add the row of the generation that the open rows are of.

        ``embedding`` is the model and the length of its vectors, of which the row before it, if
        there is one, knows better.
        """
        with self._corpus.editing() as conn:
            query = "SELECT model, dimension FROM generations ORDER BY generation DESC"
            embedding = conn.execute(query).fetchone() or embedding
            conn.execute(
                "INSERT OR IGNORE INTO generations SELECT ?, ?, '', ?, ?,"
                " (SELECT count(*) FROM open_pages WHERE status = ?),"
                " (SELECT count(*) FROM open_chunks), 1",
                (number, published_at, *embedding, Status.LIVE),
            )

    def recount(self, generation: int) -> None:
        """Make the counts of the current generation those of its rows."""
        with self._corpus.editing() as conn:
            conn.execute(
                "UPDATE generations SET"
                " pages = (SELECT count(*) FROM open_pages WHERE status = ?),"
                " chunks = (SELECT count(*) FROM open_chunks) WHERE generation = ?",
                (Status.LIVE, generation),
            )

    def distrust(self, generations: Iterable[int]) -> None:
        """Keep older generations no more; rows that only they have go with the next publish."""
        with self._corpus.editing() as conn:
            conn.executemany(
                "UPDATE generations SET kept = 0 WHERE generation = ?"
                " AND generation < (SELECT max(generation) FROM generations)",
                [(number,) for number in generations],
            )
