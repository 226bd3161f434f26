"""Removals by one mistake of a site, of which a run sees too few for a guard to hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.collapsing import refuse
from freshcrawl.core import guards
from freshcrawl.core.pages import Status
from freshcrawl.core.words import count
from freshcrawl.policies import guard_policy
from freshcrawl.witnesses import is_dead, leaves, none_stood

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

ONE_CAUSE = "one cause for many"


def reject_sitewide(run: Run) -> None:
    """Drop removals for a cause that pages asked for comparison have too, or dead as all are.

    Once the run finds as many as a guard holds, that is who decides; until then a site that
    is marked noindex, forbidden or redirected as a whole would lose page after page as they
    come due. Of pages that share a cause and are all due, nobody is asked for comparison but
    others: they leave.
    """
    ledger = run.ledger
    leaving = [e for e in ledger.staged.values() if e.status != Status.LIVE]
    number = sum(ledger.is_live(entry.key) for entry in leaving)
    if guards.tripped(guards.REMOVALS, number, ledger.live_count(), guard_policy(run.config)):
        return
    _reject_dead(run, leaving)
    groups: dict[str, list[Staged]] = {}
    for entry in leaving:
        if leaves(run, entry) and not (entry.held or is_dead(run, entry)):
            groups.setdefault(guards.destination(entry) or entry.cause, []).append(entry)
    for entries in groups.values():
        if len(entries) > 1 and any(entry.key in run.witnesses for entry in entries):
            for entry in entries:
                also = f"so do {count(len(entries) - 1, 'other page')} asked for by this run"
                refuse(run, entry, f"{entry.reason}; {also}: not believed", ONE_CAUSE)


def _reject_dead(run: Run, leaving: list[Staged]) -> None:
    """Drop the removal of dead pages by a run in which no page answered as itself."""
    dead = [entry for entry in leaving if is_dead(run, entry) and not entry.held]
    if dead and none_stood(run):
        for entry in dead:
            why = "no page that this run asked for answered as itself: not believed"
            refuse(run, entry, f"{entry.reason}; {why}", ONE_CAUSE)
