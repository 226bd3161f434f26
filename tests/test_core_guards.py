"""Guards hold their own class of work, and let go only on independent confirmations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.guards import (
    CHANGES,
    REMOVALS,
    GuardPolicy,
    Held,
    person_reasons,
    persons,
    released,
    tripped,
    unwell,
    work_class,
)
from freshcrawl.core.pages import Cause, Status, Verdict
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
        (REMOVALS, 5, 10, False),
        # the minimum is of no use where it is most of the site
        (REMOVALS, 1, 1, False),
        (REMOVALS, 2, 2, True),
        (REMOVALS, 1, 3, False),
        (REMOVALS, 2, 3, True),
        (REMOVALS, 2, 4, False),
        (REMOVALS, 5, 5, True),
        (REMOVALS, 5, 9, True),
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


def test_a_lifted_guard_holds_nothing() -> None:
    assert tripped(REMOVALS, 9, 9, GuardPolicy(removed_ratio=1)) is None


@pytest.mark.parametrize(
    ("failed", "asked", "holds"),
    [
        (0, 0, False), (5, 5, False), (6, 6, True), (6, 30, False), (7, 30, True),
        (6, 29, True), (20, 100, False), (21, 100, True),
    ],
)  # fmt: skip
def test_failures_that_keep_a_run_from_taking_pages_away(
    failed: int, asked: int, *, holds: bool
) -> None:
    guard = unwell(failed, asked, POLICY)
    assert (guard is not None) is holds
    if guard is not None:
        assert f"the site is not well ({failed} of {asked} pages asked for failed" in guard.reason


def leaving(name: str, cause: str, alias_of: str = "", target: str = "") -> Staged:
    return Staged(
        name, f"https://a.example/{name}", Status.EXCLUDED, "excluded", 0.0,
        cause=cause, alias_of=alias_of, target=target,
    )  # fmt: skip


FOUR = "abcd"
MANY = Held(REMOVALS, 20, 100, needs_person=False)


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([leaving("a", Cause.NOINDEX)], "marked noindex"),
        ([leaving("a", Cause.ROBOTS)], "disallowed by robots.txt"),
        *(
            ([leaving("a", cause)], "")
            for cause in Cause
            if cause not in {Cause.NOINDEX, Cause.ROBOTS}
        ),
        ([leaving(n, Cause.MOVED, alias_of="t") for n in FOUR], "redirected like many others to t"),
        ([leaving(n, Cause.MOVED, alias_of="t") for n in FOUR[:3]], ""),
        ([leaving(n, Cause.MOVED, alias_of=n * 2) for n in FOUR], ""),
        ([leaving(n, Cause.COPY, alias_of="t") for n in FOUR], "redirected like many others to t"),
        ([leaving(n, Cause.HOME) for n in FOUR], "redirected like many others to the home page"),
        (
            [leaving(n, Cause.OFF_SITE, target=f"https://x.example/{n}") for n in FOUR],
            "to x.example",
        ),
        ([leaving(n, Cause.OFF_SITE, target=f"https://{n}.example/") for n in FOUR], ""),
        ([leaving("shrunk", Cause.UNLISTED)], "no longer listed by a sitemap or page"),
        ([leaving("shrunk", Cause.NOT_FOUND)], ""),
    ],
)
def test_removals_on_which_a_person_must_decide(entries: list[Staged], why: str) -> None:
    found = persons(entries, MANY, {"shrunk"})
    assert found.keys() == ({entry.key for entry in entries} if why else set())
    assert all(why in words for words in found.values())
    assert persons(entries, None, {"shrunk"}) == {}, "no guard holds them"
    most = persons(entries, replace(MANY, needs_person=True), ())
    assert most == dict.fromkeys((entry.key for entry in entries), "more than half of the site")


def test_person_reasons_are_counted() -> None:
    why = ["marked noindex", "marked noindex", "more than half of the site", "x"]
    marked = ["2 pages marked noindex: a person must decide", "1 page x: a person must decide"]
    half = "1 page found with more than half of the site: a person must decide"
    assert person_reasons(why, replace(MANY, needs_person=True)) == marked, "that is said already"
    assert person_reasons(why, MANY) == [half, *marked]


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
