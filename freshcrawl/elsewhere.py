"""Elsewhere: what may list a page by now that nothing is known to list.

A sitemap that could not be read since the page was found unlisted may be its new home, and so may
a page with links that was not asked since. What fails is waited for until PATIENCE is over and
PATIENT_RUNS found it failing, so that nothing stays for ever for a list that is dead; what was not
asked is asked (``hubs_to_ask``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshcrawl.core.listings import PATIENCE, PATIENT_RUNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from freshcrawl.core.listings import Source
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.run import Run

HUBS_SHARE, HUBS_MIN = 0.1, 20
"""Pages with links that one run asks for this, of all there are; at least so many."""


@dataclass(frozen=True, slots=True)
class Unheard:
    """The longest silence of the lists of a site (epoch seconds; infinity if there is none)."""

    failing: float
    """Since when one fails: when it was read last."""
    unasked: float
    """Since when a page with links was not asked."""


def unheard(run: Run) -> Unheard:
    """Return what was not heard of the lists of a site as of now."""
    listings = run.ledger.listings
    failing = [0.0 for source in listings.failed if source not in listings.sources]
    failing += [source.read_at for source in listings.sources.values() if source.unread_runs]
    unasked = [math.inf]
    for _, record in _hubs(run):
        if record.failures:
            failing.append(record.last_checked)
        else:
            unasked.append(record.last_attempt)
    return Unheard(min(failing, default=math.inf), min(unasked))


def may_list(run: Run, silence: Unheard, record: PageRecord) -> bool:
    """Tell whether something that was not heard since a page was found unlisted may list it."""
    since = found_at(run, record)
    return silence.unasked < since or (silence.failing < since and not has_waited(run, record))


def has_waited(run: Run, record: PageRecord) -> bool:
    """Tell whether an unlisted page has waited long enough for what fails."""
    waited = run.now - found_at(run, record)
    return waited >= PATIENCE and record.unheard_runs >= PATIENT_RUNS


def found_at(run: Run, record: PageRecord) -> float:
    """Return the start of the run that found first that a page is unlisted: perhaps this one."""
    return record.unlisted_since or run.report.started_at


def hubs_to_ask(run: Run, absent: Iterable[PageRecord]) -> list[str]:
    """Return pages with links that were not asked since pages were found absent: a few a run.

    Those with the most links come first. None where the site keeps such pages anyway.
    """
    since = max((found_at(run, record) for record in absent), default=0.0)
    if run.policies.absent == "keep":
        return []
    hubs = list(_hubs(run))
    late = [
        (source, record)
        for source, record in hubs
        if record.last_attempt < since and record.key not in run.handled
    ]
    room = max(HUBS_MIN, int(HUBS_SHARE * len(hubs))) - len(run.hubs)
    late.sort(key=lambda hub: (-len(hub[0].keys), hub[1].key))
    found = [record.key for _, record in late[: max(room, 0)]]
    run.hubs.update(found)
    return found


def _hubs(run: Run) -> Iterator[tuple[Source, PageRecord]]:
    """Yield the pages whose links count."""
    ledger = run.ledger
    reached = ledger.listings.reached()
    for source in ledger.listings.sources.values():
        key = source.id.partition(":")[2]
        counts = source.kind == "page" and source.keys and key in reached
        if counts and key in ledger.pages and not ledger.is_forgotten(key):
            yield source, ledger.pages[key]
