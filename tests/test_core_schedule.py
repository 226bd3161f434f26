"""The schedule never starves, never spins, and learns from content alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.freshness import stale_reason
from freshcrawl.core.pages import PageRecord, Status, Verdict
from freshcrawl.core.proofs import Proof, noted
from freshcrawl.core.published import Staged
from freshcrawl.core.schedule import (
    DAY,
    DUE_SHARE,
    HOUR,
    SchedulePolicy,
    halve_double,
    is_due,
    needs_run,
    reschedule,
    spread,
)

NOW = 1_800_000_000.0
POLICY = SchedulePolicy()
SHORT = SchedulePolicy(start=DAY, minimum=HOUR, maximum=30 * DAY, max_age=7 * DAY)
TEACHING = {
    Verdict.CHANGED: 0.5,
    Verdict.LINKS_ONLY: 0.5,
    Verdict.MOVED: 0.5,
    Verdict.UNCHANGED: 2.0,
    Verdict.COSMETIC: 2.0,
}


def page(**fields: object) -> PageRecord:
    values: dict[str, object] = {"interval": 4 * DAY, "status": Status.LIVE, **fields}
    return PageRecord("docs.example.com/a", "https://docs.example.com/a", **values)  # type: ignore[arg-type]


def wait(record: PageRecord, verdict: Verdict, policy: SchedulePolicy = POLICY) -> float:
    reschedule(record, verdict, NOW, policy)
    return record.next_due - NOW


@given(
    status=st.sampled_from(Status),
    verdict=st.sampled_from(Verdict),
    failures=st.integers(0, 10_000),
    interval=st.floats(0, 1e9),
    policy=st.sampled_from([POLICY, SHORT, SchedulePolicy(max_age=1.0)]),
    now=st.floats(0, 4e9),
)
def test_next_due_is_later_than_now_and_within_max_age(
    *,
    status: Status,
    verdict: Verdict,
    failures: int,
    interval: float,
    policy: SchedulePolicy,
    now: float,
) -> None:
    record = page(status=status, failures=failures, interval=interval, last_attempt=now)
    reschedule(record, verdict, now, policy)
    assert now < record.next_due <= now + DUE_SHARE * policy.max_age
    assert not is_due(record, None, policy, now)
    assert record.interval > 0


@given(st.lists(st.sampled_from(Verdict), max_size=60))
def test_interval_stays_within_bounds(verdicts: list[Verdict]) -> None:
    record = page(interval=0.0)
    for verdict in verdicts:
        reschedule(record, verdict, NOW, SHORT)
        assert SHORT.minimum <= record.interval <= SHORT.maximum


@pytest.mark.parametrize(
    ("interval", "changed", "expected"),
    [
        (3 * DAY, True, 1.5 * DAY),
        (3 * DAY, False, 6 * DAY),
        (6 * HOUR, True, 6 * HOUR),
        (7 * HOUR, True, 6 * HOUR),
        (12 * HOUR, True, 6 * HOUR),
        (60 * DAY, False, 60 * DAY),
        (31 * DAY, False, 60 * DAY),
        (30 * DAY, False, 60 * DAY),
        (90 * DAY, True, 45 * DAY),
        (365 * DAY, True, 60 * DAY),
        (60.0, False, 6 * HOUR),
    ],
)
def test_halve_double(interval: float, changed: bool, expected: float) -> None:
    assert halve_double(interval, changed, POLICY) == expected


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_verdicts_on_content_teach(verdict: Verdict) -> None:
    record = page(interval=4 * DAY, failures=3)
    reschedule(record, verdict, NOW, POLICY)
    assert record.interval == 4 * DAY * TEACHING.get(verdict, 1.0)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_first_check_starts_with_the_first_interval(verdict: Verdict) -> None:
    record = page(interval=0.0)
    reschedule(record, verdict, NOW, POLICY)
    assert record.interval == POLICY.start


@pytest.mark.parametrize(
    ("failures", "expected"),
    [(1, HOUR / 2), (2, HOUR), (3, 2 * HOUR), (6, 16 * HOUR), (7, DAY), (50, DAY), (5_000, DAY)],
)
def test_failures_back_off_to_a_day(failures: int, expected: float) -> None:
    assert wait(page(failures=failures), Verdict.FAILED) == expected


def test_a_failure_waits_no_longer_than_the_interval() -> None:
    assert wait(page(failures=9, interval=6 * HOUR), Verdict.FAILED) == 6 * HOUR


@pytest.mark.parametrize(
    ("status", "verdict", "expected"),
    [
        (Status.LIVE, Verdict.REJECTED, DAY),
        (Status.LIVE, Verdict.UNCHANGED, 8 * DAY),
        (Status.LIVE, Verdict.CHANGED, 2 * DAY),
        (Status.LIVE, Verdict.ABSENT, 4 * DAY),
        (Status.EXCLUDED, Verdict.EXCLUDED, 4 * DAY),
        # a live page has its old status until the removal is published
        (Status.LIVE, Verdict.GONE, DAY),
        (Status.HIDDEN, Verdict.GONE, DAY),
        (Status.HIDDEN, Verdict.ABSENT, DAY),
        # gone is sticky
        (Status.GONE, Verdict.GONE, DUE_SHARE * 60 * DAY),
        (Status.GONE, Verdict.ABSENT, DUE_SHARE * 60 * DAY),
        (Status.GONE, Verdict.REJECTED, DUE_SHARE * 60 * DAY),
        (Status.GONE, Verdict.EXCLUDED, DUE_SHARE * 60 * DAY),
        # a page that comes back is watched like any other
        (Status.GONE, Verdict.CHANGED, 2 * DAY),
        (Status.HIDDEN, Verdict.CHANGED, 2 * DAY),
        (Status.GONE, Verdict.MOVED, 2 * DAY),
    ],
)
def test_wait_by_status_and_verdict(status: Status, verdict: Verdict, expected: float) -> None:
    assert wait(page(status=status), verdict) == expected


def test_a_new_version_of_a_gone_page_comes_due_within_its_interval() -> None:
    assert 2 * DAY <= wait(page(status=Status.GONE), Verdict.NEW) < 4 * DAY


def test_a_short_interval_beats_the_day_after_a_rejected_body() -> None:
    assert wait(page(interval=6 * HOUR), Verdict.REJECTED) == 6 * HOUR


@pytest.mark.parametrize(
    ("known_for", "expected"), [(0, 7), (1, 7), (8, 8), (20, 20), (40, 30), (400, 30)]
)
def test_a_page_that_is_gone_though_it_is_listed_is_asked_for_soon_again(
    known_for: float, expected: float
) -> None:
    record = page(status=Status.GONE)
    record.proofs = noted(record, Proof("not_found"), NOW - known_for * DAY, "run")
    for verdict in (Verdict.GONE, Verdict.EXCLUDED, Verdict.REJECTED):
        reschedule(record, verdict, NOW, POLICY, listed=True)
        assert record.next_due - NOW == expected * DAY
    record.failures = 30
    reschedule(record, Verdict.FAILED, NOW, POLICY, listed=True)
    assert record.next_due - NOW == expected * DAY
    reschedule(record, Verdict.GONE, NOW, SchedulePolicy(maximum=DAY), listed=True)
    assert record.next_due - NOW == DAY


def test_a_gone_page_on_a_dead_host_is_probed_ever_more_rarely() -> None:
    waits = [wait(page(status=Status.GONE, failures=n), Verdict.FAILED) for n in range(1, 20)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (HOUR / 2, DUE_SHARE * 60 * DAY)


def test_max_age_bounds_a_long_interval() -> None:
    assert wait(page(interval=30 * DAY), Verdict.UNCHANGED, SHORT) == DUE_SHARE * 7 * DAY


@given(st.text(st.characters(codec="utf-8")))
def test_spread_is_in_the_upper_half_and_of_the_key_alone(key: str) -> None:
    assert 0.5 <= spread(key) < 1.0
    assert spread(key) == spread(key)


def test_spread_is_the_same_in_every_process_and_even() -> None:
    assert spread("docs.example.com/a") == pytest.approx(0.934428312, abs=1e-8)
    values = sorted(spread(f"docs.example.com/{n}") for n in range(1_000))
    assert max(b - a for a, b in pairwise(values)) < 0.01
    assert values[500] == pytest.approx(0.75, abs=0.03)


def test_a_first_crawl_does_not_come_due_at_once() -> None:
    waits = set()
    for n in range(100):
        record = PageRecord(f"docs.example.com/{n}", "https://docs.example.com/")
        waits.add(wait(record, Verdict.NEW))
    assert len(waits) == 100
    assert POLICY.start / 2 <= min(waits) < max(waits) < POLICY.start


@pytest.mark.parametrize(
    ("next_due", "last_attempt", "due"),
    [
        (0.0, 0.0, True),
        (NOW, NOW - DAY, True),
        (NOW - 1, NOW - DAY, True),
        (NOW + 1, NOW - DAY, False),
        (NOW + 60 * DAY, NOW, False),
        # max_age holds whatever was stored
        (NOW + 60 * DAY, NOW - 61 * DAY, True),
        (NOW + 60 * DAY, NOW - DUE_SHARE * 60 * DAY, True),
        (NOW + 60 * DAY, NOW - DUE_SHARE * 60 * DAY + 1, False),
        # the clock was set back: by less than a day it does not matter
        (NOW + 2 * DAY, NOW + DAY / 2, False),
        (NOW + 400 * DAY, NOW + 365 * DAY, True),
    ],
)
def test_is_due(next_due: float, last_attempt: float, due: bool) -> None:
    record = page(next_due=next_due, last_attempt=last_attempt)
    assert is_due(record, None, POLICY, NOW) is due


def test_a_clock_that_was_set_back_makes_pages_due_once() -> None:
    record = page(last_attempt=NOW + 365 * DAY, next_due=NOW + 369 * DAY)
    assert is_due(record, None, POLICY, NOW)
    record.last_attempt = NOW
    reschedule(record, Verdict.UNCHANGED, NOW, POLICY)
    assert not is_due(record, None, POLICY, NOW)
    assert is_due(record, None, POLICY, NOW + 8 * DAY)


@pytest.mark.parametrize("max_age", [DAY, 12 * HOUR, 7 * DAY])
def test_an_hourly_timer_looks_at_each_page_before_it_is_stale(max_age: float) -> None:
    policy = SchedulePolicy(max_age=max_age)
    record = page(interval=30 * DAY, last_checked=NOW, last_attempt=NOW)
    reschedule(record, Verdict.UNCHANGED, NOW, policy)
    ages = []
    for hours in range(1, 24 * 21):
        now = NOW + hours * HOUR
        ages.append(now - record.last_checked)
        assert not stale_reason(record, now, max_age)
        if is_due(record, None, policy, now):
            record.last_checked = record.last_attempt = now
            reschedule(record, Verdict.UNCHANGED, now, policy)
    assert max(ages) >= DUE_SHARE * max_age, "not sooner than needed"


@pytest.mark.parametrize(
    ("held_hours_ago", "values", "needed"),
    [
        ([1], {}, False),
        ([30, 11], {}, False),
        ([30, 12], {}, True),
        ([13], {"next_due": NOW + DAY}, True),
        ([], {}, True),
        # a check that failed confirms nothing: it backs off like any other
        ([13], {"next_due": NOW + DAY, "failures": 1}, False),
        ([13], {"next_due": NOW - 1, "failures": 1}, True),
        ([2], {"next_due": NOW - 1}, True),
        ([13], {"left_out": True}, False),
    ],
)
def test_held_work_is_looked_at_by_every_run_and_is_reason_for_one_when_that_can_confirm_it(
    held_hours_ago: list[float], values: dict[str, object], *, needed: bool
) -> None:
    found_at = [NOW - hours * HOUR for hours in held_hours_ago]
    staged = Staged("k", "u", Status.GONE, "gone", NOW, held="removals", held_runs=found_at)
    record = page(**{"last_attempt": NOW, "next_due": NOW + 9 * DAY, **values})
    policy = SchedulePolicy()
    assert is_due(record, staged, policy, NOW) != record.left_out
    assert needs_run(record, staged, policy, NOW) is needed
    staged.held = ""
    plainly_due = record.next_due <= NOW
    assert is_due(record, staged, policy, NOW) is plainly_due, "only what is held"
    assert needs_run(record, staged, policy, NOW) is plainly_due


@pytest.mark.parametrize(
    ("verdict", "since", "interval"),
    [
        ("unchanged", 60.0, DAY),
        ("unchanged", 0.49 * DAY, DAY),
        ("unchanged", 0.5 * DAY, 2 * DAY),
        ("unchanged", 9 * DAY, 2 * DAY),
        ("changed", 60.0, DAY / 2),
    ],
)
def test_a_check_soon_after_another_does_not_prove_that_a_page_is_stable(
    verdict: str, since: float, interval: float
) -> None:
    record = PageRecord("k", "u", interval=DAY)
    reschedule(record, verdict, 1e9, SchedulePolicy(), since=since)
    assert record.interval == interval


def test_a_page_that_is_left_out_is_never_due() -> None:
    record = PageRecord("k", "u", left_out=True)
    assert not is_due(record, None, SchedulePolicy(), 1e9)
