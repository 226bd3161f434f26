"""Dates as sitemaps and feeds write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

_W3C_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?"
    r" ?(Z|[+-]\d\d:?\d\d)?)?)?)?",
    re.IGNORECASE | re.ASCII,
)
_RFC822_DATE = re.compile(r"\d{1,2} [A-Za-z]{3} \d{2,4} \d")


def parse_lastmod(text: str) -> float | None:
    """Return a W3C or RFC 822 date as seconds since the epoch; None if it is neither.

    What is left out counts as its first moment; no zone means UTC.
    """
    text = text.strip()
    try:
        if match := _W3C_DATE.fullmatch(text):
            return _w3c_time(*match.groups())
        if _RFC822_DATE.search(text):
            parsed = parsedate_to_datetime(text)
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        pass
    return None


def _w3c_time(*parts: str | None) -> float:
    *numbers, fraction, zone = parts
    year, month, day, hour, minute, second = (int(part or 0) for part in numbers)
    moment = datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=_zone(zone or "Z"))
    return moment.timestamp() + float(f"0.{fraction or 0}")


def _zone(text: str) -> timezone:
    if text in {"Z", "z"}:
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)
