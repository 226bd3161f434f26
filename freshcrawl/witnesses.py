"""Pages that are asked to see whether what befell others befell all of the site.

A page whose text is another one altogether was written anew, or something stands in front of
it; one that is marked noindex or redirects is to leave, or the whole site was set up wrong.
Where few pages of a run answer, those alone cannot tell; two that are not due can, for the
price of a 304 each if all is well.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from freshcrawl.core.pages import REDIRECTED, Cause, Status, Verdict
from freshcrawl.core.simhash import hamming
from freshcrawl.entering import groups

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

WITNESSES = 2
OTHER_BITS = 14
"""Simhash bits in which texts differ that have next to nothing in common; half of 64 by chance."""
COMMON = REDIRECTED | {Cause.NOINDEX, Cause.ROBOTS}
"""Causes by which one mistake of a site takes many pages away."""
ITSELF = frozenset({Verdict.UNCHANGED, Verdict.COSMETIC, Verdict.LINKS_ONLY})


def is_other_text(run: Run, entry: Staged) -> bool:
    """Tell whether staged work replaces a published text by one that is not like it at all."""
    published = run.ledger.published.get(entry.key)
    return (
        published is not None
        and published.status == Status.LIVE
        and entry.verdict == Verdict.CHANGED
        and hamming(published.simhash, entry.simhash) >= OTHER_BITS
    )


def leaves(run: Run, entry: Staged) -> bool:
    """Tell whether staged work takes a live page away for what may be a mistake of the site."""
    leaving = entry.status != Status.LIVE and entry.cause in COMMON
    return leaving and run.ledger.is_live(entry.key)


def stood(run: Run) -> set[str]:
    """Return the live pages that answered in this run as what they are."""
    since = run.report.started_at
    found = set()
    for key in run.handled:
        record = run.ledger.pages.get(key)
        if record is None or record.last_attempt < since or not run.ledger.is_live(key):
            continue
        entry = run.ledger.staged.get(key)
        edited = entry is not None and record.last_verdict == Verdict.CHANGED
        if record.last_verdict in ITSELF or (entry and edited and not is_other_text(run, entry)):
            found.add(key)
    return found


def stood_at(run: Run) -> list[float]:
    """Return when each of those answered, the last first (epoch seconds)."""
    return sorted((run.ledger.pages[key].last_attempt for key in stood(run)), reverse=True)


def to_ask(run: Run) -> list[str]:
    """Return the pages to ask, once a run: near to what changed, and whatever their due time."""
    if run.witnesses:
        return []
    # What an earlier run found waits to be published; it was judged then.
    found = (e for e in run.ledger.staged.values() if e.run_id == run.report.run_id and not e.held)
    changed = [e.key for e in found if is_other_text(run, e) or leaves(run, e)]
    times = stood_at(run)
    changed = changed if changed and len(times) < WITNESSES else _entering(run, times)
    if not changed:
        return []
    near = min(changed)
    fit = [
        key
        for key in run.ledger.live_keys()
        if key not in run.handled and not run.ledger.pages[key].left_out
    ]
    fit.sort(key=lambda key: (-_common(key, near), _draw(run, key)))
    run.witnesses.update(fit[:WITNESSES])
    return sorted(run.witnesses)


def _entering(run: Run, times: list[float]) -> list[str]:
    """Return pages that are to enter the answers while nothing says that the site is itself.

    ``times`` are those of ``stood_at``. For several pages with one text, only what was said after
    the first of them was read counts.
    """
    found = []
    for entries in groups(run).values():
        here = [entry for entry in entries if entry.run_id == run.report.run_id]
        since = min((entry.changed_at for entry in here), default=0.0) if len(here) > 1 else 0.0
        if here and sum(at >= since for at in times) < WITNESSES:
            found += [entry.key for entry in here]
    return found


def _common(one: str, other: str) -> int:
    """Return how many folders two keys have in common."""
    number = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        number += 1
    return number


def _draw(run: Run, key: str) -> bytes:
    return hashlib.sha256(f"{run.report.run_id} {key}".encode()).digest()
