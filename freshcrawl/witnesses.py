"""Pages that are asked to see whether what befell others befell all of the site.

A page whose text is another one altogether was written anew, or something stands in front of
it; one that is marked noindex, redirects or answers 404 is to leave, or the whole site was set
up wrong. Where few pages of a run answer, those alone cannot tell; two that are not due can, for
the price of a 304 each if all is well.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from freshcrawl.core.pages import REDIRECTED, Cause, Status, Verdict
from freshcrawl.core.simhash import OTHER_BITS, hamming
from freshcrawl.entering import groups
from freshcrawl.homes import home_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

WITNESSES = 2
COMMON = REDIRECTED | {Cause.NOINDEX, Cause.ROBOTS}
"""Causes by which one mistake of a site takes many pages away."""
DEAD_ANSWERS = frozenset({Cause.NOT_FOUND, Cause.GONE})
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
    leaving = entry.status != Status.LIVE and run.ledger.is_live(entry.key)
    return leaving and (entry.cause in COMMON or is_dead(run, entry))


def is_dead(run: Run, entry: Staged) -> bool:
    """Tell whether staged work is that of a live page which is dead although it is listed.

    What is not listed any more either is said by two: the page and who listed it.
    """
    dead = entry.status != Status.LIVE and entry.cause in DEAD_ANSWERS
    return dead and run.ledger.is_live(entry.key) and entry.key in run.ledger.listings.reached()


def none_stood(run: Run) -> bool:
    """Tell whether no page of this run answered as itself, those asked for comparison neither.

    The home page does not count: it may be all that is left of a site.
    """
    pages, staged = run.ledger.pages, run.ledger.staged
    silent = any(
        pages[key].failures or (key in staged and leaves(run, staged[key]))
        for key in run.witnesses & run.handled
    )
    return silent and not stood(run) - home_keys(run)


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
    """Return the pages to ask, once a run, whatever their due time: near to what changed.

    For pages that are dead, it is those that have least in common with them: a part of a site
    may well be gone, and all of it hardly.
    """
    if run.witnesses:
        return []
    changed = {entry.key: is_dead(run, entry) for entry in _in_question(run)}
    times = stood_at(run)
    if not changed or len(times) >= WITNESSES:
        changed = dict.fromkeys(_entering(run, times), False)
    if not changed:
        return []
    pages, far = run.ledger.pages, all(changed.values())
    near = min(key for key, dead in changed.items() if dead == far)
    fit = [k for k in run.ledger.live_keys() if k not in run.handled and not pages[k].left_out]
    sign = 1 if far else -1
    fit.sort(
        key=lambda k: (pages[k].failures > 0, sign * _common(k, near), _draw(run, k)),
    )
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


def _in_question(run: Run) -> Iterator[Staged]:
    """Yield what the run found itself of the kind that witnesses are asked about.

    What a guard holds was judged when it was found. But where pages are dead, each run that is
    to confirm that must find the site alive.
    """
    for entry in run.ledger.staged.values():
        if entry.run_id != run.report.run_id or entry.person:
            continue
        asks = is_other_text(run, entry) or leaves(run, entry)
        if asks and (is_dead(run, entry) or not entry.held):
            yield entry


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
