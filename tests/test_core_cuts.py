"""Cuts of a long run: whole, within the budget, and where the text says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshcrawl.core.cuts import GLUED, Part, divide, mark

BUDGET = 100
PART = st.builds(
    Part,
    st.integers(0, 140),
    st.tuples(st.sampled_from([0, 1, 3, GLUED]), st.integers(0, 5)),
    st.integers(0, 10),
    st.integers(0, 10),
)


def numbered(first: int, last: int, size: int = 20) -> list[Part]:
    return [Part(size, (0, mark(f"part {n}"))) for n in range(first, last)]


def runs(parts: list[Part]) -> list[list[Part]]:
    return [parts[start:end] for start, end in divide(parts, BUDGET)]


def test_nothing_has_no_runs() -> None:
    assert runs([]) == []


def test_what_fits_is_one_run() -> None:
    assert list(divide(numbered(0, 5), BUDGET)) == [(0, 5)]


@pytest.mark.parametrize(("head", "tail"), [(1, 0), (0, 1)])
def test_what_is_put_around_a_run_counts(head: int, tail: int) -> None:
    parts = [Part(20, (0, n), head, tail) for n in range(5)]
    assert len(runs(parts)) == 2


@pytest.mark.parametrize(
    ("ranks", "cut"),
    [
        ([(0, 9), (0, 8), (0, 3), (0, 7), (0, 5), (0, 6)], 2),  # the lowest mark
        ([(0, 9), (1, 8), (1, 3), (0, 7), (1, 5), (1, 6)], 3),  # the lowest class first
        ([(0, 9), (0, 3), (0, 3), (0, 3), (0, 3), (0, 3)], 3),  # of equals, the one in the middle
        ([(0, 9), (9, 0), (9, 0), (0, 7), (9, 0), (9, 0)], 3),  # not at what is glued
    ],
)
def test_a_run_is_cut_before_the_lowest_rank(ranks: list[tuple[int, int]], cut: int) -> None:
    assert list(divide([Part(20, rank) for rank in ranks], BUDGET)) == [(0, cut), (cut, 6)]


def test_glued_part_stays_with_the_one_before_it_even_at_an_edge() -> None:
    parts = [Part(5, (0, 1)), Part(80, (GLUED, 0)), Part(10, (GLUED, 0)), Part(8, (0, 2))]
    assert list(divide(parts, BUDGET)) == [(0, 3), (3, 4)]


@settings(max_examples=200, deadline=None)
@given(parts=st.lists(PART, max_size=40))
def test_runs_are_the_parts_in_order_and_within_the_budget(parts: list[Part]) -> None:
    found = runs(parts)
    assert [part for run in found for part in run] == parts
    assert found == runs(list(parts))
    for run in found:
        size = run[0].head + sum(part.size for part in run) + run[-1].tail
        assert len(run) == 1 or size <= BUDGET


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 200), size=st.integers(1, 60))
def test_an_insertion_moves_few_cuts(at: int, size: int) -> None:
    before = runs(numbered(0, 200))
    parts = [*numbered(0, at), Part(size, (0, mark("new"))), *numbered(at, 200)]
    new = [run for run in runs(parts) if run not in before]
    assert 1 <= len(new) <= 12


def test_insertions_move_about_one_cut_on_average() -> None:
    before = runs(numbered(0, 200))
    new = [
        run
        for at in range(200)
        for run in runs([*numbered(0, at), Part(20, (0, mark(f"new {at}"))), *numbered(at, 200)])
        if run not in before
    ]
    assert len(new) / 200 < 2
