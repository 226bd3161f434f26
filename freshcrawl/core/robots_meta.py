"""What robots metas and ``X-Robots-Tag`` headers say."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from freshcrawl.core.dates import parse_lastmod

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = "freshcrawl"
"""Product token of the user agent, where the settings have no other."""
UNAVAILABLE = "unavailable_after"
_AGENT = re.compile(
    r"\s*(?!unavailable_after\b|max-(?:snippet|image-preview|video-preview)\b)"
    r"([a-z0-9_*-]+)\s*:(.*)",
    re.DOTALL,
)
"""``otherbot: value``; the rules that take a value look the same but name nobody."""


def says_noindex(robots: str, agent: str = OURS, now: float = 0.0) -> bool:
    """Tell whether robots meta or header values keep a page out of every index."""
    return bool(barring(robots, agent, now))


def barring(robots: str, agent: str = OURS, now: float = 0.0) -> str:
    """Return the value that keeps a page out of every index, "" if none does.

    That is ``noindex``, ``none``, and ``unavailable_after`` with a date before ``now`` (epoch
    seconds). One line is one header or meta. Values for a named agent (``otherbot: noindex``),
    up to the line's end or another agent, count only if it is ours; case does not count.
    """
    for line in robots.lower().splitlines():
        for named, value in _values(line):
            past = value.startswith(UNAVAILABLE) and _is_past(value, now)
            if named in {"", "*", agent.lower()} and (past or value in {"noindex", "none"}):
                return value
    return ""


def _values(line: str) -> Iterator[tuple[str, str]]:
    """Yield each value of a line with the agent that it is for; a date keeps its comma."""
    named, parts = "", line.split(",")
    while parts:
        value = parts.pop(0)
        if match := _AGENT.match(value):
            named, value = match.groups()
        value = value.strip()
        if value.startswith(UNAVAILABLE) and not re.search(r"\d", value) and parts:
            value += f",{parts.pop(0)}"  # the name of the day
        yield named, value


def _is_past(value: str, now: float) -> bool:
    """Tell whether the date of ``unavailable_after: date`` is over; one that is none is not."""
    date = value.removeprefix(UNAVAILABLE).strip().removeprefix(":").strip()
    moment = parse_lastmod(date)
    if moment is None:
        try:
            parsed = parsedate_to_datetime(date)
            moment = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            return False
    return moment < now


def product_token(user_agent: str) -> str:
    """Return by what name a user agent is addressed: ``bot`` of ``bot/1.0 (words)``."""
    match = re.match(r"[A-Za-z0-9_-]+", user_agent.strip())
    return match[0].lower() if match else OURS
