"""What every IndexStore does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.faiss_index import FaissIndexStore
from freshcrawl.stores.memory import MemoryIndexStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from freshcrawl.stores.base import IndexStore

    Opener = Callable[[], IndexStore]


@pytest.fixture(params=["memory", "faiss"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Return what opens the same index store again."""
    if request.param == "memory":
        return partial(MemoryIndexStore, {})
    return partial(FaissIndexStore, tmp_path / "index")


@pytest.fixture
def store(reopen: Opener) -> IndexStore:
    return reopen()


def unit_vectors(count: int, dimension: int = 8) -> Any:
    rows = np.random.default_rng(7).normal(size=(count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def large_ids(count: int) -> list[int]:
    return [2**63 - 1 - 97 * number for number in range(count)]


def test_write_and_search(reopen: Opener) -> None:
    ids, vectors = large_ids(500), unit_vectors(500)
    reopen().write(3, ids, vectors, {"model": "m"})
    index = reopen().open(3)
    assert len(index) == 500
    cosines = vectors @ vectors[42]
    best = np.argsort(-cosines)[:5]
    found = index.search(vectors[42], 5)
    assert [number for number, _ in found] == [ids[place] for place in best]
    assert [score for _, score in found] == pytest.approx(cosines[best], abs=1e-6)
    assert best[0] == 42
    assert index.search(vectors[42].reshape(1, -1), 5) == found


@pytest.mark.parametrize("k", [1, 3, 4, 100])
def test_search_gives_at_most_what_is_there(store: IndexStore, k: int) -> None:
    store.write(1, [5, 6, 7], unit_vectors(3), {})
    found = store.open(1).search(unit_vectors(1)[0], k)
    assert len(found) == min(k, 3)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_empty_index(store: IndexStore) -> None:
    store.write(1, [], np.zeros((0, 8), dtype=np.float32), {})
    index = store.open(1)
    assert len(index) == 0
    assert index.search(unit_vectors(1)[0], 5) == []


def test_equal_vectors_by_id(store: IndexStore) -> None:
    one = unit_vectors(1)
    store.write(1, [9, 4, 6], np.repeat(one, 3, axis=0), {})
    assert [number for number, _ in store.open(1).search(one[0], 3)] == [4, 6, 9]


def test_manifest(store: IndexStore) -> None:
    given = {"model": "m", "dimension": 8, "versions": {"chunker": 1}}
    store.write(1, [1, 2], unit_vectors(2), given)
    manifest = store.manifest(1)
    assert manifest.items() >= {**given, "count": 2}.items()
    assert len(manifest["sha256"]) == 64


def test_generations_and_drop(reopen: Opener) -> None:
    store = reopen()
    assert store.generations() == []
    for generation in (10, 9, 2):
        store.write(generation, [1], unit_vectors(1), {})
    opened = store.open(9)
    assert reopen().generations() == [2, 9, 10]
    store.drop(9)
    store.drop(9)
    store.drop(77)
    assert reopen().generations() == [2, 10]
    assert len(opened.search(unit_vectors(1)[0], 1)) == 1  # a reader may finish with it
    with pytest.raises(FileNotFoundError):
        store.open(9)
    with pytest.raises(FileNotFoundError):
        store.manifest(9)


def test_retain(reopen: Opener) -> None:
    store = reopen()
    for generation in (2, 9, 10):
        store.write(generation, [1], unit_vectors(1), {})
    store.retain([9, 77])
    assert reopen().generations() == [9]
    assert len(store.open(9)) == 1
    store.retain([])
    assert reopen().generations() == []


def test_generation_can_be_written_again(store: IndexStore) -> None:
    store.write(1, [1, 2], unit_vectors(2), {"run": "first"})
    store.write(1, [3, 4, 5], unit_vectors(3), {"run": "second"})
    assert store.generations() == [1]
    assert len(store.open(1)) == store.manifest(1)["count"] == 3
    assert store.manifest(1)["run"] == "second"


@pytest.mark.parametrize(
    ("ids", "vectors", "message"),
    [
        ([1, 2], unit_vectors(3), "3 vectors for 2"),
        ([1, 1], unit_vectors(2), "2 vectors for 1"),
        ([1], np.zeros((1, 8), dtype=np.float32), "does not find itself"),
        ([1], np.full((1, 8), np.nan, dtype=np.float32), "does not find itself"),
    ],
)
def test_bad_vectors_are_refused(
    store: IndexStore, ids: list[int], vectors: Any, message: str
) -> None:
    with pytest.raises(StoreError, match=message):
        store.write(1, ids, vectors, {})
    assert store.generations() == []


def test_vector_of_another_length_is_refused(store: IndexStore) -> None:
    store.write(1, [1], unit_vectors(1), {})
    with pytest.raises(StoreError, match="vector"):
        store.open(1).search(unit_vectors(1, dimension=4)[0], 1)
