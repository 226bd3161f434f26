"""Edits of ``corpus.sqlite`` that no publish makes: rows that never belonged to a generation.

Each is one transaction of its own, and does nothing the second time.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from freshcrawl.core.pages import Status
from freshcrawl.stores.sqlitefile import connect_writer, reported

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class CorpusRepair:
    """Repairs the file ``path``; only for the holder of the site's lock."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def drop_strays(self) -> None:
        """Delete the open chunks that are of no live page: no reader was ever shown them."""
        with self._writing() as conn:
            conn.execute(
                "DELETE FROM chunks WHERE to_gen IS NULL"
                " AND key NOT IN (SELECT key FROM open_pages WHERE status = ?)",
                (Status.LIVE,),
            )

    def drop_content(self, digests: Iterable[str]) -> None:
        """Delete kept content."""
        with self._writing() as conn:
            conn.executemany(
                "DELETE FROM content WHERE digest = ?", [(digest,) for digest in digests]
            )

    def drop_vectors(self, model: str, digests: Iterable[str]) -> None:
        """Delete vectors."""
        with self._writing() as conn:
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
        with self._writing() as conn:
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
        with self._writing() as conn:
            conn.execute(
                "UPDATE generations SET"
                " pages = (SELECT count(*) FROM open_pages WHERE status = ?),"
                " chunks = (SELECT count(*) FROM open_chunks) WHERE generation = ?",
                (Status.LIVE, generation),
            )

    def distrust_closed_in(self, generation: int) -> None:
        """Keep no generation that has the rows which a repair, as ``generation``, closed."""
        with self._writing() as conn:
            conn.execute(
                "UPDATE generations SET kept = 0 WHERE generation < ?"
                " AND generation >= (SELECT min(from_gen) FROM chunks WHERE to_gen = ?)",
                (generation, generation),
            )

    def distrust(self, generations: Iterable[int]) -> None:
        """Keep older generations no more; rows that only they have go with the next publish."""
        with self._writing() as conn:
            conn.executemany(
                "UPDATE generations SET kept = 0 WHERE generation = ?"
                " AND generation < (SELECT max(generation) FROM generations)",
                [(number,) for number in generations],
            )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with reported(self._path), closing(connect_writer(self._path)) as conn:
            conn.execute("BEGIN IMMEDIATE")
            yield conn
            conn.execute("COMMIT")
