"""What every RecordStore does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.memory import MemoryRecordStore
from freshcrawl.stores.sqlite import SqliteRecordStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from freshcrawl.stores.base import RecordStore

    Opener = Callable[[], RecordStore]


@pytest.fixture(params=["memory", "sqlite"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Return what opens the same store again."""
    if request.param == "memory":
        return partial(MemoryRecordStore, {})
    return partial(SqliteRecordStore, tmp_path / "records.sqlite")


@pytest.fixture
def store(reopen: Opener) -> Iterator[RecordStore]:
    opened = reopen()
    yield opened
    opened.close()


def test_put_is_seen_at_once(store: RecordStore) -> None:
    assert store.get("page:a") is None
    store.put("page:a", {"n": 1, "list": [1, None, "ü\ud800"], "deep": {"x": 0.5}})
    assert store.get("page:a") == {"n": 1, "list": [1, None, "ü\ud800"], "deep": {"x": 0.5}}
    store.put("page:a", {"n": 2})
    assert store.get("page:a") == {"n": 2}


def test_delete(store: RecordStore) -> None:
    store.put("page:a", {"n": 1})
    store.delete("page:a")
    store.delete("page:never")
    assert store.get("page:a") is None
    assert list(store.items("page:")) == []


def test_what_is_got_is_a_copy(store: RecordStore) -> None:
    value = {"list": [1]}
    store.put("page:a", value)
    value["list"].append(2)
    got = store.get("page:a")
    assert got is not None
    got["list"].append(3)
    assert store.get("page:a") == {"list": [1]}


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("page:", ["page:", "page:a", "page:a/b", "page:b", "page:ü", "page:\U0001f600"]),
        ("page:a", ["page:a", "page:a/b"]),
        ("page:%", []),
        ("run:", ["run:1"]),
        ("nothing:", []),
    ],
)
def test_items_by_prefix_sorted(store: RecordStore, prefix: str, names: list[str]) -> None:
    put = ["page:ü", "page:b", "page:\U0001f600", "run:1", "page:a/b", "pages", "page:a", "page:"]
    for name in put:
        store.put(name, {"name": name})
    assert list(store.items(prefix)) == [(name, {"name": name}) for name in names]


def test_many_items(store: RecordStore) -> None:
    for number in range(1501):
        store.put(f"page:{number:04}", {"n": number})
    assert [value["n"] for _, value in store.items("page:")] == list(range(1501))


def test_items_while_they_are_changed(store: RecordStore) -> None:
    for number in range(20):
        store.put(f"staged:{number:02}", {"n": number})
    for name, value in store.items("staged:"):
        store.delete(name) if value["n"] % 2 else store.put(name, {"n": value["n"], "seen": True})
    assert [value for _, value in store.items("staged:")] == [
        {"n": number, "seen": True} for number in range(0, 20, 2)
    ]


def test_committed_is_durable_and_the_rest_is_dropped(reopen: Opener) -> None:
    first = reopen()
    for name in ("page:a", "page:b"):
        first.put(name, {"v": 1})
    first.commit()
    first.put("page:a", {"v": 2})
    first.put("page:c", {"v": 2})
    first.delete("page:b")
    first.close()
    second = reopen()
    assert dict(second.items("page:")) == {"page:a": {"v": 1}, "page:b": {"v": 1}}
    second.delete("page:b")
    second.commit()
    second.close()
    third = reopen()
    assert dict(third.items("page:")) == {"page:a": {"v": 1}}
    third.close()


def test_commit_without_changes(store: RecordStore) -> None:
    store.commit()
    store.put("run:1", {})
    store.commit()
    store.commit()
    assert store.get("run:1") == {}


def test_closed_store_is_refused(reopen: Opener) -> None:
    store = reopen()
    store.close()
    store.close()
    for call in (
        partial(store.get, "a"),
        partial(store.put, "a", {}),
        partial(store.delete, "a"),
        store.commit,
        lambda: list(store.items("")),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()


def test_value_that_is_not_json_is_refused(store: RecordStore) -> None:
    with pytest.raises(TypeError):
        store.put("page:a", {"bytes": b"x"})
    assert store.get("page:a") is None
