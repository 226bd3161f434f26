"""Vectors: those that passages need, those that nobody needs now, and how each should look."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from freshcrawl.core.words import count
from freshcrawl.verify.findings import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.stores.base import Matrix
    from freshcrawl.verify.view import View

NORM_ERROR = 1e-3
"""How far from 1 the length of a normalised float32 vector may be."""


def read_vector(data: bytes, dimension: int) -> Matrix | None:
    """Return a kept vector; None if it has another dimension, a NaN, or not the length 1."""
    import numpy as np

    if len(data) != dimension * 4:
        return None
    vector: Matrix = np.frombuffer(data, dtype="<f4")
    return vector if abs(float(np.linalg.norm(vector)) - 1.0) < NORM_ERROR else None


def check_vectors(view: View) -> Iterator[Finding]:
    """Look at all vectors of the current model. Sound ones that nobody needs are no damage."""
    current = view.current
    if current is None:
        return
    pages: Counter[str] = Counter()
    for _, key, _, data in view.corpus.vectors_at(current.number, current.model):
        pages[key] += read_vector(data, current.dimension) is None
    for key, bad in sorted(pages.items()):
        if bad:
            what = f"{count(bad, 'passage')} without a usable vector of {current.model}"
            yield Finding(Kind.VECTORS, key, what)
    if unused := unused_damaged(view):
        what = f"{count(len(unused), 'vector')} that no passage has now cannot be used"
        yield Finding(Kind.VECTORS_UNUSED, "corpus.sqlite", what)


def unused_damaged(view: View) -> list[str]:
    """Return the embed digests of vectors that cannot be used, and that no live passage has."""
    current = view.current
    if current is None:
        return []
    used = view.corpus.used_digests()
    return [
        digest
        for digest, data in view.corpus.all_vectors(current.model)
        if digest not in used and read_vector(data, current.dimension) is None
    ]
