"""Which pages are embedded first, how much, and which moves have to wait."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.embedding_plan import (
    PATIENCE_SECS,
    Waiting,
    allowance,
    day_of,
    portions,
    rank,
    without_movers,
)
from freshcrawl.core.pages import Status
from freshcrawl.core.published import Staged

NOW = 1_800_000_000.0


def waiting(key: str, missing: str = "x", **more: float | bool) -> Waiting:
    values = {"is_live": False, "since": NOW - 10, **more}
    return Waiting(key, tuple(missing), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (waiting("b", ""), waiting("a", is_live=True)),
        (waiting("b", is_live=True), waiting("a")),
        (waiting("b", is_live=True, lists=1), waiting("a", lists=50)),
        (waiting("b", lists=3), waiting("a", lists=2)),
        (waiting("b", depth=1), waiting("a", depth=2)),
        (waiting("b", since=NOW - 20), waiting("a")),
        (waiting("a"), waiting("b")),
        (waiting("b", since=NOW - PATIENCE_SECS), waiting("a", is_live=True, lists=9)),
        (waiting("b", since=NOW - PATIENCE_SECS - 1), waiting("a", since=NOW - PATIENCE_SECS)),
    ],
    ids=[
        *("nothing missing", "answers wrongly", "answers before links", "more lists", "nearer"),
        *("longer", "by name", "patience ends", "the oldest first"),
    ],
)
def test_the_more_valuable_page_comes_first(first: Waiting, second: Waiting) -> None:
    assert rank([second, first], NOW) == rank([first, second], NOW) == [first, second]


def test_an_allowance_ends_in_the_middle_of_a_page_and_whole_pages_still_come() -> None:
    pages = [waiting("a", "12"), waiting("b", "2345"), waiting("c", "67"), waiting("d", "12")]
    assert list(portions(pages, 4, 100)) == [(["a", "b", "c", "d"], ["1", "2", "3", "4"])]


def test_without_allowance_all_comes_in_portions() -> None:
    pages = [waiting("a", "12"), waiting("b", "3"), waiting("c", "4567"), waiting("d", "8")]
    assert list(portions(pages, None, 3)) == [
        (["a", "b"], ["1", "2", "3"]),
        (["c"], ["4", "5", "6", "7"]),
        (["d"], ["8"]),
    ]


def test_nothing_may_be_embedded_and_pages_that_need_nothing_come() -> None:
    assert list(portions([waiting("a", ""), waiting("b", "1")], 0, 9)) == [(["a", "b"], [])]
    assert list(portions([], None, 9)) == []


texts = st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True).map(tuple)


@given(st.lists(texts, max_size=9), st.none() | st.integers(0, 12), st.integers(1, 5))
def test_portions_have_each_page_and_each_text_once_within_the_allowance(
    pages: list[tuple[str, ...]], limit: int | None, size: int
) -> None:
    ranked = [Waiting(str(n), missing, is_live=False, since=0.0) for n, missing in enumerate(pages)]
    found = list(portions(ranked, limit, size))
    assert [key for keys, _ in found for key in keys] == [page.key for page in ranked]
    digests = [digest for _, of_portion in found for digest in of_portion]
    everything = list(dict.fromkeys(digest for page in pages for digest in page))
    assert len(digests) == len(set(digests))
    assert len(digests) == min(len(everything), len(everything) if limit is None else limit)
    if limit is None:
        assert digests == everything
    # A page is whole with the portion that it is in, unless the allowance ended.
    known: set[str] = set()
    for keys, of_portion in found:
        known |= set(of_portion)
        ended = limit is not None and len(known) == limit
        assert ended or all(known.issuperset(pages[int(key)]) for key in keys)
    sizes = [len(of_portion) for _, of_portion in found]
    assert all(a + b > size for a, b in pairwise(sizes))


def moved(key: str, to: str) -> Staged:
    return Staged(key, key, Status.ALIAS, "moved", NOW, alias_of=to)


def text(key: str) -> Staged:
    return Staged(key, key, Status.LIVE, "new", NOW)


@pytest.mark.parametrize(
    ("keys", "live", "ready"),
    [
        ("ab", "", "ab"),
        ("a", "", ""),
        ("a", "b", "a"),
        ("ac", "", ""),
        ("acb", "", "abc"),
        ("bd", "", "bd"),
        ("e", "", "e"),
        ("fg", "", "fg"),
    ],
    ids=[
        *("with its target", "target waits", "target answers by another text", "a chain waits"),
        *("a chain together", "leaves for nowhere", "target unknown", "a circle"),
    ],
)
def test_a_page_that_moved_leaves_with_its_target_at_the_earliest(
    keys: str, live: str, ready: str
) -> None:
    entries = [moved("a", "b"), text("b"), moved("c", "a"), moved("e", "z")]
    entries += [Staged("d", "d", Status.GONE, "gone", NOW), moved("f", "g"), moved("g", "f")]
    staged = {entry.key: entry for entry in entries}
    assert without_movers(keys, staged, set(live)) == set(ready)


@pytest.mark.parametrize(
    ("today", "run", "a_run", "a_day", "left"),
    [
        (0, 0, 0, 0, None),
        (500, 40, 100, 0, 60),
        (500, 40, 0, 800, 300),
        (500, 40, 100, 520, 20),
        (500, 100, 100, 800, 0),
        (900, 0, 100, 800, 0),
    ],
)
def test_what_may_still_be_embedded(
    today: int, run: int, a_run: int, a_day: int, left: int | None
) -> None:
    assert allowance(today, run, a_run=a_run, a_day=a_day) == left


def test_a_day_is_one_of_utc() -> None:
    assert (day_of(86_400.0 * 2 - 1), day_of(86_400.0 * 2)) == ("1970-01-02", "1970-01-03")
