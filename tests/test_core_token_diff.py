"""Which words of a page changed: the right ones, few of them, and fast."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from freshcrawl.core.token_diff import PAIRS, WIDTH, token_diff

WORDS = st.lists(st.sampled_from(["a", "b", "c", "12:31", "12:33"]), max_size=6).map(" ".join)
TEXTS = st.lists(WORDS, max_size=6)


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ([], [], []),
        (["a b", "c"], ["a b", "c"], []),
        (["at 12:31:07 sharp"], ["at 12:33:09 sharp"], [["12:31:07", "12:33:09"]]),
        (
            ["intro", "made on May 3 by 4 cats", "end"],
            ["intro", "made on June 5 by 9 cats", "end"],
            [["May 3", "June 5"], ["4", "9"]],
        ),
        (["a", "end"], ["a", "more words", "end"], [["", "more words"]]),
        (["a", "less", "end"], ["a", "end"], [["less", ""]]),
        (["x 1", "same", "x 1"], ["x 2", "same", "x 2"], [["1", "2"]]),
        (["a b c"], ["c b a"], [["a b", ""], ["", "b a"]]),
        (["old"], [], [["old", ""]]),
        ([], ["new"], [["", "new"]]),
        (["tick tick tick"], ["tick tock tick"], [["tick", "tock"]]),
        (["v1", "v1", "tail"], ["v1", "v2", "tail"], [["v1", "v2"]]),
    ],
)
def test_pairs(old: list[str], new: list[str], pairs: list[list[str]]) -> None:
    assert token_diff(old, new) == pairs


def test_moved_block_does_not_hide_what_changed() -> None:
    old = ["first", "one", "two", "three", "clock 1"]
    new = ["one", "two", "three", "first", "clock 2"]
    assert ["1", "2"] not in token_diff(old, new)[:1]
    assert any("2" in after.split() for _, after in token_diff(old, new))


def test_only_a_few_pairs_and_short_ones() -> None:
    old = [f"number {n} is {n * 7} here" for n in range(100)]
    new = [f"number {n} is {n * 7 + 1} here" for n in range(100)]
    assert len(token_diff(old, new)) == PAIRS
    [[before, after]] = token_diff(["x " * 99], ["y" * 99])
    assert (len(before), len(after)) == (WIDTH, WIDTH)
    assert before.endswith("...")


@given(TEXTS, TEXTS)
@example(["a a", ""], ["", "a a"])
def test_there_are_pairs_exactly_where_words_differ(old: list[str], new: list[str]) -> None:
    same = [text.split() for text in old if text.split()] == [t.split() for t in new if t.split()]
    pairs = token_diff(old, new, limit=99)
    assert not (same and pairs)
    flat_old, flat_new = " ".join(old).split(), " ".join(new).split()
    for before, after in pairs:
        assert before != after
        assert before.endswith("...") or set(before.split()) <= set(flat_old)
        assert after.endswith("...") or set(after.split()) <= set(flat_new)
    assert pairs or sorted(flat_old) == sorted(flat_new)


def page(seed: int, *, words: int, vocabulary: int) -> list[str]:
    """Return a page of blocks of about 20 words."""
    chance = random.Random(seed)
    text = [f"w{chance.randrange(vocabulary)}" for _ in range(words)]
    return [" ".join(text[at : at + 20]) for at in range(0, words, 20)]


@pytest.mark.parametrize("vocabulary", [1, 2, 50, 100_000], ids=str)
@pytest.mark.parametrize("other", ["another page", "a word changed", "one block"])
def test_large_pages_take_little_time(vocabulary: int, other: str) -> None:
    old = page(1, words=20_000, vocabulary=vocabulary)
    new = page(2, words=20_000, vocabulary=vocabulary)
    if other == "a word changed":
        new = [*old[:300], "entirely other text", *old[301:]]
    if other == "one block":
        old, new = [" ".join(old)], [" ".join(new)]
    began = time.process_time()
    token_diff(old, new)
    # Four times the words of a long page; a quadratic diff of them takes seconds.
    assert time.process_time() - began < 0.4
