"""Which pages are stale, which always change, and what a full recrawl would weigh."""

from __future__ import annotations

from typing import Any

import pytest

from freshcrawl.core.freshness import (
    CHANGING_KEPT,
    CHURN_RUNS,
    NEWER_TEXT,
    all_bytes,
    changing,
    doubt,
    is_changing,
    is_decided,
    stale_reason,
    stale_reasons,
)
from freshcrawl.core.pages import PageRecord, Status, Verdict

NOW, MAX_AGE = 1_000_000.0, 7_200.0
TOO_OLD = "not checked for longer than max_age (2 h)"


def record(key: str = "k", **values: Any) -> PageRecord:
    return PageRecord(
        key, f"u/{key}", **{"status": Status.LIVE, "last_checked": NOW - 10, **values}
    )


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({}, ""),
        ({"last_checked": NOW - MAX_AGE}, ""),
        ({"last_checked": NOW - MAX_AGE - 1}, TOO_OLD),
        ({"failures": 1, "reason": "HTTP 503"}, "HTTP 503"),
        ({"failures": 9, "reason": "HTTP 503", "last_checked": 0.0}, "HTTP 503"),
        ({"last_verdict": Verdict.GONE, "reason": "410"}, "410"),
        ({"newer_since": NOW - 5}, NEWER_TEXT),
        ({"newer_since": NOW - 5, "failures": 1, "reason": "HTTP 503"}, "HTTP 503"),
        ({"newer_since": NOW - 5, "last_checked": 0.0}, TOO_OLD),
        ({"newer_since": NOW - 5, "status": Status.HIDDEN}, ""),
        ({"status": Status.HIDDEN, "failures": 1, "reason": "HTTP 503"}, ""),
        ({"status": Status.PENDING, "last_checked": 0.0}, ""),
    ],
)
def test_why_a_page_is_stale(values: dict[str, Any], reason: str) -> None:
    assert stale_reason(record(**values), NOW, MAX_AGE) == reason


def test_an_answer_without_a_record_is_in_doubt_as_one_whose_page_was_never_checked() -> None:
    assert doubt(None, NOW, MAX_AGE) == doubt(record(last_checked=0.0), NOW, MAX_AGE) == TOO_OLD


@pytest.mark.parametrize(
    ("values", "decided"),
    [
        ({}, False),
        ({"failures": 1}, False),
        ({"discarded": {"status": "live"}}, True),
        ({"discarded": {"status": "live"}, "failures": 1}, False),
        ({"last_verdict": Verdict.EXCLUDED}, True),
        ({"last_verdict": Verdict.EXCLUDED, "failures": 1}, False),
        ({"last_verdict": Verdict.EXCLUDED, "status": Status.HIDDEN}, False),
        ({"last_verdict": Verdict.REJECTED}, False),
        ({"left_out": True}, True),
        ({"newer_since": NOW - MAX_AGE}, True),
        ({"newer_since": NOW - MAX_AGE - 1}, False),
        ({"newer_since": NOW, "failures": 1}, False),
        ({"newer_since": NOW, "last_checked": NOW - MAX_AGE - 1}, False),
    ],
)
def test_whether_somebody_wants_a_stale_page_so(values: dict[str, Any], decided: bool) -> None:
    assert is_decided(record(**values), NOW, MAX_AGE) == decided


def test_reasons_are_counted_the_most_frequent_first() -> None:
    pages = [
        record(failures=1, reason="TimeoutError"),
        *(record(failures=1, reason="HTTP 503") for _ in range(2)),
        record(),
    ]
    assert list(stale_reasons(pages, NOW, MAX_AGE).items()) == [
        ("HTTP 503", 2),
        ("TimeoutError", 1),
    ]
    assert stale_reasons([record()], NOW, MAX_AGE) == {}


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"churn": CHURN_RUNS - 1}, False),
        ({"churn": CHURN_RUNS}, True),
        ({"churn": CHURN_RUNS, "status": Status.GONE}, False),
    ],
)
def test_pages_that_change_at_every_check(values: dict[str, Any], found: bool) -> None:
    assert is_changing(record(**values)) is found


def test_the_longest_runs_come_first_and_only_some() -> None:
    pages = [record(f"p{n:02}", churn=n, difference={"tokens": [["1", "2"]]}) for n in range(20)]
    found = changing(pages)
    assert found[0] == {"url": "u/p19", "runs": 19, "tokens": [["1", "2"]]}
    assert [page["runs"] for page in found] == list(range(19, 19 - CHANGING_KEPT, -1))


@pytest.mark.parametrize(
    ("sizes", "total"),
    [([], 0), ([10, 20], 30), ([10, 20, -1], 45), ([-1, -1], 0), ([0, -1], 0), ([1, 2, -1], 4)],
)
def test_sizes_that_are_not_known_count_as_the_mean(sizes: list[int], total: int) -> None:
    assert all_bytes(sizes) == total
