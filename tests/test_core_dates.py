"""Dates of sitemaps and feeds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from freshcrawl.core.dates import parse_lastmod


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026", (2026, 1, 1)),
        ("2026-05", (2026, 5, 1)),
        ("2026-05-01", (2026, 5, 1)),
        (" 2026-05-01\n", (2026, 5, 1)),
        ("2026-05-01T10:00", (2026, 5, 1, 10)),
        ("2026-05-01T10:00Z", (2026, 5, 1, 10)),
        ("2026-05-01T10:20:30", (2026, 5, 1, 10, 20, 30)),
        ("2026-05-01 10:20:30", (2026, 5, 1, 10, 20, 30)),
        ("2026-05-01t10:20:30z", (2026, 5, 1, 10, 20, 30)),
        ("2026-05-01T10:00:00.123Z", (2026, 5, 1, 10, 0, 0, 123000)),
        ("2026-05-01T10:00:00.123456789+00:00", (2026, 5, 1, 10, 0, 0, 123456)),
        ("2026-05-01T10:00:00+02:00", (2026, 5, 1, 8)),
        ("2026-05-01T10:00:00-0530", (2026, 5, 1, 15, 30)),
        ("2026-05-01T10:00:00-00:00", (2026, 5, 1, 10)),
        ("2026-05-01 10:00:00 +02:00", (2026, 5, 1, 8)),
        ("Wed, 02 Oct 2002 13:00:00 GMT", (2002, 10, 2, 13)),
        ("Wed, 02 Oct 2002 15:00:00 +0200", (2002, 10, 2, 13)),
        ("2 Oct 2002 13:00:00 -0000", (2002, 10, 2, 13)),
    ],
)
def test_parse_lastmod(text: str, moment: tuple[int, ...]) -> None:
    expected = datetime(*moment, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]
    assert parse_lastmod(text) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        *("", "not-a-date", "Invalid Date", "0000-01-01", "2026-13-01", "2026-02-30"),
        *("2026-05-01T25:00:00Z", "2026-05-01T10:00:00+99:00", "20260501", "01/02/2026"),
        *("2026-05-01T", "Wed, 99 Oct 2002 13:00:00 GMT", "1 Jan 2002", "٢٠٢٦-05-01"),
        "1 Xxx 2002 10:00",
    ],
)
def test_unparsable_date_is_none(text: str) -> None:
    assert parse_lastmod(text) is None
