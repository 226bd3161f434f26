"""What a written time says, and whether it moves with the clock. Times are epoch seconds, UTC.

A time that is noise is nearly always the time of the fetch, or a time of the past told from the
fetch ("3 days ago"). Both can be known from the fetch, so that they are not taken for an edit.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from freshcrawl.core.noise_tokens import CLOCK, MONTH, UNITS

DAY = 86_400.0
LATEST = 37 * 3_600.0
"""How long ago a time that moves with the clock may be: a day that is over in all time zones, a
nightly build in any of them, and copies of an hour. A day counts from its start in UTC."""
DRIFT = 300.0
"""How far a clock may be from where it was when the published version was fetched."""
_ZONES = 14 * 3_600.0
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SECONDS = {
    **dict.fromkeys(("second", "sec"), 1.0),
    **dict.fromkeys(("minute", "min"), 60.0),
    **dict.fromkeys(("hour", "hr"), 3_600.0),
    "day": DAY,
    "week": 7 * DAY,
    "month": 30.5 * DAY,
    "year": 365.25 * DAY,
}
_AGO = re.compile(rf"(\d+|an?|one|a few|few)\s({UNITS})s?\sago")
_LAST = re.compile(r"last (week|month|year)")
_ISO = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
_NUMERIC = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4}|\d{2})")
_DAY_MONTH = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?[ -]({MONTH})(?:,?[ -](\d{{4}}))?")
_MONTH_DAY = re.compile(
    rf"({MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?(?:(?:,?\s|\s\d\d:\S+(?:\s[A-Z]+)?\s)(\d{{4}}))?"
)
_TIME = re.compile(rf"({CLOCK})\s?([AaPp])?")
Span = tuple[float, float]


def is_relative(text: str) -> bool:
    """Tell a time that is told from now on, such as ``3 days ago``."""
    return _told(text.lower(), 0.0) is not None


def span_of(text: str, at: float) -> Span | None:
    """Return from when to when the moment can have been that ``text`` named at ``at``.

    None for what names none by itself: a time of day, a weekday, a month.
    """
    return _told(text.lower(), at) or _dated(text, at)


def follows_clock(text: str, at: float) -> bool:
    """Tell a date that is that of the fetch at ``at``, but for time zones, caches and builds."""
    span = _dated(text, at)
    return span is not None and span[0] - _ZONES <= at <= span[0] + LATEST


def agree(old: str, old_at: float, new: str, new_at: float) -> bool:
    """Tell whether two times, each as of its fetch, are one moment or one running clock."""
    if is_relative(old) or is_relative(new):
        one, other = span_of(old, old_at), span_of(new, new_at)
        slack = 0.0 if is_relative(old) and is_relative(new) else _ZONES
        return one is not None and other is not None and meet(one, other, slack=slack)
    if _dated(old, old_at) or _dated(new, new_at):
        return False
    return _run_alike(_ahead(old, old_at), _ahead(new, new_at))


def meet(one: Span, other: Span, *, slack: float = 0.0) -> bool:
    """Tell whether two spans have a moment in common."""
    return one[0] - slack <= other[1] and other[0] - slack <= one[1]


def _told(text: str, at: float) -> Span | None:
    """Return the span of a relative time."""
    if found := _AGO.search(text):
        unit = _SECONDS[found[2]]
        if found[1].endswith("few"):
            return at - 10 * unit, at - unit
        number = int(found[1]) if found[1].isdecimal() else 1
        return at - (number + 1) * unit, at - (number - 1) * unit
    if found := _LAST.search(text):
        unit = _SECONDS[found[1]]
        return at - 2 * unit, at
    for word, span in (("now", (0.05, 0.0)), ("moments", (0.05, 0.0)), ("yesterday", (2.0, 0.0))):
        if word in text:
            return at - span[0] * DAY, at - span[1] * DAY
    return (at - DAY, at + DAY) if "today" in text or "tomorrow" in text else None


def _dated(text: str, at: float) -> Span | None:
    """Return the span of a time with a date, as if in UTC; of the days it may be, the nearest."""
    days = [day for day in _days(text, at) if day is not None]
    if not days:
        return None
    start = min((day.timestamp() for day in days), key=lambda t: abs(t + DAY / 2 - at))
    clock = _seconds(text)
    return (start, start + DAY) if clock is None else (start + clock, start + clock)


def _days(text: str, at: float) -> list[datetime | None]:
    if found := _ISO.search(text):
        return [_date(int(found[1]), int(found[2]), int(found[3]))]
    if found := _NUMERIC.search(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        year += 2000 if year < 100 else 0
        either = [_date(year, second, first)]
        return either if found[2] == "." else [*either, _date(year, first, second)]
    if found := _DAY_MONTH.search(text):
        return _named(found[3], found[2], found[1], at)
    if found := _MONTH_DAY.search(text):
        return _named(found[3], found[1], found[2], at)
    return []


def _named(year: str | None, month: str, day: str, at: float) -> list[datetime | None]:
    now = datetime.fromtimestamp(at, UTC).year
    years = [int(year)] if year else [now - 1, now, now + 1]
    number = _MONTHS.index(month[:3].lower()) + 1
    return [_date(y, number, int(day)) for y in years]


def _date(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _seconds(text: str) -> float | None:
    """Return the time of day in seconds."""
    found = _TIME.search(text)
    if found is None:
        return None
    hours, minutes, *rest = re.split("[:,.]", found[1])
    hour = int(hours)
    if found[2]:
        hour = hour % 12 + (12 if found[2].lower() == "p" else 0)
    return hour * 3_600.0 + int(minutes) * 60 + (int(rest[0]) if rest else 0)


def _ahead(text: str, at: float) -> Span | None:
    """Return by how much a clock is ahead of UTC and its length of turn, both in seconds."""
    clock = _seconds(text)
    if clock is not None:
        return (clock - at) % DAY, DAY
    if text[:3].lower() in _WEEKDAYS:
        today = datetime.fromtimestamp(at, UTC).weekday()
        return (_WEEKDAYS.index(text[:3].lower()) - today) % 7 * DAY, 7 * DAY
    return None


def _run_alike(one: Span | None, other: Span | None) -> bool:
    if one is None or other is None or one[1] != other[1]:
        return False
    apart = (one[0] - other[0]) % one[1]
    return min(apart, one[1] - apart) <= DRIFT
