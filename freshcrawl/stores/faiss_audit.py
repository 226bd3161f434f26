"""Every vector of an index file, for comparing it with what it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.stores.base import Matrix


class FaissAudit:
    """The ids and vectors of an index file.

    Raises:
        FileNotFoundError: there is no such file (any more).
        StoreError: it is no index of this kind; the message says only what it is.
    """

    def __init__(self, path: Path) -> None:
        import faiss

        if not path.exists():
            raise FileNotFoundError(path)
        try:
            index: Any = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise StoreError("is no index that FAISS can read") from error
        flat = faiss.downcast_index(index.index) if isinstance(index, faiss.IndexIDMap) else None
        if not isinstance(flat, faiss.IndexFlat) or flat.metric_type != faiss.METRIC_INNER_PRODUCT:
            raise StoreError("is an index of another kind")
        self._index, self._flat = index, flat  # the first owns the second
        self.dimension = int(flat.d)
        self.ids: list[int] = faiss.vector_to_array(index.id_map).tolist()

    def vector(self, place: int) -> Matrix:
        """Return the vector of ``ids[place]``."""
        found: Any = self._flat.reconstruct(place)
        vector: Matrix = found
        return vector
