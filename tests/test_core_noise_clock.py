"""Written times: which moment they name, and whether they move with the clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from freshcrawl.core.noise_clock import agree, follows_clock, span_of

HOUR, DAY = 3_600.0, 86_400.0
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()  # a Monday


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30", True),
        ("2026-11-29", True),
        ("2026-12-01", True),
        ("2026-11-28", False),
        ("2026-12-02", False),
        ("2025-11-30", False),
        ("2026-11-30T23:00:00Z", True),
        ("2026-11-28 10:00", False),
        ("Monday, November 30, 2026", True),
        ("30 Nov", True),
        ("30 Oct", False),
        ("30/11/2026", True),
        ("11/30/26", True),
        ("30.11.2026", True),
        ("Mon Nov 30 08:26:01 UTC 2026", True),
        ("Mon Nov 23 08:26:01 UTC 2026", False),
        ("31 Feb 2026", False),
        ("12:00", False),
        ("3 days ago", False),
        ("November 2026", False),
    ],
)
def test_follows_clock(text: str, expected: bool) -> None:
    assert follows_clock(text, NOON) is expected


@pytest.mark.parametrize(
    ("text", "earliest", "latest"),
    [
        ("3 days ago", NOON - 4 * DAY, NOON - 2 * DAY),
        ("an hour ago", NOON - 2 * HOUR, NOON),
        ("yesterday", NOON - 2 * DAY, NOON),
        ("just now", NOON - 0.05 * DAY, NOON),
        ("last week", NOON - 14 * DAY, NOON),
        ("2026-11-30 11:00", NOON - HOUR, NOON - HOUR),
        ("Nov 30, 2026 1:30 pm", NOON + 1.5 * HOUR, NOON + 1.5 * HOUR),
    ],
)
def test_span(text: str, earliest: float, latest: float) -> None:
    assert span_of(text, NOON) == (earliest, latest)


@pytest.mark.parametrize(
    ("old", "new", "later", "expected"),
    [
        ("3 days ago", "5 days ago", 2 * DAY, True),
        ("3 days ago", "2 weeks ago", 12 * DAY, True),
        ("3 days ago", "1 hour ago", 2 * DAY, False),
        ("yesterday", "Nov 29, 2026", 9 * DAY, True),
        ("yesterday", "Nov 25, 2026", 9 * DAY, False),
        ("10:00", "10:01", DAY + 60, True),
        ("10:00", "11:00", HOUR, True),
        ("10:00", "11:00", DAY, False),
        ("Monday", "Tuesday", DAY, True),
        ("Monday", "Friday", DAY, False),
        ("Monday", "10:00", DAY, False),
        ("2026-11-30", "2026-12-01", DAY, False),
    ],
)
def test_agree(old: str, new: str, later: float, expected: bool) -> None:
    assert agree(old, NOON, new, NOON + later) is expected
