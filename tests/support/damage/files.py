"""Index files and manifests, and database files as such."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tests.support.damage.common import generation, index

if TYPE_CHECKING:
    from pathlib import Path


def seal(folder: Path) -> None:
    """Make the manifest's count, size and sha256 those of the file."""
    import faiss

    path, manifest = index(folder), index(folder, "json")
    data = path.read_bytes()
    told = json.loads(manifest.read_bytes())
    told |= {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    told["count"] = faiss.read_index(str(path)).ntotal
    manifest.write_text(json.dumps(told))


def rewrite_index(folder: Path, *, ids: int = 0, dimension: int = 0, extra: int = 0) -> None:
    """Put a valid FAISS file of other vectors in the place of the index file.

    ``ids`` is added to each id; ``extra`` vectors of no chunk are added. The ``dimension`` is the
    one before, if it is 0.
    """
    import faiss
    import numpy as np

    path = index(folder)
    before: Any = faiss.read_index(str(path))
    dimension = dimension or before.d
    numbers = faiss.vector_to_array(before.id_map) + ids
    rows = before.index.reconstruct_n(0, before.ntotal)
    if not extra:
        random = np.random.default_rng(1)
        rows = random.standard_normal((len(numbers), dimension)).astype(np.float32)
    more = np.eye(extra, dimension, dtype=np.float32)
    rows = np.vstack([rows / np.linalg.norm(rows, axis=1, keepdims=True), more])
    numbers = np.concatenate([numbers, np.arange(1, extra + 1)])
    after = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))
    after.add_with_ids(rows, numbers)
    faiss.write_index(after, str(path))


def index_missing(folder: Path) -> None:
    index(folder).unlink()


def index_truncated(folder: Path) -> None:
    path = index(folder)
    path.write_bytes(path.read_bytes()[:-100])


def index_flipped(folder: Path) -> None:
    path = index(folder)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def index_foreign(folder: Path) -> None:
    rewrite_index(folder)


def index_foreign_sealed(folder: Path) -> None:
    rewrite_index(folder)
    seal(folder)


def index_of_other_ids_sealed(folder: Path) -> None:
    rewrite_index(folder, ids=1)
    seal(folder)


def index_of_other_dimension_sealed(folder: Path) -> None:
    rewrite_index(folder, dimension=32)
    seal(folder)


def index_with_extra_vectors_sealed(folder: Path) -> None:
    rewrite_index(folder, extra=3)
    seal(folder)


def index_of_other_kind_sealed(folder: Path) -> None:
    import faiss

    faiss.write_index(faiss.IndexFlatL2(64), str(index(folder)))
    seal(folder)


def manifest_missing(folder: Path) -> None:
    index(folder, "json").unlink()


def manifest_damaged(folder: Path) -> None:
    index(folder, "json").write_text("[")


def manifest_of_other_model(folder: Path) -> None:
    path = index(folder, "json")
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "model": "other"}))


def manifest_of_other_run(folder: Path) -> None:
    path = index(folder, "json")
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "run_id": "other"}))


def old_manifest_of_other_run(folder: Path) -> None:
    path = folder / "index" / f"{generation(folder) - 1}.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "run_id": "other"}))


def old_index_flipped(folder: Path) -> None:
    number = generation(folder) - 1
    path = folder / "index" / f"{number}.faiss"
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def index_of_no_generation(folder: Path) -> None:
    number = generation(folder) + 5
    for ending in ("faiss", "json"):
        (folder / "index" / f"{number}.{ending}").write_bytes(index(folder, ending).read_bytes())


def database_zeroed(folder: Path, name: str = "corpus.sqlite") -> None:
    """Overwrite a page in the middle of a database file."""
    path = folder / name
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 64] = b"\xaa" * 64
    path.write_bytes(data)
