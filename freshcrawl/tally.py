"""The tally of a run: what of the staged work may be published now, and what is held."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from freshcrawl.core import guards
from freshcrawl.core.guards import LONE_MOVES
from freshcrawl.core.pages import Status
from freshcrawl.core.proofs import Proof
from freshcrawl.ledger import NO_VALIDATORS
from freshcrawl.policies import guard_policy
from freshcrawl.staging import copy_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

DAY = 86_400.0


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
    run.count_page(key, "moved")
    url = ledger.pages[target].url if target in ledger.pages else target
    run.prove(key, Proof(copy.cause, copy.url, target=url, status=copy.status), copy.staged_at)
    if ledger.is_live(key):
        run.stage(copy)
    else:
        ledger.unstage(key)
        ledger.set(key, status=copy.status, reason=copy.reason, cause=copy.cause, alias_of=target)


def release(run: Run) -> list[str]:
    """Return the keys of staged work that may be published; mark and report the rest as held."""
    ledger, classes = run.ledger, classes_of(run)
    tripped = _tripped(run, Counter(classes.values()), guard_policy(run.config))
    free = []
    for key, kind in classes.items():
        entry = ledger.staged[key]
        hold = _holds(run, entry, tripped.get(kind))
        if not hold:
            free.append(key)
            if ledger.pinned:
                continue  # it waits all the same, and stays confirmed
            run.report.released += bool(entry.held)
        ledger.mark_held(key, (kind or entry.held) if hold else "")
    run.report.held = len(classes) - len(free)
    holding = {ledger.staged[key].held for key in classes.keys() - set(free)}
    run.report.held_classes = sorted(holding)
    run.report.held_reasons = [held.reason for kind, held in tripped.items() if kind in holding]
    if run.report.held and not run.report.held_reasons:
        run.report.held_reasons = ["found by an earlier run, and not again by this one"]
    if ledger.pinned:
        run.report.held = len(ledger.staged)
        run.report.held_reasons.append(run.report.pinned)
        return []
    return sorted(free)


def classes_of(run: Run) -> dict[str, str]:
    """Return the guard class of all staged work that can be judged, by key."""
    moves = Counter(entry.alias_of for entry in run.ledger.staged.values() if entry.alias_of)
    return {
        key: _class_of(run, entry, moves[entry.alias_of])
        for key, entry in run.ledger.staged.items()
        if not _waits(run, entry)
    }


def leaving(run: Run) -> set[str]:
    """Return the keys of pages that leave the answers with this run, as no guard holds them."""
    classes, staged = classes_of(run), run.ledger.staged
    tripped = _tripped(run, Counter(classes.values()), guard_policy(run.config))
    return {
        key
        for key, kind in classes.items()
        if staged[key].status != Status.LIVE and not _holds(run, staged[key], tripped.get(kind))
    }


def holds_changes(run: Run, changed: Collection[str]) -> bool:
    """Tell whether the guard would hold any of the changes if these were all there are."""
    policy, ledger = guard_policy(run.config), run.ledger
    held = guards.tripped(guards.CHANGES, len(changed), ledger.live_count(), policy)
    return any(_holds(run, ledger.staged[key], held) for key in changed)


def _holds(run: Run, entry: Staged, held: guards.Held | None) -> bool:
    """Tell whether staged work is held, given the guard of its class if that trips."""
    policy = guard_policy(run.config)
    if held is not None and not guards.released(held, entry.held_runs, policy):
        return True
    # Held before and not found again in this run: no newer evidence, no release.
    return bool(entry.held) and entry.run_id != run.report.run_id


def _tripped(run: Run, count: Counter[str], policy: guards.GuardPolicy) -> dict[str, guards.Held]:
    """Return the guards that hold, by class.

    Pages that left within the last day count with those of this run: many
    small runs are one large one.
    """
    since = run.now - DAY
    left = sum(
        page.status != Status.LIVE and page.changed_at > since
        for page in run.ledger.published.values()
    )
    live = run.ledger.live_count()
    found = {
        guards.REMOVALS: guards.tripped(
            guards.REMOVALS, count[guards.REMOVALS] + left, live + left, policy
        ),
        guards.CHANGES: guards.tripped(guards.CHANGES, count[guards.CHANGES], live, policy),
    }
    return {kind: held for kind, held in found.items() if held and count[kind]}


def _class_of(run: Run, entry: Staged, moves: int) -> str:
    """Return the guard class.

    A page that moves alone to a live page of its own has none, nor has a text that comes back
    after a rollback. A removal always has one: perhaps it is what was gone back from.
    """
    if run.ledger.brings_back(entry):
        return ""
    if (
        entry.status == Status.ALIAS
        and moves <= LONE_MOVES
        and run.ledger.will_live(entry.alias_of)
    ):
        return ""
    return guards.work_class(entry, run.ledger.is_live(entry.key))


def _waits(run: Run, entry: Staged) -> bool:
    """Tell work that cannot be judged yet: the old text stays until it can.

    That is a move whose target was not read, and a removal that an earlier run
    found, was cut off, and this run could not look at again.
    """
    if entry.status == Status.LIVE or entry.held:
        return False
    if entry.run_id != run.report.run_id:
        return True
    return entry.status == Status.ALIAS and _is_unread(run, entry.alias_of)


def _is_unread(run: Run, key: str) -> bool:
    """Tell whether it is not known yet where a move ends; a circle of moves ends nowhere."""
    passed: set[str] = set()
    while key not in passed:
        passed.add(key)
        target, entry = run.ledger.pages.get(key), run.ledger.staged.get(key)
        if run.ledger.will_live(key):
            return False
        if entry is not None and entry.status == Status.ALIAS:
            key = entry.alias_of  # its record is that of a live page until this is published
            continue
        if target is None or target.status != Status.ALIAS:
            return target is None or target.status == Status.PENDING
        key = target.alias_of
    return True
