"""FAISS files, one a generation, each with a manifest beside it."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from freshcrawl.seams import Seam, reached
from freshcrawl.stores.advice import quotes_errno, refusal
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.identity import version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from freshcrawl.stores.base import Matrix, VectorIndex

# Its loader reports each variant that this processor has no build for, as if something failed.
logging.getLogger("faiss.loader").setLevel(logging.WARNING)

_SAMPLES = 32
_SELF_SCORE = 0.999
"""Least cosine at which a normalised float32 vector counts as found by itself."""


class FaissIndex:
    """VectorIndex over an ``IndexIDMap2(IndexFlatIP)``; any number of threads may search."""

    def __init__(self, index: Any) -> None:
        self._index = index

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(self, vector: Any, k: int) -> list[tuple[int, float]]:
        """Return up to ``k`` ``(chunk id, cosine)`` pairs, best first.

        Raises:
            StoreError: the vector has another length than those of the index.
        """
        import numpy as np

        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        if query.shape[1] != self._index.d:
            raise StoreError(
                f"the question's vector has {query.shape[1]} dimensions, the index "
                f"{self._index.d}: the index was made with another embedding model"
            )
        scores, ids = self._index.search(query, min(k, len(self)) or 1)
        pairs = [(int(i), float(s)) for i, s in zip(ids[0], scores[0], strict=True) if i >= 0]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


class FaissIndexStore:
    """IndexStore of files ``<generation>.faiss`` and ``<generation>.json`` in ``folder``.

    A generation is there once its manifest is, which is written last.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(
        self, generation: int, ids: Sequence[int], vectors: Matrix, manifest: Mapping[str, Any]
    ) -> None:
        """Write, sync, reopen and check one generation's index.

        ``manifest`` is stored beside it with ``count``, ``sha256`` and ``bytes`` added.

        Raises:
            StoreError: the file read back differs, or a vector does not find itself.
        """
        import numpy as np

        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        with _replaced(self._path(generation)) as draft:
            _write_index(draft, ids, rows)
            reached(Seam.INDEX_WRITTEN)
            _check_index(draft, ids, rows)
            reached(Seam.INDEX_CHECKED)
            facts = {"count": len(ids), "sha256": _sha256(draft), "bytes": draft.stat().st_size}
        reached(Seam.INDEX_NAMED)
        with _replaced(self._manifest_path(generation)) as draft:
            told = json.dumps({**manifest, **facts}, indent=2, sort_keys=True)
            draft.write_text(told, encoding="utf-8")
            _sync(draft)
            reached(Seam.MANIFEST_WRITTEN)
        reached(Seam.MANIFEST_NAMED)

    def open(self, generation: int) -> VectorIndex:
        """Open one generation; the file is read once, to check it, and then mapped.

        Raises:
            FileNotFoundError: there is no such generation (any more).
            StoreError: the file cannot be read or does not fit its manifest.
        """
        try:
            return self._open(self._path(generation), self.manifest(generation))
        except PermissionError as error:
            raise StoreError(f"{error.filename}: cannot be read ({error.strerror})") from error

    @staticmethod
    def _open(path: Path, manifest: Mapping[str, Any]) -> VectorIndex:
        if path.stat().st_size != manifest.get("bytes"):
            raise _damaged(path, "is not as long as its manifest says")
        if _sha256(path) != manifest.get("sha256"):
            raise _damaged(path, "does not have the sha256 that its manifest says")
        try:
            index = _read_index(path)
        except RuntimeError as error:
            if not path.exists():
                raise FileNotFoundError(path) from error
            if quotes_errno(error):
                raise StoreError(f"{path}: cannot be read {refusal(path, error)}") from error
            raise _damaged(path, "is no index that FAISS can read") from error
        if index.ntotal != manifest.get("count"):
            raise _damaged(path, f"holds {index.ntotal} vectors, not {manifest.get('count')}")
        return FaissIndex(index)

    def manifest(self, generation: int) -> dict[str, Any]:
        """Return the manifest of a generation.

        Raises:
            FileNotFoundError: there is no such generation (any more).
            StoreError: it is not a JSON object.
        """
        path = self._manifest_path(generation)
        try:
            manifest = json.loads(path.read_bytes())
        except ValueError as error:
            raise _damaged(path, "is not JSON") from error
        if not isinstance(manifest, dict):
            raise _damaged(path, "is not a JSON object")
        return manifest

    def version(self, generation: int) -> tuple[Any, ...]:
        """Return what is another once a generation was written again, or is gone."""
        return version(self._path(generation)), version(self._manifest_path(generation))

    def generations(self) -> list[int]:
        """Return the numbers that are there, ascending."""
        stems = (path.stem for path in self._folder.glob("*.json"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def drop(self, generation: int) -> None:
        """Remove one generation; nothing happens if it is not there."""
        # The manifest last: a drop that was cut short is listed, and done again.
        self._path(generation).unlink(missing_ok=True)
        reached(Seam.INDEX_DROPPED)
        self._manifest_path(generation).unlink(missing_ok=True)

    def retain(self, generations: Collection[int]) -> int:
        """Remove all others, whole or not, and drafts that a killed writer left.

        Returns how many files that were.
        """
        removed = 0
        for path in sorted(self._folder.glob("*")):
            number, _, kind = path.name.partition(".")
            if not number.isdecimal():
                continue
            if kind in {"faiss.tmp", "json.tmp"}:
                path.unlink(missing_ok=True)
            elif kind in {"faiss", "json"} and int(number) not in generations:
                self.drop(int(number))
            else:
                continue
            removed += 1
        return removed

    def _path(self, generation: int) -> Path:
        return self._folder / f"{generation}.faiss"

    def _manifest_path(self, generation: int) -> Path:
        return self._folder / f"{generation}.json"


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """Give a file to write and sync, which takes the place of ``path`` if all went well.

    Raises:
        StoreError: it cannot be written.
    """
    draft = path.with_name(f"{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.touch()  # what FAISS says of a folder that refuses is C++
        yield draft
        draft.replace(path)
        _sync(path.parent)
    except (OSError, RuntimeError, MemoryError) as error:  # FAISS raises the latter two
        raise StoreError(f"{path}: cannot be written {refusal(path, error)}") from error
    finally:
        with suppress(OSError):
            draft.unlink()


def _write_index(path: Path, ids: Sequence[int], vectors: Matrix) -> None:
    import faiss
    import numpy as np

    if len(set(ids)) != len(vectors):
        raise StoreError(f"{path}: {len(vectors)} vectors for {len(set(ids))} different ids")
    index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
    index.add_with_ids(vectors, np.asarray(ids, dtype=np.int64))
    faiss.write_index(index, str(path))
    _sync(path)


def _read_index(path: Path) -> Any:
    import faiss

    return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)


def _check_index(path: Path, ids: Sequence[int], vectors: Matrix) -> None:
    """Compare the file with what it was made of: the count, and a sample of vectors."""
    import numpy as np

    index = _read_index(path)
    if index.ntotal != len(ids):
        raise StoreError(f"{path}: read back with {index.ntotal} vectors, not {len(ids)}")
    found = FaissIndex(index)
    for place in range(0, len(ids), -(-len(ids) // _SAMPLES) or 1):
        same = np.array_equal(index.reconstruct(int(ids[place])), vectors[place])
        if not same or found.search(vectors[place], 1)[0][1] < _SELF_SCORE:
            raise StoreError(f"{path}: the vector of chunk {ids[place]} does not find itself")


def _sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(
        f"{path}: the file is damaged, it {what}; the next publish writes a new one, and so does "
        "scrapy verify --repair"
    )
