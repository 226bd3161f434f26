"""Staged work of a site: kept until it is published, dropped, or found anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core import discards
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.published import Staged
from freshcrawl.core.same_work import same_work
from freshcrawl.core.storms import Storm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.core.pages import PageRecord
    from freshcrawl.stores.base import RecordStore

HELD_RUNS_KEPT = 20
BULK = ("blocks", "body", "chunks")
"""Fields of staged work that stay in the store, under a name of their own."""
STORMS = "meta:storms"
NO_VALIDATORS = {"etag": "", "last_modified": "", "validator_url": "", "validator_digest": ""}


def _same_leave(before: Staged, entry: Staged) -> bool:
    """Tell whether work that was let go is found again; a move to another page is another one."""
    return same_work(before, entry) and before.alias_of == entry.alias_of


class StagedWork:
    """The part of a Ledger that keeps staged work, and what a person has discarded of it."""

    def __init__(self, records: RecordStore, pages: dict[str, PageRecord]) -> None:
        self._records = records
        self._dirty: set[str] = set()
        self.pages = pages
        self.staged: dict[str, Staged] = {}
        """Staged work without its bulk."""
        kept = records.get(STORMS) or {}
        self.storms = {kind: Storm.from_json(storm) for kind, storm in kept.items()}
        """What guards began to hold together, by class."""

    def set(self, key: str, **changes: Any) -> None:
        """Change fields of a page's record."""
        for name, value in changes.items():
            setattr(self.pages[key], name, value)
        self._dirty.add(key)

    def stage(self, entry: Staged, run_id: str, found_at: float, apart: float) -> None:
        """Keep a change durably (with the next commit) until it is published.

        Work that a guard holds keeps the times at which earlier runs found the
        same, those that are ``apart`` seconds from the one before and so count. A
        time to come is of a clock that was wrong.
        What a person has discarded is not staged again. It stays discarded until the run's end
        believes in something else (``end_discard``).
        """
        if self.is_discarded(entry):
            self.unstage(entry.key)
            return
        before = self.staged.get(entry.key)
        entry.waits_since = (before.waits_since if before else 0.0) or entry.staged_at
        entry.released = before is not None and before.released and _same_leave(before, entry)
        entry.held_runs = [found_at]
        if before is not None and self.holds_same(entry):
            known = [at for at in before.held_runs if at <= found_at] or [found_at]
            since = found_at - known[-1]
            counts = since > 0 and since >= apart  # not twice in one run
            again = [found_at] if counts else []
            entry.held, entry.person = before.held, before.person
            first, *later = [*known, *again]
            entry.held_runs = [first, *later[-HELD_RUNS_KEPT:]]
        entry.run_id = run_id
        self.restage(entry)

    def restage(self, entry: Staged) -> None:
        """Keep staged work as it is, in place of what was staged of its page."""
        row = entry.to_json()
        bulk = {name: row.pop(name) for name in BULK if name in row}
        self.staged[entry.key] = Staged.from_json(row)
        self._records.put(f"staged:{entry.key}", row)
        self._records.put(f"work:{entry.key}", bulk)

    def holds_same(self, entry: Staged) -> bool:
        """Tell whether a guard holds the same change of this page already."""
        before = self.staged.get(entry.key)
        return before is not None and bool(before.held) and same_work(before, entry)

    def unstage(self, key: str) -> None:
        """Drop staged work of a page."""
        if self.staged.pop(key, None) is not None:
            self._records.delete(f"staged:{key}")
            self._records.delete(f"work:{key}")

    def mark_held(self, key: str, kind: str, person: str = "") -> None:
        """Note durably (with the next commit) that a guard holds staged work, or no more ("").

        ``person`` says why a person must decide on it.
        """
        entry = self.staged[key]
        if (entry.held, entry.person) != (kind, person):
            entry.held, entry.person = kind, person
            self._records.put(f"staged:{key}", entry.to_json())

    def let_go(self, key: str, *, released: bool = True) -> None:
        """Note durably (with the next commit) that staged work waits for vectors only, or not."""
        entry = self.staged[key]
        if entry.released != released:
            entry.released = released
            self._records.put(f"staged:{key}", entry.to_json())

    def restart(self, key: str, found_at: float) -> None:
        """Have all runs that are to confirm held work be still to come."""
        entry = self.staged[key]
        entry.held_runs = [found_at]
        self._records.put(f"staged:{key}", entry.to_json())

    def end_storms(self) -> None:
        """Forget what guards held together of which nothing is held any more."""
        held = {(entry.key, entry.held) for entry in self.staged.values() if entry.held}
        self.storms = {
            kind: storm
            for kind, storm in self.storms.items()
            if any((key, kind) in held for key in storm.pages)
        }

    def keep_storms(self, storms: dict[str, Storm]) -> None:
        """Keep durably (with the next commit) what guards hold together, by class."""
        if storms != self.storms:
            self.storms = storms
            self._records.put(STORMS, {kind: storm.to_json() for kind, storm in storms.items()})

    def uncount(self, key: str, found_at: float) -> None:
        """Take back that a run confirmed held work, unless it was the one that found it."""
        entry = self.staged[key]
        if len(entry.held_runs) > 1 and entry.held_runs[-1] == found_at:
            entry.held_runs.pop()
            self._records.put(f"staged:{key}", entry.to_json())

    def discard(self, key: str, now: float) -> None:
        """Drop staged work, and remember it durably (with the next commit), to not stage it again.

        The validators of a text that nobody will see go with it. A page that stays although
        nothing lists it is due: its text was not taken while it was to leave.
        """
        entry = self.staged[key]
        self.unstage(key)
        self.set(key, discarded={**discards.remembered(entry), "at": now}, **NO_VALIDATORS)
        if entry.verdict == Verdict.ABSENT:
            self.set(key, next_due=0.0)

    def is_discarded(self, entry: Staged) -> bool:
        """Tell whether a person has discarded the same finding of a page."""
        record = self.pages.get(entry.key)
        return record is not None and discards.is_same(record, entry)

    def end_discard(self, key: str) -> None:
        """Forget what a person discarded of a page of which something else is found and believed.

        Unless this is a text, and says nothing about what was discarded; as does one that is only
        made anew.
        """
        entry, record = self.staged[key], self.pages.get(key)
        is_text = entry.status == Status.LIVE
        lasts = record is not None and discards.outlasts_text(record, entry.canonical)
        if not (is_text and (lasts or entry.verdict in {Verdict.UNCHANGED, Verdict.COSMETIC})):
            self.forget_discard(key)

    def forget_discard(self, key: str) -> None:
        """Forget that a person discarded what was found of a page: it is another thing by now."""
        if key in self.pages and self.pages[key].discarded:
            self.set(key, discarded={})

    def whole(self, entries: Iterable[Staged]) -> list[Staged]:
        """Return staged work with its chunks, blocks and body. Any thread may call."""
        return [
            Staged.from_json({**entry.to_json(), **(self._records.get(f"work:{entry.key}") or {})})
            for entry in entries
        ]
