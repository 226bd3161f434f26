"""Which source lists which key: the evidence for presence and absence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from freshcrawl.core.pages import JsonRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


POINTERS = ("page", "target")
"""Kinds of source that are pages: what one links to, and what its redirect or canonical names."""

PATIENCE = 30 * 86_400.0
"""Seconds for which what a list that fails may have come to list is waited for."""
PATIENT_RUNS = 3
"""Runs in a row that must have failed to read it by then: one after a long pause proves nothing."""


@dataclass(slots=True)
class Source(JsonRecord):
    """A place that lists pages: a sitemap, a page with links, a redirect."""

    id: str
    """``sitemap:<url>``, ``page:<key>`` or ``start``."""
    kind: str
    read_at: float = 0.0
    """When it was last read whole (epoch seconds)."""
    keys: list[str] = field(default_factory=list)
    before: int = 0
    """How many keys it listed before it shrank; 0 if it did not, has grown back, or no page is
    left in the answers that it ceased to list."""
    unread_runs: int = 0
    """Runs in a row that could not read it."""


class Listings:
    """Every source with the keys that it listed when it was last read whole.

    A source that was not read keeps its old listing, so that its pages stay
    listed: only reading can take a page off a list.
    """

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self.sources: dict[str, Source] = {}
        self._count: Counter[str] = Counter()
        self._left: dict[str, set[str]] = {}
        self._reached: set[str] | None = None
        self.failed: set[str] = set()
        """Ids of sources that this run could not read, those that are not known too."""
        self.changed: set[str] = set()
        """Ids of sources whose keys differ from what was given at the start."""
        for source in sources:
            self.sources[source.id] = source
            self._count.update(source.keys)

    def read(self, source_id: str, kind: str, keys: Iterable[str], now: float) -> set[str]:
        """Replace the listing of a source that was read whole; return the keys that left it."""
        source = self._source(source_id, kind)
        source.read_at, source.kind = now, kind
        self.answered(source_id)
        fresh = list(dict.fromkeys(keys))
        if fresh == source.keys:
            return set()
        left = set(source.keys).difference(fresh)
        self._replace(source, fresh)
        return left

    def extend(self, source_id: str, kind: str, keys: Iterable[str]) -> None:
        """Add keys of a source that was read in part: nothing leaves its listing."""
        source = self._source(source_id, kind)
        fresh = list(dict.fromkeys([*source.keys, *keys]))
        if fresh != source.keys:
            self._replace(source, fresh)

    def unread(self, source_id: str) -> int:
        """Count a run that could not read a source; return how many did so in a row, 0 if new."""
        source = self.sources.get(source_id)
        self.failed.add(source_id)
        if source is None:
            return 0
        source.unread_runs += 1
        self.changed.add(source_id)
        return source.unread_runs

    def answered(self, source_id: str) -> None:
        """Note that a source could be read, be it that it never lists all of its pages."""
        source = self.sources.get(source_id)
        self.failed.discard(source_id)
        if source is not None and source.unread_runs:
            source.unread_runs = 0
            self.changed.add(source_id)

    def is_given_up(self, source_id: str, now: float) -> bool:
        """Tell whether a source could not be read for so long that nobody waits for it."""
        source = self.sources[source_id]
        return source.unread_runs >= PATIENT_RUNS and now - source.read_at >= PATIENCE

    def drop(self, source_id: str) -> set[str]:
        """Forget a source that exists no more; return the keys that it listed."""
        source = self.sources.pop(source_id, None)
        if source is None:
            return set()
        self._count.subtract(source.keys)
        self._note_left(source_id, source.keys)
        self._reached = None
        self.changed.add(source_id)
        return set(source.keys)

    def of_page(self, key: str) -> dict[str, Source | None]:
        """Return copies of the sources that a page is, by id; None for what it is not."""
        found = {f"{kind}:{key}": self.sources.get(f"{kind}:{key}") for kind in POINTERS}
        return {i: replace(s, keys=[*s.keys]) if s else None for i, s in found.items()}

    def restore(self, before: Mapping[str, Source | None]) -> None:
        """Take back what was read of a page since ``of_page``: it was none of its own."""
        for source_id, source in before.items():
            if source is None:
                self.drop(source_id)
            else:
                self._replace(self._source(source_id, source.kind), source.keys)
                self.sources[source_id] = source

    def rename(self, names: Mapping[str, str]) -> None:
        """Let sources that list a key list another instead: the same page under a new name."""
        for source in self.sources.values():
            if not names.keys().isdisjoint(source.keys):
                named = dict.fromkeys(names.get(key, key) for key in source.keys)
                self._replace(source, list(named))

    def shrank(self, source_id: str) -> bool:
        """Tell whether a source lists half as many keys as before (rounded up), or is no more."""
        source = self.sources.get(source_id)
        return source is None or len(source.keys) <= (source.before + 1) // 2 < source.before

    def lost(self) -> int:
        """Return how many keys all sources that have shrunk by half list no more."""
        shrunk = (source for source in self.sources.values() if self.shrank(source.id))
        return sum(source.before - len(source.keys) for source in shrunk)

    def believe(self, waiting: Iterable[str]) -> None:
        """Forget that sources have shrunk, but for those that are ``waiting``."""
        waits = set(waiting)
        for source in self.sources.values():
            if source.before and source.id not in waits:
                source.before = 0
                self.changed.add(source.id)

    def lists(self, key: str) -> bool:
        """Tell whether any source lists the key."""
        return self._count[key] > 0 if key in self._count else False

    def times_listed(self) -> Counter[str]:
        """Return how many sources list each key."""
        return Counter(self._count)

    def listed(self) -> set[str]:
        """Return all keys that any source lists."""
        return {key for key, count in self._count.items() if count > 0}

    def reached(self) -> set[str]:
        """Return the keys that sitemaps, the start page or a fixed list lead to, link by link.

        Pages that only list each other are listed, but not reached.
        """
        if self._reached is None:
            waiting = [
                key
                for source in self.sources.values()
                if source.kind not in POINTERS
                for key in source.keys
            ]
            self._reached = set(waiting)
            while waiting:
                key = waiting.pop()
                for kind in POINTERS:
                    source = self.sources.get(f"{kind}:{key}")
                    fresh = set(source.keys) - self._reached if source else set()
                    self._reached |= fresh
                    waiting += fresh
        return self._reached

    def take_left(self) -> dict[str, set[str]]:
        """Return, by key, the sources that ceased to list it since this was last asked."""
        left, self._left = self._left, {}
        return left

    def sources_of(self, key: str) -> list[Source]:
        """Return the sources that list the key, by id."""
        found = (source for source in self.sources.values() if key in source.keys)
        return sorted(found, key=lambda source: source.id)

    def of_kind(self, *kinds: str) -> list[str]:
        """Return the ids of the sources of some kinds, sorted."""
        return sorted(source.id for source in self.sources.values() if source.kind in kinds)

    def any_listed(self, *kinds: str) -> bool:
        """Tell whether a source of some kinds lists anything."""
        return any(self.sources[source_id].keys for source_id in self.of_kind(*kinds))

    def _source(self, source_id: str, kind: str) -> Source:
        if source_id not in self.sources:
            self.sources[source_id] = Source(source_id, kind)
            self.changed.add(source_id)
        return self.sources[source_id]

    def _note_left(self, source_id: str, keys: Iterable[str]) -> None:
        for key in keys:
            self._left.setdefault(key, set()).add(source_id)

    def _replace(self, source: Source, keys: list[str]) -> None:
        self._note_left(source.id, set(source.keys).difference(keys))
        self._reached = None
        self._count.subtract(source.keys)
        self._count.update(keys)
        most = max(source.before, len(source.keys))
        source.before = most if len(keys) < most else 0
        source.keys = keys
        self.changed.add(source.id)
