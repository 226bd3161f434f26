"""A person's word on held work: it is published at once, or dropped and not found again.

Nothing is asked of the site. Publishing is that of a run, step by step: a process that is killed
leaves the answers as they were or as they are to be, and can be called again.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.clock import new_run_id
from freshcrawl.core.embedding_plan import without_movers
from freshcrawl.ledger import Ledger
from freshcrawl.publishing import Publisher, PublishResult
from freshcrawl.seams import Seam, reached
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Staged
    from freshcrawl.core.rollback import Rollback
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of the held work is meant: some classes and pages, or all of it."""

    classes: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def held(self, staged: Iterable[Staged]) -> list[Staged]:
        """Return the chosen ones of the work that is held, by key."""
        everything = not (self.classes or self.keys)
        found = [
            entry
            for entry in staged
            if entry.held and (everything or entry.held in self.classes or entry.key in self.keys)
        ]
        return sorted(found, key=lambda entry: entry.key)

    def discarded(
        self, records: Mapping[str, PageRecord], held: Iterable[Staged]
    ) -> list[PageRecord]:
        """Return the records of the named pages of which a person has discarded something.

        Not of those with ``held`` work: who approves that says nothing of what was discarded.
        """
        keys = self.keys.difference(entry.key for entry in held)
        return [records[k] for k in sorted(keys) if k in records and records[k].discarded]


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided, or would be."""

    entries: list[Staged]
    taken_back: list[PageRecord] = field(default_factory=list)
    """Pages of which something was discarded before: the next run looks at them again."""
    result: PublishResult | None = None
    """What was published, None for nothing."""


def look(state: SiteState, choice: Choice, *, approving: bool) -> Decided:
    """Return what a decision would be about; nothing is changed.

    Raises:
        StoreError: the site is rolled back.
    """
    with closing(state.corpus.snapshot()) as snapshot:
        _refuse_pinned(snapshot.rollback(), state.name)
    entries = choice.held(state.staged())
    return Decided(entries, choice.discarded(state.pages(), entries) if approving else [])


def approve(
    state: SiteState,
    config: Config,
    embedder: Callable[[], Embedder],
    choice: Choice,
    clock: Clock,
) -> Decided:
    """Publish held work as one generation, and take back what was discarded. Blocking.

    Raises:
        StoreError: the site is rolled back or indexed with another model, or a store failed.
    """
    ledger = Ledger(state, clock())
    _refuse_pinned(ledger.rollback, state.name)
    entries = choice.held(ledger.staged.values())
    taken_back = choice.discarded(ledger.pages, entries)
    for record in taken_back:
        ledger.make_due(record.key, discarded={})
    result = None
    if entries:
        publisher = Publisher(state, config, embedder)
        chosen = {entry.key for entry in entries}
        # A move to a page that waits for its vectors waits with it.
        ready = without_movers(chosen, ledger.staged, set(ledger.live_keys()))
        rows = ledger.whole(entry for entry in entries if entry.key in ready)
        reached(Seam.STAGED)
        publish = publisher.publish_without_model if config.embed_apart else publisher.publish
        result = publish(rows, f"approve-{new_run_id(clock())}", clock)
        ledger.adopt(result.pages, result.generation)
        result.waiting |= chosen - ready
        for key in result.waiting:  # what is decided stays so, whatever keeps it from being done
            ledger.mark_held(key, "")
            ledger.let_go(key)
        ledger.believe_listings()
    ledger.commit_records()
    reached(Seam.RECORDS_COMMITTED)
    if entries:
        publisher.tidy(clock())
    return Decided(entries, taken_back, result)


def discard(state: SiteState, choice: Choice, clock: Clock) -> Decided:
    """Drop held work, and remember it so that the same is not staged again.

    Raises:
        StoreError: the site is rolled back, or a store failed.
    """
    ledger = Ledger(state, clock())
    _refuse_pinned(ledger.rollback, state.name)
    entries = choice.held(ledger.staged.values())
    for entry in entries:
        ledger.discard(entry.key, clock())
    ledger.commit_records()
    reached(Seam.RECORDS_COMMITTED)
    return Decided(entries)


def _refuse_pinned(rollback: Rollback | None, site: str) -> None:
    if rollback is not None and rollback.pinned:
        raise StoreError(f"{site} is {rollback.reason(site)}")
