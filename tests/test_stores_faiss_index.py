"""What is peculiar to the index in FAISS files."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from freshcrawl.stores import faiss_index
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.faiss_index import FaissIndexStore

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.stores.base import Matrix


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "site" / "index"


@pytest.fixture
def store(folder: Path) -> FaissIndexStore:
    written = FaissIndexStore(folder)
    written.write(1, list(range(100)), unit_vectors(100), {"model": "m"})
    return written


def unit_vectors(count: int) -> Matrix:
    rows = np.random.default_rng(3).normal(size=(count, 8))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_files(store: FaissIndexStore, folder: Path) -> None:
    import faiss

    assert sorted(path.name for path in folder.iterdir()) == ["1.faiss", "1.json"]
    content = (folder / "1.faiss").read_bytes()
    assert json.loads((folder / "1.json").read_text()) == {
        "model": "m",
        "count": 100,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }
    index = faiss.read_index(str(folder / "1.faiss"))
    assert isinstance(index, faiss.IndexIDMap2)
    assert isinstance(faiss.downcast_index(index.index), faiss.IndexFlatIP)


def test_truncated_file_is_refused(store: FaissIndexStore, folder: Path) -> None:
    path = folder / "1.faiss"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StoreError, match=r"1\.faiss: .*the next publish writes a new one"):
        store.open(1)


def test_file_that_faiss_cannot_read_is_refused(store: FaissIndexStore, folder: Path) -> None:
    content = b"\0" * (folder / "1.faiss").stat().st_size
    (folder / "1.faiss").write_bytes(content)
    manifest = {**store.manifest(1), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "1.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=r"1\.faiss: .*no index that FAISS can read") as error:
        store.open(1)
    assert "\n" not in str(error.value)


def test_file_with_one_other_bit_is_refused(store: FaissIndexStore, folder: Path) -> None:
    content = bytearray((folder / "1.faiss").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "1.faiss").write_bytes(content)
    with pytest.raises(StoreError, match=r"1\.faiss: .*does not have the sha256"):
        store.open(1)


def test_file_of_another_count_is_refused(store: FaissIndexStore, folder: Path) -> None:
    manifest = {**store.manifest(1), "count": 99}
    (folder / "1.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="holds 100 vectors, not 99"):
        store.open(1)


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_broken_manifest_is_refused(store: FaissIndexStore, folder: Path, text: str) -> None:
    (folder / "1.json").write_text(text)
    with pytest.raises(StoreError, match=r"1\.json: .*is not"):
        store.open(1)


@pytest.mark.parametrize("name", ["1.faiss", "1.json"])
def test_missing_file_is_a_missing_generation(
    store: FaissIndexStore, folder: Path, name: str
) -> None:
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError):
        store.open(1)
    store.drop(1)
    assert list(folder.iterdir()) == []


def test_file_that_reads_back_differently_is_not_published(
    store: FaissIndexStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import faiss

    real = faiss.write_index

    def write_fewer(index: Any, path: str) -> None:
        index.remove_ids(np.array([3], dtype=np.int64))
        real(index, path)

    monkeypatch.setattr(faiss, "write_index", write_fewer)
    with pytest.raises(StoreError, match="read back with 99 vectors, not 100"):
        store.write(2, list(range(100)), unit_vectors(100), {})
    assert sorted(path.name for path in folder.iterdir()) == ["1.faiss", "1.json"]


def test_vectors_under_wrong_ids_are_noticed(
    store: FaissIndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = faiss_index._write_index

    def write_shifted(path: Path, ids: list[int], vectors: Matrix) -> None:
        real(path, [*ids[1:], ids[0]], vectors)

    monkeypatch.setattr(faiss_index, "_write_index", write_shifted)
    with pytest.raises(StoreError, match="does not find itself"):
        store.write(2, list(range(100)), unit_vectors(100), {})
    assert store.generations() == [1]


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        FaissIndexStore(tmp_path / "index").write(1, [1], unit_vectors(1), {})


def test_leftovers_of_a_killed_write_are_overwritten(store: FaissIndexStore, folder: Path) -> None:
    for name in ("2.faiss", "2.faiss.tmp", "2.json.tmp"):
        (folder / name).write_bytes(b"half")
    assert store.generations() == [1]
    with pytest.raises(FileNotFoundError):
        store.open(2)
    store.write(2, [1], unit_vectors(1), {})
    assert len(store.open(2)) == 1
    assert {path.suffix for path in folder.iterdir()} == {".faiss", ".json"}


def test_retain_removes_what_killed_writers_left(store: FaissIndexStore, folder: Path) -> None:
    left = ("2.faiss", "3.json", "4.faiss.tmp", "5.json.tmp", "1.faiss.tmp", "1.json.tmp")
    for name in (*left, "notes.txt"):
        (folder / name).write_bytes(b"half")
    store.retain([1])
    assert {path.name for path in folder.iterdir()} == {"1.faiss", "1.json", "notes.txt"}
    assert len(store.open(1)) == 100


def test_retain_without_a_folder(tmp_path: Path) -> None:
    FaissIndexStore(tmp_path / "nowhere").retain([1])
