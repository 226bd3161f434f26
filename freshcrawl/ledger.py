"""What is known of a site, in memory, and the one transaction that makes it durable."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from freshcrawl import forgotten
from freshcrawl.core.forgetting import Forgotten
from freshcrawl.core.listings import POINTERS, Listings
from freshcrawl.core.pages import REDIRECTED, PageRecord, Status
from freshcrawl.core.proofs import left, stands_by
from freshcrawl.core.schedule import DAY
from freshcrawl.noise.memory import NoiseMemory
from freshcrawl.recovery import recover
from freshcrawl.rolled_back import catch_up
from freshcrawl.staged_work import NO_VALIDATORS, StagedWork
from freshcrawl.staging import is_published, kept_content

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Block
    from freshcrawl.core.boilerplate import Boilerplate
    from freshcrawl.core.published import Published, Staged
    from freshcrawl.core.report import RunReport
    from freshcrawl.core.rollback import Rollback
    from freshcrawl.sites import SiteConfig
    from freshcrawl.staging import Content
    from freshcrawl.state import SiteState

__all__ = ["NO_VALIDATORS", "Ledger"]

RUNS_KEPT = 50


class Ledger(StagedWork):
    """Page records, listings, staged work and the published pages of one site.

    Read once at the start of a run and changed in memory; ``commit`` writes
    what changed. Published pages are the truth that records are brought in
    step with, never the other way round.
    """

    def __init__(self, state: SiteState, now: float) -> None:
        super().__init__(state.records, state.pages())
        self._state = state
        self.listings = Listings(state.sources())
        self.noise = NoiseMemory(state.records)
        self.boilerplate = state.boilerplate()
        self.generation = 0
        self.published: dict[str, Published] = {}
        self.rollback: Rollback | None = None
        """The last one, released or not."""
        self.undone: dict[str, Published] = {}
        """Rows of before it, of pages that no run has looked at since its release."""
        self.forgotten = Forgotten()
        """Marks of the pages that were purged for good."""
        self._load_published()
        forgotten.catch_up(self, state)
        recover(self, state, now)
        catch_up(self, state)
        self.end_storms()

    def _load_published(self) -> None:
        snapshot = self._state.corpus.snapshot()
        try:
            self.generation = snapshot.generation
            self.published = {page.key: page for page in snapshot.pages()}
            self.rollback = snapshot.rollback()
        finally:
            snapshot.close()

    def add(self, record: PageRecord) -> None:
        """Add the record of a key that was not known."""
        self.pages[record.key] = record
        self._dirty.add(record.key)

    def make_due(self, key: str, **changes: Any) -> None:
        """Have a page asked for by the next run, without validators."""
        self.set(key, next_due=0.0, **NO_VALIDATORS, **changes)

    def restage(self, entry: Staged) -> None:
        """Keep staged work as it is, in place of what was staged of its page."""
        super().restage(entry)
        self._note_newer(entry.key)

    def unstage(self, key: str) -> None:
        """Drop staged work of a page."""
        super().unstage(key)
        self._note_newer(key)

    def _note_newer(self, key: str) -> None:
        """Note in a page's record since when a newer text than the published one waits."""
        entry, record = self.staged.get(key), self.pages.get(key)
        newer = (
            entry is not None
            and entry.status == Status.LIVE
            and self.is_live(key)
            and entry.digest != self.published[key].digest
        )
        since = entry.waits_since if newer and entry is not None else 0.0
        if record is not None and record.newer_since != since:
            self.set(key, newer_since=since)

    @property
    def pinned(self) -> bool:
        """Whether a rollback keeps runs from publishing."""
        return self.rollback is not None and self.rollback.pinned

    def brings_back(self, entry: Staged) -> bool:
        """Tell whether staged work gives a page the text again that it had before a rollback."""
        return (
            entry.status == Status.LIVE
            and entry.key in self.undone
            and is_published(entry, self.undone[entry.key])
        )

    def let_in(self, key: str) -> None:
        """Know nothing of a forgotten page any more; who lists it is read again to find it."""
        for source in self.listings.sources_of(key):
            kept = [listed for listed in source.keys if listed != key]
            self.listings.read(source.id, source.kind, kept, source.read_at)
            parent = source.id.partition(":")[2]
            if source.kind in POINTERS and parent in self.pages and not self.is_forgotten(parent):
                self.make_due(parent)
        self.recheck_aliases_of(key)
        self._drop_record(key)

    def is_forgotten(self, key: str) -> bool:
        """Tell whether a person had a page purged: it is never asked for."""
        return key in self.pages and self.pages[key].status == Status.FORGOTTEN

    def is_live(self, key: str) -> bool:
        """Tell whether a key is in the answers now."""
        return key in self.published and self.published[key].status == Status.LIVE

    def stands_by(self, key: str, now: float) -> bool:
        """Tell whether a page keeps its status, whatever answers for it in its place."""
        record = self.pages.get(key)
        left = key in self.published and record is not None and stands_by(record, now)
        return self.is_live(key) or left

    def will_live(self, key: str) -> bool:
        """Tell whether a key is live, or will be once what is staged is published."""
        if key in self.staged:
            return self.staged[key].status == Status.LIVE and not self.staged[key].canonical
        return self.is_live(key)

    def live_keys(self) -> list[str]:
        """Return the keys of the pages that are in the answers now."""
        return [key for key, page in self.published.items() if page.status == Status.LIVE]

    def live_count(self) -> int:
        """Return how many pages are in the answers now."""
        return len(self.live_keys())

    def published_blocks(self, key: str) -> list[Block] | None:
        """Return the blocks of a page as published, None if not kept. Any thread may call."""
        content = self.published_content(key)
        return content.shown_blocks() if content else None

    def published_content(self, key: str) -> Content | None:
        """Return what is kept of a page as published, None if nothing can be read.

        Any thread may call.
        """
        return kept_content(self._state.corpus, self.published[key])

    def is_older(self, key: str, made_by: str) -> bool:
        """Tell whether a page's published chunks were read or cut in another way."""
        return self.is_live(key) and self.pages[key].made_by != made_by

    def published_chunks(self) -> int:
        """Return how many passages are in the answers now."""
        snapshot = self._state.corpus.snapshot()
        try:
            return int(snapshot.info()["chunks"]) if snapshot.generation else 0
        finally:
            snapshot.close()

    def keep_boilerplate(self, learned: Boilerplate) -> None:
        """Keep what the site's pages have in common durably, with the next commit."""
        if learned != self.boilerplate:
            self.boilerplate = learned
            self._records.put("meta:boilerplate", learned.to_json())

    def adopt(self, pages: dict[str, Published], generation: int) -> None:
        """Take published pages as the truth that later fetches are compared with."""
        self.generation = generation
        for key, page in pages.items():
            self.published[key] = page
            entry = self.staged.get(key)
            self.unstage(key)
            self.settle(page, entry)

    def settle(self, page: Published, entry: Staged | None) -> None:
        """Bring a record in step with what was published of its page."""
        changes: dict[str, Any] = {"status": page.status}
        if page.status != Status.LIVE:
            changes |= {**NO_VALIDATORS, "discarded": {}}
            self.noise.drop(page.key)
            record = self.pages[page.key]
            self._drop_listings_with(page, entry)
            if entry is not None:
                changes |= {"alias_of": entry.alias_of, "reason": entry.reason}
                changes["cause"] = entry.cause or record.cause
            if page.status == Status.HIDDEN:  # by whatever way: it may be back
                changes["next_due"] = min(record.next_due, record.last_attempt + DAY)
            at = entry.staged_at if entry is not None else page.changed_at
            changes |= left(record, changes.get("cause", record.cause), at)
        else:
            changes["alias_of"] = ""
            if entry is not None:
                changes["made_by"] = entry.made_by
        self.set(page.key, **changes)

    def _drop_listings_with(self, page: Published, entry: Staged | None) -> None:
        """Forget what a page listed that has left for good, or for another page."""
        if page.status == Status.GONE:
            self.drop_listings_of(page.key)
        elif entry is not None and entry.cause in REDIRECTED:
            self.listings.drop(f"page:{page.key}")

    def forget_new(self, key: str) -> None:
        """Forget a page that this run came upon by what turned out to be no page."""
        self.unstage(key)
        self._drop_record(key)

    def _drop_record(self, key: str) -> None:
        del self.pages[key]
        self._dirty.discard(key)
        self._records.delete(f"page:{key}")

    def canonicals(self) -> Counter[str]:
        """Return how many pages, not counting those that left, name each page as canonical."""
        standing = {Status.PENDING, Status.LIVE, Status.ALIAS}
        return Counter(
            record.canonical
            for record in self.pages.values()
            if record.canonical and record.status in standing
        )

    def recheck_aliases_of(self, key: str) -> None:
        """Make the pages due that stand behind a page which is leaving the answers."""
        for record in self.pages.values():
            if record.alias_of == key and record.status == Status.ALIAS:
                self.set(record.key, next_due=0.0, **NO_VALIDATORS)

    def drop_listings_of(self, key: str) -> None:
        """Forget what a page that is gone pointed to: it is no source any more."""
        self.listings.drop(f"page:{key}")
        self.listings.drop(f"target:{key}")

    def commit(self, report: RunReport, site: SiteConfig) -> None:
        """Make records, listings and the report durable, in one transaction."""
        self._put_pages()
        self._put_listings(report.started_at)
        self.noise.save()
        self._records.put(f"run:{report.run_id}", report.to_json())
        self._records.put("meta:site", site.to_json())
        for name in [name for name, _ in self._records.items("run:")][:-RUNS_KEPT]:
            self._records.delete(name)
        self._records.commit()

    def commit_records(self) -> None:
        """Make records, listings and staged work durable, for a command that is no run."""
        self._put_pages()
        self._put_listings(math.inf)
        self._records.commit()

    def believe_listings(self) -> None:
        """Forget that a source has shrunk, once no page is in the answers that left its list."""
        self.note_unlisted()
        self.listings.believe(
            source for key in self.live_keys() for source in self.pages[key].unlisted_by
        )

    def note_unlisted(self) -> None:
        """Note in the records which sources ceased to list their pages."""
        for key, sources in self.listings.take_left().items():
            if key in self.pages:
                known = self.pages[key].unlisted_by
                self.set(key, unlisted_by=sorted(sources.union(known)))

    def _put_pages(self) -> None:
        self._state.check_own()
        self.note_unlisted()
        for key in self._dirty:
            self._records.put(f"page:{key}", self.pages[key].to_json())
        self._dirty.clear()

    def _put_listings(self, since: float) -> None:
        listings = self.listings
        for source_id in listings.changed:
            source = listings.sources.get(source_id)
            if source is None:
                self._records.delete(f"source:{source_id}")
                self._records.delete(f"listing:{source_id}")
            else:
                self._records.put(f"listing:{source_id}", {"keys": source.keys})
        for source_id, source in listings.sources.items():
            if source.read_at >= since or source_id in listings.changed:
                self._records.put(f"source:{source_id}", {**source.to_json(), "keys": []})
        listings.changed.clear()
