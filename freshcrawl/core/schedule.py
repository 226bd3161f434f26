"""When to look at a page again. Times and intervals are seconds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from freshcrawl.core.pages import PageRecord, Status, Verdict

HOUR = 3_600.0
DAY = 86_400.0
CHANGES = frozenset({Verdict.CHANGED, Verdict.LINKS_ONLY, Verdict.MOVED})
LESSONS = CHANGES | {Verdict.UNCHANGED, Verdict.COSMETIC}


@dataclass(frozen=True, slots=True)
class SchedulePolicy:
    """Bounds of the ``halve_double`` rule."""

    start: float = 3 * DAY
    minimum: float = 6 * HOUR
    maximum: float = 60 * DAY
    max_age: float = 60 * DAY


def halve_double(interval: float, changed: bool, policy: SchedulePolicy) -> float:
    """Return the next interval: half after a change, double without one, within the bounds."""
    factor = 0.5 if changed else 2.0
    return min(max(interval * factor, policy.minimum), policy.maximum)


def reschedule(record: PageRecord, verdict: str, now: float, policy: SchedulePolicy) -> None:
    """Set ``interval`` and ``next_due`` of a page that was looked at just now.

    Only verdicts on content teach the interval. ``next_due`` is always later
    than ``now`` and not later than ``now + max_age``.
    """
    if record.interval <= 0:
        record.interval = policy.start
    elif verdict in LESSONS:
        record.interval = halve_double(record.interval, verdict in CHANGES, policy)
    wait = _wait(record, verdict, policy)
    record.next_due = now + min(max(wait, 1.0), policy.max_age)


def _wait(record: PageRecord, verdict: str, policy: SchedulePolicy) -> float:
    if verdict == Verdict.NEW:
        return record.interval * spread(record.key)
    if verdict in LESSONS:
        return record.interval
    gone = record.status == Status.GONE
    if verdict == Verdict.FAILED:
        longest = policy.maximum if gone else min(record.interval, DAY)
        return min(HOUR / 4 * 2.0 ** min(record.failures, 16), longest)
    if gone:
        return policy.maximum
    # A live page has its old status until the removal is published: it is confirmed soon.
    if verdict in {Verdict.REJECTED, Verdict.GONE} or record.status == Status.HIDDEN:
        return min(record.interval, DAY)
    return record.interval


def spread(key: str) -> float:
    """Return a number in [0.5, 1) of the key, so that a first crawl does not come due at once."""
    digest = hashlib.sha256(key.encode()).digest()
    return 0.5 + int.from_bytes(digest[:4], "big") / 2**33


def is_due(record: PageRecord, now: float, max_age: float) -> bool:
    """Tell whether a page should be fetched now.

    ``max_age`` holds whatever was stored (the setting may have been lowered
    since). A due date that was set more than a day in the future (the clock
    was set back since) is not believed.
    """
    due = min(record.next_due, record.last_attempt + max_age)
    return due <= now or record.last_attempt > now + DAY
