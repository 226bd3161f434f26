"""Numbers and times in words."""

from __future__ import annotations

import pytest

from freshcrawl.core.words import ago, count


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (89, "89 s"), (90, "2 min"), (5_400, "2 h"), (7_200, "2 h"), (259_200, "3 d")],
)
def test_durations_have_one_unit(seconds: float, words: str) -> None:
    assert ago(seconds) == words


@pytest.mark.parametrize(("number", "words"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages")])
def test_a_noun_has_the_ending_of_its_number(number: int, words: str) -> None:
    assert count(number, "page") == words
