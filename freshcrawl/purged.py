"""What is stored of pages before they are purged: counted, and known by digests alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.core.listings import POINTERS
from freshcrawl.core.published import Chunk
from freshcrawl.forgotten import names_pattern
from freshcrawl.state import CORPUS
from freshcrawl.stores.corpus_inventory import Stored, inventory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from freshcrawl.ledger import Ledger
    from freshcrawl.state import SiteState

COUNTS = {
    "versions": "version",
    "chunks": "passage",
    "vectors": "vector",
    "content": "kept text",
    "staged": "staged change",
    "listings": "list",
    "noise": "noise record",
    "report_mentions": "mention in reports",
}
"""What is counted of a page, and its noun."""


@dataclass(slots=True)
class PurgedPage:
    """One page, as it was stored."""

    key: str
    urls: list[str]
    status: str
    """As it was, "" if it was staged only."""
    removed: dict[str, int]
    """Counts by the names of ``COUNTS``."""
    text_sha256: list[str]
    """sha256 of the digest of each of its published texts: they tell nobody what these said, and
    whoever has a text can show that it is one of them."""
    forgotten_at: float = 0.0
    """When it was forgotten, in epoch seconds."""


@dataclass(slots=True)
class Purged:
    """All pages of a purge, and by what they would be found again."""

    pages: list[PurgedPage] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """Keys and URLs."""
    digests: set[str] = field(default_factory=set)
    """Digests of texts, content and passages that no other page has."""
    ids: set[int] = field(default_factory=set)
    """Ids of passages, as index files have them."""

    def totals(self) -> dict[str, int]:
        """Return the sums of the counts."""
        return {name: sum(page.removed[name] for page in self.pages) for name in COUNTS}


def look_at(
    state: SiteState,
    folder: Path,
    ledger: Ledger,
    urls: Mapping[str, Collection[str]],
    waiting: Collection[str],
) -> Purged:
    """Return what is stored of some pages, by all URLs that are known of each key.

    ``waiting`` has the embed digests of what waits of other pages.

    Raises:
        StoreError: a file cannot be read.
    """
    staged = {key: _staged_digests(ledger, key) for key in urls}
    stored = inventory(folder / CORPUS, urls.keys(), staged, waiting)
    records = state.pages_of(urls)
    reports = [json.dumps(row, ensure_ascii=False) for _, row in state.records.items("run:")]
    found = Purged()
    for key, of in stored.items():
        record = records.get(key)
        of_record = (record.url, record.listed_url, record.via) if record else ()
        of_staged = (ledger.staged[key].url,) if key in ledger.staged else ()
        known = sorted(filter(None, {*urls[key], *of.urls, *of_record, *of_staged}))
        page = PurgedPage(
            key, known, str(record.status) if record else "", _counts(of), _hashed(of.texts)
        )
        page.removed |= {
            "staged": int(key in ledger.staged),
            "listings": sum(f"{kind}:{key}" in ledger.listings.sources for kind in POINTERS),
            "noise": int(state.records.get(f"noise:{key}") is not None),
            "report_mentions": _mentions(reports, {key, *known}),
        }
        found.pages.append(page)
        found.names |= {key, *known}
        found.digests |= of.own
        found.ids |= of.ids
    return found


def _counts(of: Stored) -> dict[str, int]:
    return {name: getattr(of, name) for name in ("versions", "chunks", "vectors", "content")}


def _hashed(texts: Iterable[str]) -> list[str]:
    return sorted(hashlib.sha256(text.encode()).hexdigest() for text in texts)


def _staged_digests(ledger: Ledger, key: str) -> set[str]:
    entry = ledger.staged.get(key)
    if entry is None:
        return set()
    [whole] = ledger.whole([entry])
    return {Chunk.from_json(chunk).embed_digest for chunk in whole.chunks}


def _mentions(reports: Iterable[str], names: Collection[str]) -> int:
    pattern = names_pattern(names)
    named = (report for report in reports if any(name in report for name in names))
    return sum(len(pattern.findall(report)) for report in named)
