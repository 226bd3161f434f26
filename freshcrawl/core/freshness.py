"""Which pages may be out of date, and which change at every check."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from freshcrawl.core import discards
from freshcrawl.core.pages import PageRecord, Status, Verdict
from freshcrawl.core.words import ago

if TYPE_CHECKING:
    from collections.abc import Iterable

CHURN_RUNS = 3
"""Checks in a row that must find another text before a page counts as always changing."""
CHANGING_KEPT = 10
NEWER_TEXT = "a newer text was found and waits to be published"


def doubt(record: PageRecord | None, now: float, max_age: float) -> str:
    """Return why a published text may be out of date, "" if it is not; None: nothing is known."""
    if record is not None and (why := discards.words(record.discarded) or record.stale_reason):
        return why
    checked = record.last_checked if record else 0.0
    if now - checked > max_age:
        return f"not checked for longer than max_age ({ago(max_age)})"
    return NEWER_TEXT if record is not None and record.newer_since else ""


def stale_reason(record: PageRecord, now: float, max_age: float) -> str:
    """Return why the published text of a page may be out of date, "" if it is not published."""
    return doubt(record, now, max_age) if record.status == Status.LIVE else ""


def stale_reasons(records: Iterable[PageRecord], now: float, max_age: float) -> dict[str, int]:
    """Return how many pages are stale for each reason, the most frequent first."""
    count = Counter(stale_reason(record, now, max_age) for record in records)
    del count[""]
    return dict(count.most_common())


def is_decided(record: PageRecord, now: float, max_age: float) -> bool:
    """Tell a page that is stale as somebody wants it so: a person, the site's table, a budget.

    Nobody needs to be told of those again and again. A newer text that waits is told of by what
    it waits for (a guard, ``scrapy embed``), until it has waited for longer than ``max_age``.
    """
    stands = record.status == Status.LIVE and not record.failures
    kept_by_policy = record.last_verdict == Verdict.EXCLUDED or record.left_out
    waits = stale_reason(record, now, max_age) == NEWER_TEXT and now - record.newer_since <= max_age
    return stands and (bool(record.discarded) or kept_by_policy or waits)


def is_changing(record: PageRecord) -> bool:
    """Tell whether a live page changed at each of its last checks."""
    return record.status == Status.LIVE and record.churn >= CHURN_RUNS


def changing(records: Iterable[PageRecord]) -> list[dict[str, Any]]:
    """Return ``url``, ``runs`` in a row and ``tokens`` of the pages that change at every check.

    ``tokens`` are pairs ``[old words, new words]``. The longest runs come first, ten at most.
    """
    found = sorted(filter(is_changing, records), key=lambda r: (-r.churn, r.key))
    return [
        {"url": record.url, "runs": record.churn, "tokens": record.difference_tokens}
        for record in found[:CHANGING_KEPT]
    ]


def all_bytes(sizes: Iterable[int]) -> int:
    """Return the sum of the sizes of pages; one that is not known (-1) counts as their mean."""
    given = list(sizes)
    known = [size for size in given if size >= 0]
    return round(sum(known) / len(known) * len(given)) if known else 0
