"""The run report: what one run did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import JsonRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMES = ("started_at", "finished_at")
SAVED = ("saved_requests", "saved_downloads", "saved_bytes", "saved_chunks")
ENDED_EARLY = "the run ended early"
"""Start of the reason for which such a run is not complete."""
URLS_KEPT = 20
URL_KINDS = {
    **{name: (name, name) for name in ("new", "changed", "moved", "gone", "hidden")},
    "excluded": ("newly_excluded", "newly excluded"),
    **{name: (name, name) for name in ("rejected", "failed")},
}
"""Verdicts whose pages the report names, with the counter of these pages and its words."""


@dataclass(slots=True)
class RunReport(JsonRecord):
    """Counters of a run. Times are epoch seconds here and ISO 8601 UTC in ``as_contract``."""

    run_id: str
    started_at: float
    finished_at: float = 0.0
    status: str = "running"
    """running, ok, failed; killed once a later run finds that it never ended."""
    finish_reason: str = ""
    """``finished``, or what ended the run early, in Scrapy's words (``shutdown``)."""
    full: bool = False
    dry_run: bool = False
    first_crawl: bool = False
    """Nothing of the site was published before."""
    complete: bool = False
    incomplete_reasons: list[str] = field(default_factory=list)
    held: int = 0
    """Pages whose staged work is held."""
    released: int = 0
    """Pages whose work was held before and is let go by this run."""
    held_reasons: list[str] = field(default_factory=list)
    held_classes: list[str] = field(default_factory=list)
    """Guards that hold them: removals, changes."""
    held_verdicts: dict[str, int] = field(default_factory=dict)
    """How many of the pages that are counted below under a verdict are held, by verdict."""
    pinned: str = ""
    """Why nothing is published, if the site was rolled back and not released since."""
    error: str = ""
    discovered: int = 0
    """Keys that a source lists."""
    not_due: int = 0
    asked: int = 0
    """Pages that were asked for, with or without an answer."""
    fetched: int = 0
    """Page requests that got an answer, 304 and errors of the server included."""
    not_modified: int = 0
    new: int = 0
    changed: int = 0
    cosmetic: int = 0
    links_only: int = 0
    unchanged: int = 0
    moved: int = 0
    gone: int = 0
    hidden: int = 0
    dead: int = 0
    """Listed URLs that answer 404 or 410 and never were pages."""
    missing: int = 0
    """Pages found unlisted and still answering."""
    excluded: int = 0
    newly_excluded: int = 0
    """Those of them that were in the answers and leave."""
    kept: int = 0
    """Pages that would leave, but a policy of the site keeps them."""
    rejected: int = 0
    rejected_kinds: dict[str, int] = field(default_factory=dict)
    """How many of them were what: ``login form``, ``soft 404`` and so on."""
    failed: int = 0
    remade: int = 0
    """Published pages that are made anew from what is kept of them."""
    chunks_embedded: int = 0
    chunks_reused: int = 0
    chunks_removed: int = 0
    pending_embed: int = 0
    """Pages whose text waits for its vectors only, at the end."""
    chunks_pending: int = 0
    """Passages without vectors of those that this run wanted to publish; they wait."""
    embed_problem: str = ""
    """Why embedding stopped before its end."""
    chunks_to_embed: int = 0
    """Passages that a dry run found, and that no vector is kept of."""
    bytes_downloaded: int = 0
    page_bytes: int = 0
    """Bytes of page bodies, decompressed; a 304 has none."""
    recrawl_requests: int = 0
    """Pages that a full recrawl would have asked for: those that are listed or published."""
    recrawl_bytes: int = 0
    """Bytes of their bodies, decompressed."""
    recrawl_chunks: int = 0
    """Passages that are published at the end."""
    stale: int = 0
    stale_reasons: dict[str, int] = field(default_factory=dict)
    changing: list[dict[str, Any]] = field(default_factory=list)
    """Pages that change at every check: ``url``, ``runs`` in a row, ``tokens``."""
    urls: dict[str, list[str]] = field(default_factory=dict)
    """The first pages by verdict; the counters have the whole number."""
    generation: int = 0
    torch_imported: bool = False
    """Whether the process loaded the embedding library."""

    @property
    def duration_s(self) -> float:
        """Seconds from start to end; 0 while running."""
        return round(max(self.finished_at - self.started_at, 0.0), 3) if self.finished_at else 0.0

    @property
    def saves(self) -> bool:
        """Whether a comparison with a full recrawl says anything: not where the run was cut off."""
        cut_off = self.finish_reason != "finished" or (self.incomplete_reasons and not self.asked)
        return not (self.first_crawl or self.dry_run or cut_off)

    @property
    def saved_requests(self) -> int:
        """Pages that a full recrawl would have asked for and this run did not."""
        return self._saved(self.recrawl_requests, self.asked)

    @property
    def saved_downloads(self) -> int:
        """Pages that a full recrawl would have downloaded and this run did not."""
        return self._saved(self.recrawl_requests, self.asked - self.not_modified)

    @property
    def saved_bytes(self) -> int:
        """Bytes of page bodies that a full recrawl would have read and this run did not."""
        return self._saved(self.recrawl_bytes, self.page_bytes)

    @property
    def saved_chunks(self) -> int:
        """Passages that a full recrawl would have embedded and this run did not."""
        return self._saved(self.recrawl_chunks, self.chunks_embedded)

    def _saved(self, whole: int, spent: int) -> int:
        return max(whole - spent, 0) if self.saves else 0

    def name_pages(self, found: Mapping[str, str]) -> None:
        """Take the first URLs of each verdict; ``found`` has the verdict by URL."""
        for url, kind in sorted(found.items()):
            if kind in URL_KINDS and len(self.urls.setdefault(kind, [])) < URLS_KEPT:
                self.urls[kind].append(url)

    def incomplete(self, reason: str) -> None:
        """Note once why the run did not see the whole site."""
        if reason not in self.incomplete_reasons:
            self.incomplete_reasons.append(reason)

    def as_contract(self) -> dict[str, Any]:
        """Return the report as ``status --json`` shows it."""
        data = {name: getattr(self, name) for name in self.__slots__}
        for name in TIMES:
            data[name] = iso(data[name])
        data["duration_s"] = self.duration_s
        return data | {name: getattr(self, name) for name in SAVED}


def iso(moment: float) -> str | None:
    """Return epoch seconds as ISO 8601 UTC, None for 0 (never)."""
    if not moment:
        return None
    return (
        datetime.fromtimestamp(moment, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
