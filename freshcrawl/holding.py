"""What guards hold of the staged work of a run, and for whom it waits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.accounts import was_forbidden
from freshcrawl.core import guards
from freshcrawl.core.guards import LONE_MOVES, REMOVALS
from freshcrawl.core.pages import Cause, Status
from freshcrawl.homes import home_keys
from freshcrawl.policies import guard_policy
from freshcrawl.storms import decided_on, fates, first_found, live_before, places, tripped_guards
from freshcrawl.witnesses import is_dead, none_stood

if TYPE_CHECKING:
    from freshcrawl.core.guards import AllDead, Held, Unwell
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Staged
    from freshcrawl.core.storms import Fate
    from freshcrawl.run import Run

BROKEN_SECS = 3 * 86_400.0
"""A page that fails for longer is broken, and says nothing of the site."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What guards say of all staged work of a run that can be judged."""

    classes: dict[str, str]
    """Guard class by key."""
    tripped: dict[str, Held]
    """Guards that hold, by class."""
    persons: dict[str, str]
    """By key, why a person must decide."""
    unwell: Unwell | AllDead | None
    """Why this run takes nothing away."""
    decided: dict[str, dict[str, Fate]] = field(default_factory=dict)
    """By class, what became of pages that were held with those which still are."""
    since: float = 0.0
    """When the first of the removals was found."""

    def holds(self, run: Run, key: str) -> bool:
        """Tell whether staged work is held."""
        entry, kind = run.ledger.staged[key], self.classes[key]
        if entry.held and entry.run_id != run.report.run_id:
            return True  # not found again in this run: no newer evidence, no release
        # Evidence of the operator's own needs no answer of the site.
        if self.unwell and kind == REMOVALS and entry.cause != Cause.SCOPE:
            return True
        if key in self.persons:
            return True
        policy = guard_policy(run.config)
        if held := self.tripped.get(kind):
            return not guards.released(held, entry.held_runs, policy)
        if not self.in_storm(run, key) or policy.removed_ratio >= 1:
            return False
        # What is left of too many, as the others are back: no longer one mistake, but not proven.
        return bool(entry.person) or guards.counted(entry.held_runs, policy) < policy.confirm_runs

    def holds_together(self, run: Run, key: str) -> bool:
        """Tell what is held for its number, or for a person, not only as the site is not well."""
        return self.classes[key] in self.tripped or key in self.persons or self.in_storm(run, key)

    def in_storm(self, run: Run, key: str) -> bool:
        """Tell whether a removal is what is left of those that a guard held together."""
        storm = run.ledger.storms.get(REMOVALS)
        is_held = run.ledger.staged[key].held == self.classes[key] == REMOVALS
        return is_held and storm is not None and key in storm.pages


def judge(run: Run) -> Judgement:
    """Judge all staged work but that which has to wait for something to be read."""
    staged, classes = run.ledger.staged, classes_of(run)
    decided = {kind: decided_on(run, kind, classes) for kind in run.ledger.storms}
    since = first_found(run)
    tripped = tripped_guards(run, classes, decided, since)
    removals = [staged[key] for key, kind in classes.items() if kind == REMOVALS]
    shrunk = {entry.key for entry in removals if _lost_its_list(run, entry)}
    lost = shrunk if shrunk and _lost_many(run) else ()
    elsewhere = places(run, decided.get(REMOVALS, ()))
    persons = guards.persons(removals, tripped.get(REMOVALS), shrunk, lost, elsewhere)
    why = unwell(run) or _all_dead(run, removals)
    return Judgement(classes, tripped, persons, why, decided, since)


def classes_of(run: Run) -> dict[str, str]:
    """Return the guard class of all staged work that can be judged, by key.

    Not of what was let go before, and waits for its vectors only.
    """
    staged = run.ledger.staged.values()
    moves = Counter(entry.alias_of for entry in staged if entry.alias_of)
    moves.update(places(run, fates(run, REMOVALS)))
    if home := sum(entry.cause == Cause.HOME for entry in staged) + moves[guards.HOME]:
        moves.update(dict.fromkeys(home_keys(run), home))  # that is where they lead, too
    half = live_before(run) / 2  # few pages may be all of a small site
    lone = {place for place, n in moves.items() if n <= LONE_MOVES and not 1 < n > half}
    return {
        key: _class_of(run, entry, alone=entry.alias_of in lone)
        for key, entry in run.ledger.staged.items()
        if not (entry.released or _waits(run, entry))
    }


def unwell(run: Run) -> Unwell | None:
    """Return what says that the site is not well in this run: too many of its pages failed.

    Pages that have failed for days do not count: they are broken, whatever the others are.
    """
    since, pages = run.report.started_at, run.ledger.pages
    asked = [r for key in run.handled if (r := pages[key]).last_attempt >= since]
    counting = [r for r in asked if not (_is_broken(r, since) or was_forbidden(r))]
    failed = sum(bool(record.failures) for record in counting)
    return guards.unwell(failed, len(counting), guard_policy(run.config))


def _all_dead(run: Run, removals: list[Staged]) -> AllDead | None:
    """Return what says that the site is not well: nothing but dead pages answered."""
    found_now = (e for e in removals if e.run_id == run.report.run_id)
    dead = sum(is_dead(run, entry) for entry in found_now)
    return guards.AllDead(dead) if dead and none_stood(run) else None


def _is_broken(record: PageRecord, now: float) -> bool:
    return bool(record.failures) and record.failing_since < now - BROKEN_SECS


def _lost_its_list(run: Run, entry: Staged) -> bool:
    """Tell whether a source that listed a page has shrunk by half or more, or is no more."""
    listings = run.ledger.listings
    return entry.cause == Cause.UNLISTED and any(
        listings.shrank(source) for source in run.ledger.pages[entry.key].unlisted_by
    )


def _lost_many(run: Run) -> bool:
    """Tell whether lists that shrank or are no more lost so many pages that it may be a mistake."""
    lifted = guard_policy(run.config).removed_ratio >= 1
    lost = run.ledger.listings.lost() + _lost_with_their_list(run)
    return lost >= guards.LOST_MIN and not lifted


def _lost_with_their_list(run: Run) -> int:
    """Return how many pages were listed last by a source that is no more, and by none since.

    Those count that would leave for it, and those that left for the same.
    """
    listings, pages = run.ledger.listings, run.ledger.pages
    lost = [
        record
        for key, record in pages.items()
        if record.unlisted_by
        and (record.cause == Cause.UNLISTED or run.ledger.is_live(key))
        and key not in listings.reached()
    ]
    dead = {
        source
        for record in lost
        if run.ledger.is_live(record.key)
        for source in record.unlisted_by
        if source not in listings.sources
    }
    return sum(not dead.isdisjoint(record.unlisted_by) for record in lost)


def _class_of(run: Run, entry: Staged, *, alone: bool) -> str:
    """Return the guard class.

    A page that moves alone to a live page of its own has none, nor has a text that comes back
    after a rollback. A removal always has one: perhaps it is what was gone back from.
    """
    if run.ledger.brings_back(entry):
        return ""
    if entry.status == Status.ALIAS and alone and run.ledger.will_live(entry.alias_of):
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
