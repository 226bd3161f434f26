"""Stores in dicts, for tests and simulations.

Each takes the dict that it keeps its things in: a second store over the same
dict sees what a reopened file would show.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.memory_corpus import MemoryCorpus, MemoryCorpusData

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from freshcrawl.stores.base import Matrix, VectorIndex

__all__ = ["MemoryCorpus", "MemoryCorpusData", "MemoryIndexStore", "MemoryRecordStore"]

_SELF_SCORE = 0.999


class MemoryRecordStore:
    """RecordStore over ``backing``, which holds the JSON text of what is committed."""

    def __init__(self, backing: dict[str, str] | None = None) -> None:
        self._committed = {} if backing is None else backing
        self._pending: dict[str, str | None] = {}
        self._closed = False

    @property
    def keeps_writers_out(self) -> bool:
        """Never."""
        return False

    def get(self, name: str) -> dict[str, Any] | None:
        """Return the object, or None."""
        self._check_open()
        text = self._pending.get(name, self._committed.get(name))
        return None if text is None else json.loads(text)

    def items(self, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield ``(name, object)`` of names that start with ``prefix``, sorted by name."""
        self._check_open()
        names = {n for n in (*self._committed, *self._pending) if n.startswith(prefix)}
        for name in sorted(names):
            if (value := self.get(name)) is not None:
                yield name, value

    def put(self, name: str, value: Mapping[str, Any]) -> None:
        """Set an object; seen by ``get`` at once, durable after ``commit``."""
        self._check_open()
        self._pending[name] = json.dumps(value)

    def delete(self, name: str) -> None:
        """Remove a name; nothing happens if it is not there."""
        self._check_open()
        self._pending[name] = None

    def commit(self) -> None:
        """Make all that was put and deleted durable, in one transaction."""
        self._check_open()
        for name, text in self._pending.items():
            if text is None:
                self._committed.pop(name, None)
            else:
                self._committed[name] = text
        self._pending.clear()

    def close(self) -> None:
        """Drop what is not committed and release the store."""
        self._pending.clear()
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed")


class MemoryIndex:
    """VectorIndex by one matrix product."""

    def __init__(self, ids: list[int], vectors: Matrix) -> None:
        self._ids = ids
        self._vectors = vectors

    def __len__(self) -> int:
        return len(self._ids)

    def search(self, vector: Any, k: int) -> list[tuple[int, float]]:
        """Return up to ``k`` ``(chunk id, cosine)`` pairs, best first.

        Raises:
            StoreError: the vector has another length than those of the index.
        """
        import numpy as np

        query = np.asarray(vector, dtype=np.float32).reshape(-1)
        if len(query) != self._vectors.shape[1]:
            raise StoreError("the question's vector has another length than those of the index")
        scores = (self._vectors @ query).tolist()
        pairs = zip(self._ids, scores, strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]


class MemoryIndexStore:
    """IndexStore over ``backing``: ``(ids, vectors, manifest)`` by generation."""

    def __init__(
        self, backing: dict[int, tuple[list[int], Matrix, dict[str, Any]]] | None = None
    ) -> None:
        self._kept = {} if backing is None else backing

    def write(
        self, generation: int, ids: Sequence[int], vectors: Matrix, manifest: Mapping[str, Any]
    ) -> None:
        """Keep a copy of one generation's index.

        Raises:
            StoreError: ids and vectors do not fit, or a vector does not find itself.
        """
        import numpy as np

        if len(set(ids)) != len(vectors):
            raise StoreError(f"{len(vectors)} vectors for {len(set(ids))} different ids")
        rows = np.array(vectors, dtype=np.float32)
        if not (np.sum(rows * rows, axis=1) >= _SELF_SCORE).all():
            raise StoreError("a vector does not find itself: it is not normalised")
        digest = hashlib.sha256(rows.tobytes()).hexdigest()
        facts = {**manifest, "count": len(ids), "sha256": digest}
        self._kept[generation] = (list(ids), rows, facts)

    def open(self, generation: int) -> VectorIndex:
        """Open one generation.

        Raises:
            FileNotFoundError: there is no such generation (any more).
        """
        ids, vectors, _ = self._entry(generation)
        return MemoryIndex(ids, vectors)

    def manifest(self, generation: int) -> dict[str, Any]:
        """Return the manifest of a generation.

        Raises:
            FileNotFoundError: there is no such generation (any more).
        """
        return dict(self._entry(generation)[2])

    def version(self, generation: int) -> tuple[Any, ...]:
        """Return what is another once a generation was written again, or is gone."""
        return (self._kept.get(generation, ({},))[-1].get("sha256"),)

    def generations(self) -> list[int]:
        """Return the numbers that are there, ascending."""
        return sorted(self._kept)

    def drop(self, generation: int) -> None:
        """Remove one generation; nothing happens if it is not there."""
        self._kept.pop(generation, None)

    def retain(self, generations: Collection[int]) -> int:
        """Remove all others; return how many."""
        others = self._kept.keys() - set(generations)
        for generation in others:
            self.drop(generation)
        return len(others)

    def _entry(self, generation: int) -> tuple[list[int], Matrix, dict[str, Any]]:
        try:
            return self._kept[generation]
        except KeyError:
            raise FileNotFoundError(f"generation {generation}") from None
