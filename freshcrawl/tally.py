"""The tally of a run: what of the staged work may be published now, and what is held."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from freshcrawl.core import guards
from freshcrawl.core.embedding_plan import without_movers
from freshcrawl.core.guards import LONE_MOVES, REMOVALS
from freshcrawl.core.pages import Status
from freshcrawl.core.proofs import Proof
from freshcrawl.holding import Judgement, classes_of, judge
from freshcrawl.ledger import NO_VALIDATORS
from freshcrawl.policies import guard_policy
from freshcrawl.staging import copy_of
from freshcrawl.storms import keep_storms

if TYPE_CHECKING:
    from collections.abc import Collection

    from freshcrawl.run import Run

__all__ = ["classes_of", "holds_changes", "leaving", "release", "resolve_canonicals"]


def resolve_canonicals(run: Run) -> None:
    """Turn staged pages whose canonical page is live, or about to be, into aliases.

    Done at the end, so that the result does not depend on the order of
    fetches. Many pages that name one and the same canonical page come from a
    mistake of the site: they stay pages of their own.
    """
    ledger = run.ledger
    named = ledger.canonicals()
    for key, record in list(ledger.pages.items()):
        target = record.canonical
        if not target:
            continue
        if named[target] > LONE_MOVES:
            if record.status == Status.ALIAS and record.alias_of == target:
                ledger.set(key, next_due=0.0, **NO_VALIDATORS)  # it was not one of many before
        elif ledger.will_live(target) or ledger.is_forgotten(target):
            _make_copy(run, key, target)


def _make_copy(run: Run, key: str, target: str) -> None:
    """Take a page out of the answers, or keep it out, in favour of its canonical page."""
    ledger = run.ledger
    entry = ledger.staged.get(key)
    if not (ledger.is_live(key) if entry is None else entry.status == Status.LIVE):
        return
    copy = copy_of(key, ledger.pages[key].url, target, run.now)
    if ledger.is_discarded(copy):
        return
    run.count_page(key, "moved")
    url = ledger.pages[target].url if target in ledger.pages else target
    run.prove(key, Proof(copy.cause, copy.url, target=url, status=copy.status), copy.staged_at)
    if ledger.is_live(key):
        run.stage(copy)
    else:
        ledger.unstage(key)
        ledger.set(key, status=copy.status, reason=copy.reason, cause=copy.cause, alias_of=target)


def release(run: Run) -> list[str]:
    """Return the keys of staged work that may be published; mark and report the rest as held.

    Texts, and moves that may be to one of these, keep their leave until they are published: to
    embed them may take several runs.
    """
    ledger, judgement = run.ledger, judge(run)
    free = [] if ledger.pinned else [key for key, e in ledger.staged.items() if e.released]
    for key, kind in judgement.classes.items():
        entry = ledger.staged[key]
        ledger.end_discard(key)
        hold = judgement.holds(run, key)
        if not hold:
            free.append(key)
            if ledger.pinned:
                continue  # it waits all the same, and stays confirmed
            run.report.released += bool(entry.held)
            if entry.status in {Status.LIVE, Status.ALIAS}:
                ledger.let_go(key)
        elif kind == REMOVALS and judgement.unwell:
            ledger.uncount(key, run.report.started_at)
        if hold and entry.person and key not in judgement.persons:
            ledger.restart(key, run.report.started_at)
        ledger.mark_held(key, (kind or entry.held) if hold else "", _person(judgement, key, hold))
    together = [
        key
        for key in judgement.classes
        if ledger.staged[key].held and judgement.holds_together(run, key)
    ]
    keep_storms(run, together, judgement.decided, judgement.since)
    _report(run, judgement, judgement.classes.keys() - set(free))
    if ledger.pinned:
        for key in ledger.staged:
            ledger.let_go(key, released=False)
        run.report.held = len(ledger.staged)
        run.report.held_reasons.append(run.report.pinned)
        return []
    # A page that moved leaves with the page it moved to, not before.
    return sorted(without_movers(free, ledger.staged, set(ledger.live_keys())))


def _report(run: Run, judgement: Judgement, held: Collection[str]) -> None:
    """Fill in what the report says of held work."""
    report, staged = run.report, run.ledger.staged
    holding = {staged[key].held for key in held}
    report.held = len(held)
    report.held_classes = sorted(holding)
    report.held_verdicts = dict(Counter(run.counted[key] for key in held if key in run.counted))
    reasons = [guard.reason for kind, guard in judgement.tripped.items() if kind in holding]
    removals = judgement.tripped.get(REMOVALS)
    why = [staged[key].person for key in held if staged[key].person]
    reasons += guards.person_reasons(why, removals)
    rest = {key for key in held if judgement.in_storm(run, key) and not staged[key].person}
    reasons += [guards.left_over(len(rest))] if rest and removals is None else []
    if judgement.unwell and REMOVALS in holding:
        reasons.append(judgement.unwell.reason)
    if held and not reasons:
        reasons = ["found by an earlier run, and not again by this one"]
    report.held_reasons = reasons


def _person(judgement: Judgement, key: str, hold: bool) -> str:
    return judgement.persons.get(key, "") if hold else ""


def leaving(run: Run) -> set[str]:
    """Return the keys of pages that leave the answers with this run, as no guard holds them."""
    judgement, staged = judge(run), run.ledger.staged
    return {
        key
        for key in judgement.classes
        if staged[key].status != Status.LIVE and not judgement.holds(run, key)
    }


def holds_changes(run: Run, changed: Collection[str]) -> bool:
    """Tell whether the guard would hold any of the changes if these were all there are."""
    ledger = run.ledger
    held = guards.tripped(
        guards.CHANGES, len(changed), ledger.live_count(), guard_policy(run.config)
    )
    alone = Judgement(
        dict.fromkeys(changed, guards.CHANGES), {guards.CHANGES: held} if held else {}, {}, None
    )
    return any(alone.holds(run, key) for key in changed)
