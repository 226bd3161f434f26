"""Sightings: which URLs the sources of a site list, as keys of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from freshcrawl.core.forgetting import record_of
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.urls import normalize_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.report import RunReport
    from freshcrawl.ledger import Ledger
    from freshcrawl.sites import SiteConfig

LEFT = frozenset({Status.HIDDEN, Status.GONE})


class Sightings:
    """Takes what sources list into the ledger: new keys, and who lists what."""

    def __init__(
        self, ledger: Ledger, site: SiteConfig, config: Config, report: RunReport, clock: Clock
    ) -> None:
        self._ledger = ledger
        self._site = site
        self._config = config
        self._report = report
        self._clock = clock
        self.left_out = 0
        """Pages that are known, but not the site's any more."""
        self.follows_links = False
        """Set by discovery when links are how the site's pages are found."""

    def key_of(self, url: str) -> str | None:
        """Return the key of a URL, or None if it does not belong to the site."""
        return self._site.key_of(url, start=self.follows_links)

    def see(self, url: str, lastmod: str = "") -> str | None:
        """Note that a source lists ``url``; return its key, or None if it is out of scope."""
        key = self.key_of(url)
        if key is None:
            return None
        record = self._ledger.pages.get(key)
        if record is None:
            url = normalize_url(url)
            if mark := self._ledger.forgotten.of(key, url):
                self._ledger.add(record_of(key, mark, urlsplit(url).scheme))
                self.left_out += 1
                return key
            self._ledger.add(PageRecord(key, url, first_seen=self._clock(), lastmod=lastmod))
            return key
        if record.status == Status.FORGOTTEN:
            return key
        listed = normalize_url(url)
        if listed == record.url:
            listed = ""
        if listed != record.listed_url:
            self._ledger.set(key, listed_url=listed)
        if lastmod and lastmod != record.lastmod:
            self._ledger.set(key, lastmod=lastmod)
        return key

    def listing_read(self, source: str, kind: str, keys: Iterable[str]) -> None:
        """Take the keys that a source lists, when the source was read whole."""
        pages, listings = self._ledger.pages, self._ledger.listings
        before = listings.sources.get(source)
        read_at, known = (before.read_at, set(before.keys)) if before else (0.0, set())
        keys = list(keys)
        for key in listings.read(source, kind, keys, self._clock()):
            if key in pages:
                self._ledger.set(key, last_seen=read_at)
        for key in keys:
            if key in known or key not in pages or pages[key].status not in LEFT:
                continue
            # A page that left is listed anew: it may be back, unless it was asked just now.
            if pages[key].last_attempt < self._report.started_at:
                self._ledger.set(key, next_due=0.0)

    def list_links(self, key: str, urls: list[str]) -> bool:
        """Take the links of a page that was read whole as the listing of that page.

        Returns whether all were taken: a site has up to ``max_pages`` pages.
        """
        first: dict[str, str] = {}
        for url in urls:
            target = self.key_of(url)
            if target and target != key:
                first.setdefault(target, url)
        new = [target for target in first if target not in self._ledger.pages]
        room = self._config.max_pages - len(self._ledger.pages) + self.left_out
        over = set(new[max(room, 0) :])
        for target, url in first.items():
            known = self._ledger.pages.get(target)
            # Of a page that is left out, another spelling may be let in.
            if target not in over and (known is None or known.left_out):
                self.see(url)
        if over:
            self._report.incomplete(f"more than {self._config.max_pages} pages (max_pages)")
        self.listing_read(f"page:{key}", "page", [t for t in first if t not in over])
        return not over

    def list_targets(self, key: str, urls: list[str], *, whole: bool) -> None:
        """Take the pages that a page points to by redirect or canonical link."""
        targets = [k for url in urls if (k := self.see(url)) and k != key]
        if targets:
            self.listing_read(f"target:{key}", "target", targets)
        elif whole:
            self._ledger.listings.drop(f"target:{key}")

    def only_pointed_to(self, key: str) -> bool:
        """Tell whether a key is listed by nothing but redirects and canonical links."""
        return all(s.kind == "target" for s in self._ledger.listings.sources_of(key))

    def pointed_to(self, key: str) -> list[str]:
        """Return the keys that a page lists, by target or link."""
        sources = (
            self._ledger.listings.sources.get(f"{kind}:{key}") for kind in ("target", "page")
        )
        return [target for source in sources if source for target in source.keys]
