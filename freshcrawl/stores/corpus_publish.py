"""Writing generations into the SQLite corpus, inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Status
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus_tables import (
    chunk_row,
    current_generation,
    page_row,
    select_in,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from freshcrawl.core.published import Chunk, Edit, Published

_FLOAT32_BYTES = 4
_SPENT = "spent:"
"""Start of the names in ``meta`` under which it is kept what a day has spent."""


def missing_vectors(
    conn: sqlite3.Connection, model: str, digests: Iterable[str], dimension: int = 0
) -> set[str]:
    """Return those of ``digests`` without a vector (of that length, unless 0) of ``model``."""
    wanted = set(digests)
    query = (
        "SELECT embed_digest FROM vectors WHERE model = ?"
        " AND (? = 0 OR length(vector) = ?) AND embed_digest IN"
    )
    args = (model, dimension, dimension * _FLOAT32_BYTES)
    return wanted - {digest for (digest,) in select_in(conn, query, args, wanted)}


def vector_length(conn: sqlite3.Connection, model: str) -> int:
    """Return the length of the kept vectors of a model, 0 if there are none."""
    query = "SELECT length(vector) FROM vectors WHERE model = ? LIMIT 1"
    row = conn.execute(query, (model,)).fetchone()
    return int(row[0]) // _FLOAT32_BYTES if row else 0


def spend(conn: sqlite3.Connection, day: str, chunks: int) -> None:
    """Count vectors as spent on a day (ISO date); what was spent before it is forgotten."""
    name = f"{_SPENT}{day}"
    conn.execute("DELETE FROM meta WHERE name >= ? AND name < ?", (_SPENT, name))
    conn.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + ?",
        (name, chunks, chunks),
    )


def spent(conn: sqlite3.Connection, day: str) -> int:
    """Return how many vectors count as spent on a day (ISO date)."""
    row = conn.execute("SELECT value FROM meta WHERE name = ?", (f"{_SPENT}{day}",)).fetchone()
    return int(row[0]) if row else 0


class Publication:
    """The next generation of the corpus, while it is written."""

    def __init__(
        self, conn: sqlite3.Connection, model: str, dimension: int, published_at: float
    ) -> None:
        self._conn = conn
        self._embedding = (model, dimension)
        self._published_at = published_at
        self._current = current_generation(conn)
        self._changed = False
        self._opened: dict[str, str] = {}
        """Key by embed digest of the chunks opened."""
        self._closed: set[str] = set()
        """Embed digests of the chunks closed."""
        self.number = self._current + 1

    def apply(
        self,
        edits: Sequence[Edit],
        run_id: str,
        withdrawn: Iterable[str] = (),
        *,
        always: bool = False,
    ) -> bool:
        """Write ``edits`` as generation ``number``; False if nothing differs.

        Pages of the keys ``withdrawn`` lose their rows. ``always``: it is a generation
        even if nothing differs.

        Raises:
            StoreError: a live chunk has no vector of the model.
        """
        # Of one page the last; by place, as edits may be unpacked only when they are asked for.
        places = {edit.page.key: place for place, edit in enumerate(edits)}
        for edit in (edits[place] for place in places.values()):
            self._replace_page(edit.page)
            live = edit.page.status == Status.LIVE
            self._replace_chunks(edit.page.key, edit.chunks if live else [])
        for key in withdrawn:
            self._changed = self._close_page(key) or self._changed
            self._replace_chunks(key, [])
        before = self._embedding_before()
        switched = bool(self._current) and before != self._embedding
        if not (self._changed or switched or always):
            return False
        self._check_vectors(switched)
        self._mark_used(before[0], switched)
        self._open_generation(run_id)
        return True

    def _replace_page(self, page: Published) -> None:
        row = page_row(page, self.number)
        # Also of a row that stands: content that was lost is put anew.
        self._conn.execute(
            "UPDATE content SET published = 1 WHERE digest = ? AND published = 0", (page.content,)
        )
        query = "SELECT * FROM open_pages WHERE key = ?"
        stands = self._conn.execute(query, (page.key,)).fetchone()
        if stands and stands[:-1] == row[:-1]:
            return
        self._changed = True
        self._close_page(page.key)
        self._conn.execute("INSERT INTO published VALUES (?,?,?,?,?,?,?,?,?,?,NULL)", row)

    def _close_page(self, key: str) -> bool:
        close = "UPDATE published SET to_gen = ? WHERE key = ? AND to_gen IS NULL"
        return self._conn.execute(close, (self.number, key)).rowcount > 0

    def _replace_chunks(self, key: str, chunks: Iterable[Chunk]) -> None:
        query = "SELECT * FROM open_chunks WHERE key = ?"
        stand = {row[0]: row for row in self._conn.execute(query, (key,))}
        rows = [chunk_row(chunk) for chunk in chunks]
        new = [row for row in rows if stand.get(row[0]) != row]
        old = set(stand.values()) - set(rows)
        self._conn.executemany(
            "UPDATE chunks SET to_gen = ? WHERE id = ? AND to_gen IS NULL",
            [(self.number, row[0]) for row in old],
        )
        self._conn.executemany(
            "INSERT INTO chunks VALUES (?,?,?,?,?,?,?,?,NULL)",
            [(*row, self.number) for row in new],
        )
        self._opened.update((row[-1], row[1]) for row in new)
        self._closed.update(row[-1] for row in old)
        self._changed = self._changed or bool(old or new)

    def _embedding_before(self) -> tuple[str, int]:
        query = "SELECT model, dimension FROM generations WHERE generation = ?"
        model, dimension = self._conn.execute(query, (self._current,)).fetchone() or ("", 0)
        return model, dimension

    def _check_vectors(self, switched: bool) -> None:
        keys = self._opened
        if switched:
            keys = dict(self._conn.execute("SELECT embed_digest, key FROM open_chunks"))
        missing = missing_vectors(self._conn, self._embedding[0], keys, self._embedding[1])
        if missing:
            raise StoreError(
                f"{len(missing)} live chunks have no vector of {self._embedding[0]} "
                f"(one of them on {min(keys[digest] for digest in missing)}); embed them first"
            )

    def _mark_used(self, model: str, switched: bool) -> None:
        """Date the vectors that leave the current generation."""
        update = "UPDATE vectors SET used_at = ? WHERE model = ? AND embed_digest"
        self._conn.executemany(
            f"{update} = ?", [(self._published_at, model, digest) for digest in self._closed]
        )
        if switched:
            select = "SELECT embed_digest FROM open_chunks"
            self._conn.execute(f"{update} IN ({select})", (self._published_at, model))

    def _open_generation(self, run_id: str) -> None:
        row: tuple[Any, ...] = (self.number, self._published_at, run_id, *self._embedding)
        self._conn.execute(
            "INSERT INTO generations SELECT ?, ?, ?, ?, ?,"
            " (SELECT count(*) FROM open_pages WHERE status = ?),"
            " (SELECT count(*) FROM open_chunks), 1",
            (*row, Status.LIVE),
        )
