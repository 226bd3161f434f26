"""How large a storm is: what is held of a class, what a person took out of it, what left before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from freshcrawl.core import guards
from freshcrawl.core.guards import LONE_MOVES, REMOVALS
from freshcrawl.core.pages import Status
from freshcrawl.core.storms import Fate, Storm, fate
from freshcrawl.policies import guard_policy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from freshcrawl.core.guards import Held
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

DAY = 86_400.0


def fates(run: Run, kind: str) -> dict[str, Fate]:
    """Return, of the pages that guards held together, those that a person decided on since."""
    ledger, storm = run.ledger, run.ledger.storms.get(kind, Storm())
    found = {
        key: fate(kind, mark, ledger.published.get(key), ledger.pages.get(key))
        for key, mark in storm.pages.items()
        if key not in ledger.staged
    }
    # Approved, and waits for its vectors.
    found |= {
        key: Fate.PUBLISHED
        for key in storm.pages
        if kind != REMOVALS and key in ledger.staged and ledger.staged[key].released
    }
    return {key: what for key, what in found.items() if what is not None}


def decided_on(run: Run, kind: str, classes: dict[str, str]) -> dict[str, Fate]:
    """Return those of a class that a person decided on; none when nothing is left of it."""
    storm = run.ledger.storms[kind].pages
    left = any(classes.get(key) == kind for key in storm)
    return fates(run, kind) if left else {}


def places(run: Run, keys: Iterable[str]) -> list[str]:
    """Return where pages lead to that were held as removals."""
    storm = run.ledger.storms.get(REMOVALS, Storm())
    return [place for key in keys if (place := storm.pages.get(key))]


def left_lately(run: Run) -> set[str]:
    """Return the keys of the pages that left within a day, but for those that moved alone."""
    ledger, since = run.ledger, run.now - DAY
    left = {
        key
        for key, page in ledger.published.items()
        if page.status != Status.LIVE and since < page.changed_at <= run.now
    }
    moved = {key: ledger.pages[key].alias_of for key in left if key in ledger.pages}
    moves = Counter(moved.values())
    alone = {
        key
        for key, to in moved.items()
        if ledger.published[key].status == Status.ALIAS
        and moves[to] <= LONE_MOVES
        and ledger.is_live(to)
    }
    return left - alone


def tripped_guards(
    run: Run, classes: dict[str, str], decided: dict[str, dict[str, Fate]], began: float
) -> dict[str, Held]:
    """Return the guards that hold, by class.

    Pages that left within the last day count with those of this run: many
    small runs are one large one. So do those that a person took out of a class that was held.
    """
    found = {}
    for kind, read in ((REMOVALS, _removals), (guards.CHANGES, _changes)):
        waiting = {key for key, its in classes.items() if its == kind}
        if waiting and (held := read(run, waiting, decided.get(kind, {}), began)):
            found[kind] = held
    return found


def _removals(run: Run, waiting: set[str], decided: dict[str, Fate], began: float) -> Held | None:
    """Return the guard of removals, if it holds them.

    It is asked twice, with and without pages that came since the first of them was found: else a
    site that grows would lose in time what nobody has approved.
    """
    pages, policy = run.ledger.pages, guard_policy(run.config)
    out = {**dict.fromkeys(left_lately(run), Fate.LEFT), **decided}
    leaving = waiting | out.keys()
    whole = leaving | set(run.ledger.live_keys())
    came = {k for k in whole if k in pages and began < pages[k].first_seen <= run.now}
    words = Counter(map(str, out.values()))
    readings = [
        held
        for but in (set(), came)
        if (held := guards.tripped(REMOVALS, len(leaving - but), len(whole - but), policy))
    ]
    readings.sort(key=lambda held: not held.needs_person)
    return replace(readings[0], decided=words) if readings else None


def _changes(run: Run, waiting: set[str], decided: dict[str, Fate], began: float) -> Held | None:
    """Return the guard of changes, if it holds them."""
    whole = set(run.ledger.live_keys()) | decided.keys()
    number = len(waiting | decided.keys())
    held = guards.tripped(guards.CHANGES, number, len(whole), guard_policy(run.config))
    return replace(held, decided=Counter(map(str, decided.values()))) if held else None


def first_found(run: Run) -> float:
    """Return when the first of the removals that are held was found; now if there is none."""
    held = [e for e in run.ledger.staged.values() if e.held == REMOVALS and e.held_runs]
    since = [entry.held_runs[0] for entry in held]
    if held and (storm := run.ledger.storms.get(REMOVALS)):
        since.append(storm.since)
    return min([*since, run.now])


def live_before(run: Run) -> int:
    """Return how many pages of the answers there were when the first removal was found."""
    began, pages = first_found(run), run.ledger.pages
    came = {
        k for k in run.ledger.live_keys() if k in pages and began < pages[k].first_seen <= run.now
    }
    return run.ledger.live_count() - len(came)


def keep_storms(
    run: Run, held: Collection[str], decided: Mapping[str, Mapping[str, Fate]], since: float
) -> None:
    """Remember what guards hold together after a run: what it lets go is no part of it any more.

    ``decided`` is what a person took out of it, by class; ``since`` when the first was found.
    """
    ledger, kept = run.ledger, {}
    for kind in (REMOVALS, guards.CHANGES):
        before = ledger.storms.get(kind)
        waiting = {
            key: _mark(ledger.staged[key]) for key in held if ledger.staged[key].held == kind
        }
        if not waiting:
            continue
        others = dict.fromkeys(decided.get(kind, ()), "")
        if before is None or not before.pages.keys() & waiting.keys():
            others |= dict.fromkeys(left_lately(run), "") if kind == REMOVALS else {}
            before = Storm(min(since, run.report.started_at))
        others = {key: before.pages.get(key, mark) for key, mark in others.items()}
        kept[kind] = Storm(min(before.since, run.now), {**others, **waiting})
    ledger.keep_storms(kept)


def _mark(entry: Staged) -> str:
    return entry.digest if entry.status == Status.LIVE else guards.destination(entry)
