"""Vectors that are missing, unusable or doubted: the right ones are found by embedding again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.seams import Seam, reached
from freshcrawl.verify.contents import usable
from freshcrawl.verify.index import Comparison, compare
from freshcrawl.verify.vectors import read_vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from freshcrawl.core.published import Chunk
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder, Matrix
    from freshcrawl.verify.view import View

SAME = 1e-3
"""How far a number of a vector may be off when its text is embedded in another batch."""


@dataclass(slots=True)
class Doubts:
    """The vectors in doubt, with what may be right."""

    wanted: set[str] = field(default_factory=set)
    """Embed digests."""
    keys: dict[str, set[str]] = field(default_factory=dict)
    """By embed digest of the current generation's chunks, the pages that have it."""
    rows: dict[str, Matrix] = field(default_factory=dict)
    """Usable vectors in rows, of those wanted."""
    file: Comparison = field(default_factory=Comparison)
    """The index file."""
    passages: int = 0

    @property
    def is_foreign(self) -> bool:
        """Whether half of the file's vectors or more are others than those in rows."""
        return len(self.file.differ) * 2 >= self.passages


def find_doubts(view: View, added: Sequence[Chunk]) -> Doubts:
    """Return the vectors in doubt, those of chunks to be ``added`` too."""
    doubts = Doubts()
    current = view.current
    if current is None:
        return doubts
    doubts.file = compare(view, current)
    usable_rows: dict[str, Matrix] = {}
    for _, key, digest, data in view.corpus.vectors_at(current.number, current.model):
        doubts.passages += 1
        doubts.keys.setdefault(digest, set()).add(key)
        row = read_vector(data, current.dimension)
        if row is None:
            doubts.wanted.add(digest)
        else:
            usable_rows[digest] = row
    if doubts.file.sealed or not doubts.is_foreign:
        doubts.wanted |= doubts.file.differ
    new = {chunk.embed_digest for chunk in added} - doubts.keys.keys()
    kept = dict(view.corpus.all_vectors(current.model)) if new else {}
    doubts.wanted |= {
        digest for digest in new if read_vector(kept.get(digest, b""), current.dimension) is None
    }
    doubts.rows = {digest: usable_rows[digest] for digest in doubts.wanted & usable_rows.keys()}
    return doubts


def settle_vectors(
    view: View, state: SiteState, embedder: Embedder, added: Sequence[Chunk], batch: int
) -> dict[str, set[str]]:
    """Make the rows of all vectors in doubt right, and durable batch by batch.

    Returns those for which there is neither text nor vector, with the pages that have them.
    """
    doubts = find_doubts(view, added)
    if not doubts.wanted:
        return {}
    texts = _texts(view, embedder, doubts, added)
    right = {"row": 0, "file": 0}
    for digests in _batches(sorted(texts, key=lambda digest: (len(texts[digest]), digest)), batch):
        truths = embedder.encode([texts[digest] for digest in digests])
        reached(Seam.ENCODED)
        chosen = {}
        for digest, truth in zip(digests, truths, strict=True):
            row, kept = doubts.rows.get(digest), doubts.file.vectors.get(digest)
            if _same(row, truth):
                right["row"] += 1
            else:
                right["file"] += _same(kept, truth)
                chosen[digest] = kept if _same(kept, truth) else truth
        _put(state, embedder, chosen)
    left = doubts.wanted - texts.keys()
    usable_file = {
        digest: vector
        for digest in left
        if (vector := _checked(doubts.file.vectors.get(digest), embedder.dimension)) is not None
    }
    trusted = _trusts_file(doubts, right)
    _put(
        state,
        embedder,
        {d: vector for d, vector in usable_file.items() if trusted or d not in doubts.rows},
    )
    lost = left - usable_file.keys() - doubts.rows.keys()
    return {digest: doubts.keys[digest] for digest in lost if digest in doubts.keys}


def _texts(
    view: View, embedder: Embedder, doubts: Doubts, added: Sequence[Chunk]
) -> dict[str, str]:
    """Return the embedded texts of what is in doubt, as far as they can be had from content."""
    texts = {c.embed_digest: c.embed_text for c in added if c.embed_digest in doubts.wanted}
    keys = {key for digest in doubts.wanted for key in doubts.keys.get(digest, ())}
    for kept in usable(view) if keys else ():
        if kept.page.key in keys:
            for chunk in kept.chunks(embedder):
                if chunk.embed_digest in doubts.wanted:
                    texts[chunk.embed_digest] = chunk.embed_text
    return texts


def _trusts_file(doubts: Doubts, right: dict[str, int]) -> bool:
    """Tell whether the index file is right where text is gone that could tell.

    As it was elsewhere; else if it is whole and differs in less than half of its vectors.
    """
    if right["row"] or right["file"]:
        return right["file"] > right["row"]
    return doubts.file.sealed and not doubts.is_foreign


def _same(one: Matrix | None, other: Matrix) -> bool:
    import numpy as np

    return one is not None and bool(np.allclose(one, other, rtol=0.0, atol=SAME))


def _checked(vector: Matrix | None, dimension: int) -> Matrix | None:
    return None if vector is None else read_vector(vector.tobytes(), dimension)


def _put(state: SiteState, embedder: Embedder, vectors: dict[str, Matrix | None]) -> None:
    found = {digest: vector for digest, vector in vectors.items() if vector is not None}
    if found:
        state.corpus.put_vectors(embedder.model, found)
        reached(Seam.VECTORS_KEPT)


def _batches(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
