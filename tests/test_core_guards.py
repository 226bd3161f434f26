"""Guards hold their own class of work, and let go only on independent confirmations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.guards import (
    CHANGES,
    REMOVALS,
    GuardPolicy,
    Held,
    released,
    tripped,
    work_class,
)
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.published import Staged

POLICY = GuardPolicy()
HOUR = 3_600.0
LEAVING = [status for status in Status if status != Status.LIVE]


def staged(status: Status, verdict: Verdict = Verdict.CHANGED) -> Staged:
    return Staged(
        "docs.example.com/a", "https://docs.example.com/a", status, verdict, 1_800_000_000.0
    )


@pytest.mark.parametrize("status", list(Status))
def test_pages_that_are_not_live_are_never_held(status: Status) -> None:
    assert work_class(staged(status), live=False) == ""


@pytest.mark.parametrize("status", LEAVING)
def test_leaving_the_answers_is_a_removal_whatever_the_reason(status: Status) -> None:
    assert work_class(staged(status), live=True) == REMOVALS


def test_new_text_of_a_live_page_is_a_change() -> None:
    assert work_class(staged(Status.LIVE), live=True) == CHANGES


@pytest.mark.parametrize("verdict", [Verdict.LINKS_ONLY, Verdict.UNCHANGED, Verdict.COSMETIC])
def test_text_that_stands_is_never_held(verdict: Verdict) -> None:
    assert work_class(staged(Status.LIVE, verdict), live=True) == ""
    assert work_class(staged(Status.GONE, verdict), live=True) == REMOVALS


@pytest.mark.parametrize(
    ("kind", "pages", "live", "held"),
    [
        (REMOVALS, 0, 100, False),
        (REMOVALS, 10, 100, False),
        (REMOVALS, 11, 100, True),
        (REMOVALS, 5, 5, False),
        (REMOVALS, 6, 6, True),
        (REMOVALS, 6, 60, False),
        (REMOVALS, 6, 59, True),
        (REMOVALS, 1_000, 10_000, False),
        (REMOVALS, 1_001, 10_000, True),
        (CHANGES, 20, 20, False),
        (CHANGES, 21, 21, True),
        (CHANGES, 50, 100, False),
        (CHANGES, 51, 100, True),
        (CHANGES, 0, 0, False),
    ],
)
def test_thresholds(kind: str, pages: int, live: int, held: bool) -> None:
    guard = tripped(kind, pages, live, POLICY)
    assert (guard is not None) is held
    if guard is not None:
        assert (guard.kind, guard.pages, guard.live) == (kind, pages, live)


@given(st.sampled_from([REMOVALS, CHANGES]), st.integers(0, 500), st.integers(0, 500))
def test_more_pages_never_open_a_guard(kind: str, pages: int, live: int) -> None:
    if tripped(kind, pages, live, POLICY):
        assert tripped(kind, pages + 1, live, POLICY)


@pytest.mark.parametrize(
    ("kind", "pages", "needs_person"),
    [(REMOVALS, 50, False), (REMOVALS, 51, True), (CHANGES, 51, False), (CHANGES, 100, False)],
)
def test_more_than_half_removed_needs_a_person(kind: str, pages: int, needs_person: bool) -> None:
    guard = tripped(kind, pages, 100, POLICY)
    assert guard is not None
    assert guard.needs_person is needs_person
    assert ("a person must decide" in guard.reason) is needs_person
    what = {"removals": "would leave the answers", "changes": "would change"}[kind]
    assert f"too many {kind} at once ({pages} of 100 live pages {what})" in guard.reason


@pytest.mark.parametrize(
    ("hours", "free"),
    [
        ([], False),
        ([0], False),
        ([0, 12], False),
        ([0, 12, 24], True),
        ([0, 11.9, 23.8], False),
        ([0, 12, 23.9], False),
        ([0, 1, 2, 3, 4, 5], False),
        # a confirmation in between does not push the next one away
        ([0, 6, 12, 18, 24], True),
        ([0, 100, 200], True),
        ([0, 0, 0, 0], False),
        # the clock was set back: nothing is confirmed before it has caught up
        ([100, 0, 12, 24], False),
        ([100, 0, 112, 124], True),
    ],
)
def test_released_after_independent_confirmations(hours: list[float], free: bool) -> None:
    held = Held(CHANGES, 60, 100, needs_person=False)
    assert released(held, [hour * HOUR for hour in hours], POLICY) is free


def test_what_needs_a_person_is_never_released() -> None:
    held = Held(REMOVALS, 60, 100, needs_person=True)
    assert not released(held, [n * 24 * HOUR for n in range(100)], POLICY)


@given(st.lists(st.floats(0, 1e9), max_size=20).map(sorted), st.integers(1, 4))
def test_release_takes_at_least_the_time_of_its_confirmations(
    found_at: list[float], runs: int
) -> None:
    policy = GuardPolicy(confirm_runs=runs)
    if released(Held(REMOVALS, 6, 20, needs_person=False), found_at, policy):
        assert found_at[-1] - found_at[0] >= runs * policy.confirm_secs
        assert len(found_at) > runs
