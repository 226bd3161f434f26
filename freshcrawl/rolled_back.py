"""Records after a rollback: brought in step with what is published again.

Derived from what is published, so that it makes no difference whether the process that rolled
back did it, or whoever opens the site next because that one was killed.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Status
from freshcrawl.core.rollback import differing

if TYPE_CHECKING:
    from freshcrawl.core.published import Published
    from freshcrawl.core.rollback import Rollback
    from freshcrawl.ledger import Ledger
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Corpus

IN_STEP = "meta:rollback"
"""Name of the record that says which rollback the records are in step with."""


def rows_of(corpus: Corpus, generation: int) -> dict[str, Published]:
    """Return the rows of a generation by key; none if it is not kept."""
    with closing(corpus.snapshot()) as current:
        if generation not in current.generations():
            return {}
    with closing(corpus.snapshot(generation)) as snapshot:
        return {page.key: page for page in snapshot.pages()}


def catch_up(ledger: Ledger, state: SiteState) -> None:
    """Bring records in step with the last rollback, unless they are; durable with a commit.

    And take into the ledger what it has undone, as far as that waits to be looked at again.
    """
    rollback = ledger.rollback
    if rollback is None:
        return
    stored = known = state.records.get(IN_STEP) or {}
    if known.get("generation") != rollback.generation:
        known = _bring_all_in_step(ledger, state, rollback)
    for key in ledger.staged if rollback.pinned else ():
        ledger.let_go(key, released=False)
    undone = known.get("undone", [])
    rows = rows_of(state.corpus, rollback.origin) if undone else {}
    ledger.undone = {key: rows[key] for key in undone if key in rows and _waits(ledger, key)}
    known = {**known, "undone": list(ledger.undone)}
    if known != stored:
        state.records.put(IN_STEP, known)


def differing_pages(state: SiteState) -> int:
    """Return how many pages the last rollback, which records are in step with, has changed."""
    return int((state.records.get(IN_STEP) or {}).get("differing", 0))


def _bring_all_in_step(ledger: Ledger, state: SiteState, rollback: Rollback) -> dict[str, Any]:
    """Bring all records in step; return what is kept of that."""
    before = rows_of(state.corpus, rollback.before)
    changed = sorted(_changed(ledger, before, rollback))
    for key in changed:
        if key in ledger.pages:
            _bring_in_step(ledger, key, rollback)
        if key in before and before[key].status == Status.LIVE and not ledger.is_live(key):
            ledger.recheck_aliases_of(key)
    if ledger.boilerplate.basis or ledger.boilerplate.fingerprints:
        # It was learned from other versions: the next run learns anew, and goes over all pages.
        ledger.keep_boilerplate(replace(ledger.boilerplate, basis="", unfinished=True))
    # If it is released, records were lost, and with them what was looked at since.
    origin = rows_of(state.corpus, rollback.origin) if rollback.pinned else {}
    undone = sorted(origin.keys() & differing(origin, ledger.published))
    return {"generation": rollback.generation, "differing": len(changed), "undone": undone}


def _waits(ledger: Ledger, key: str) -> bool:
    """Tell whether no run has published a page, or looked at it to the end, since the release."""
    rollback, page, record = ledger.rollback, ledger.published.get(key), ledger.pages.get(key)
    if rollback is None or rollback.pinned:
        return True
    if page is not None and page.from_gen > rollback.generation:
        return False
    if record is None or record.last_checked <= rollback.released_at:
        return True
    # A run that was cut off before it judged what it has found.
    return key in ledger.staged and not ledger.staged[key].held


def _changed(ledger: Ledger, before: dict[str, Published], rollback: Rollback) -> set[str]:
    """Return the keys of which other rows, or none, are published since the rollback."""
    if before:
        return differing(before, ledger.published)
    return {k for k, page in ledger.published.items() if page.from_gen == rollback.generation}


def _bring_in_step(ledger: Ledger, key: str, rollback: Rollback) -> None:
    """Make a page's record as if it had been published like this, and the page due.

    What was staged, proven noise and all comparisons were made against another text.
    """
    page, record = ledger.published.get(key), ledger.pages[key]
    ledger.unstage(key)
    ledger.noise.drop(key)
    changes: dict[str, Any] = {"shown_digest": "", "difference": {}, "doubt": {}, "discarded": {}}
    before, status = record.status, page.status if page is not None else record.status
    if page is None and status == Status.LIVE:
        status = Status.PENDING
    if status != before or status in {Status.LIVE, Status.PENDING}:
        reason = f"rolled back to generation {rollback.of}"
        changes |= {"status": status, "alias_of": "", "reason": reason}
    if status in {Status.LIVE, Status.PENDING}:
        changes["cause"] = ""
    if status == Status.LIVE:
        content = ledger.published_content(key)
        changes |= {
            "made_by": content.made_by if content else "",
            "generator": content.generator if content else "",
            "canonical": content.canonical if content else "",
        }
    ledger.make_due(key, **changes)
