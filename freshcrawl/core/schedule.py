"""When to look at a page again. Times and intervals are seconds."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshcrawl.core.pages import DEAD, PageRecord, Status, Verdict
from freshcrawl.core.proofs import first_found

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged

HOUR = 3_600.0
DAY = 86_400.0
CHANGES = frozenset({Verdict.CHANGED, Verdict.LINKS_ONLY, Verdict.MOVED})
WEEK, MONTH = 7 * DAY, 30 * DAY
"""Least and longest wait for a page that is gone although a source lists it."""
DUE_SHARE = 0.9
"""Share of ``max_age`` after which a page is due: the rest is for the timer to come round."""
LESSONS = CHANGES | {Verdict.UNCHANGED, Verdict.COSMETIC}


@dataclass(frozen=True, slots=True)
class SchedulePolicy:
    """Bounds of the ``halve_double`` rule, and the wait before held work is confirmed."""

    start: float = 3 * DAY
    minimum: float = 6 * HOUR
    maximum: float = 60 * DAY
    max_age: float = 60 * DAY
    confirm: float = 12 * HOUR


def halve_double(interval: float, changed: bool, policy: SchedulePolicy) -> float:
    """Return the next interval: half after a change, double without one, within the bounds."""
    factor = 0.5 if changed else 2.0
    return min(max(interval * factor, policy.minimum), policy.maximum)


def reschedule(
    record: PageRecord,
    verdict: str,
    now: float,
    policy: SchedulePolicy,
    *,
    since: float = math.inf,
    listed: bool = False,
) -> None:
    """Set ``interval`` and ``next_due`` of a page that was looked at just now.

    Only verdicts on content teach the interval, and that a page has not changed
    only if it had the time to: ``since`` is how long ago the check before was,
    in seconds. ``listed`` says that a source lists the page. ``next_due`` is always
    later than ``now`` and not later than ``DUE_SHARE`` of ``max_age`` from now.
    """
    if record.interval <= 0:
        record.interval = policy.start
    elif verdict in CHANGES or (verdict in LESSONS and since >= record.interval / 2):
        record.interval = halve_double(record.interval, verdict in CHANGES, policy)
    gone_wait = _gone_wait(record, now) if listed else math.inf
    wait = _wait(record, verdict, policy, min(gone_wait, policy.maximum))
    record.next_due = now + min(max(wait, 1.0), DUE_SHARE * policy.max_age)


def _gone_wait(record: PageRecord, now: float) -> float:
    """Return the wait for a page that is gone and listed: as long as it is known to be dead.

    It may be back, and where it is a hub, its pages are not listed until it is read again.
    """
    since = first_found(record, DEAD) or now
    return min(max(now - since, WEEK), MONTH)


def _wait(record: PageRecord, verdict: str, policy: SchedulePolicy, gone_wait: float) -> float:
    if verdict == Verdict.NEW:
        return record.interval * spread(record.key)
    if verdict in LESSONS:
        return record.interval
    gone = record.status == Status.GONE
    if verdict == Verdict.FAILED:
        longest = gone_wait if gone else min(record.interval, DAY)
        return min(HOUR / 4 * 2.0 ** min(record.failures, 16), longest)
    if gone:
        return gone_wait
    # A live page has its old status until the removal is published: it is confirmed soon.
    if verdict in {Verdict.REJECTED, Verdict.GONE} or record.status == Status.HIDDEN:
        return min(record.interval, DAY)
    return record.interval


def spread(key: str) -> float:
    """Return a number in [0.5, 1) of the key, so that a first crawl does not come due at once."""
    digest = hashlib.sha256(key.encode()).digest()
    return 0.5 + int.from_bytes(digest[:4], "big") / 2**33


def due_at(record: PageRecord, staged: Staged | None, policy: SchedulePolicy) -> float:
    """Return when a page is due.

    A page with work that a guard holds is due in every run, so that none leaves that as it was
    without a newer look. ``max_age`` holds whatever was stored (the setting may have been lowered
    since).
    """
    if staged is not None and staged.held:
        return 0.0
    return min(record.next_due, record.last_attempt + DUE_SHARE * policy.max_age)


def is_due(record: PageRecord, staged: Staged | None, policy: SchedulePolicy, now: float) -> bool:
    """Tell whether a page should be fetched by a run now; the only answer to that question.

    ``staged`` is the page's staged work, if there is any. A due date that was set more
    than a day in the future (the clock was set back since) is not believed.
    """
    if record.left_out:
        return False
    return due_at(record, staged, policy) <= now or record.last_attempt > now + DAY


def needs_run(
    record: PageRecord, staged: Staged | None, policy: SchedulePolicy, now: float
) -> bool:
    """Tell whether a page is reason enough for a run.

    Every run looks at what is held; but none has to begin for that before it can confirm it, nor
    before a page that failed is to be tried again.
    """
    if staged is None or not staged.held or record.failures:
        return is_due(record, None, policy, now)
    at = staged.held_runs[-1] + policy.confirm if staged.held_runs else 0.0
    return not record.left_out and (at <= now or is_due(record, None, policy, now))
