"""The tally of a run: what of the staged work may be published now, and what is held."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from freshcrawl.core import guards
from freshcrawl.core.pages import Staged, Status
from freshcrawl.staging import copy_of

if TYPE_CHECKING:
    from freshcrawl.config import Config
    from freshcrawl.run import Run

LONE_MOVES = 3
"""Pages that may move to one target before they count as collapsing into it."""


def guard_policy(config: Config) -> guards.GuardPolicy:
    """Return the thresholds of the configuration."""
    return guards.GuardPolicy(
        config.guard_removed_ratio,
        config.guard_removed_min,
        config.guard_changed_ratio,
        config.guard_changed_min,
        config.guard_confirm_runs,
        config.guard_confirm_hours * 3_600,
    )


def resolve_canonicals(run: Run) -> None:
    """Turn staged pages whose canonical page is live, or about to be, into aliases.

    Done at the end, so that the result does not depend on the order of
    fetches. Many pages that name one and the same canonical page come from a
    mistake of the site: they stay pages of their own.
    """
    named = Counter(entry.canonical for entry in run.ledger.staged.values())
    for entry in list(run.ledger.staged.values()):
        target = entry.canonical
        if (
            entry.status == Status.LIVE
            and target
            and named[target] <= LONE_MOVES
            and run.ledger.will_live(target)
        ):
            run.stage(copy_of(entry, run.now))


def release(run: Run) -> list[str]:
    """Return the keys of staged work that may be published; mark and report the rest as held."""
    policy, live = guard_policy(run.config), run.ledger.live_count()
    classes = {key: _class_of(run, entry) for key, entry in run.ledger.staged.items()}
    count = Counter(classes.values())
    tripped = {
        kind: held
        for kind in (guards.REMOVALS, guards.CHANGES)
        if (held := guards.tripped(kind, count[kind], live, policy))
    }
    free = []
    for key, kind in classes.items():
        held = tripped.get(kind)
        hold = held is not None and not guards.released(
            held, run.ledger.staged[key].held_runs, policy
        )
        run.ledger.mark_held(key, kind if hold else "")
        if not hold:
            free.append(key)
    run.report.held = len(classes) - len(free)
    holding = {run.ledger.staged[key].held for key in classes.keys() - set(free)}
    run.report.held_reasons = [held.reason for kind, held in tripped.items() if kind in holding]
    return sorted(free)


def _class_of(run: Run, entry: Staged) -> str:
    if entry.status == Status.ALIAS and _moves_alone(run, entry):
        return ""
    return guards.work_class(entry, run.ledger.is_live(entry.key))


def _moves_alone(run: Run, entry: Staged) -> bool:
    """Tell a page that moved to a live page of its own from many that collapse into one."""
    same = sum(other.alias_of == entry.alias_of for other in run.ledger.staged.values())
    return same <= LONE_MOVES and run.ledger.will_live(entry.alias_of)
