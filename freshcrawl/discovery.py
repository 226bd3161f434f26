"""Discovery: which pages a site has, by its sitemaps or by its links, source by source."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.http import Request, Response

from freshcrawl.core.hosts import is_private, same_host
from freshcrawl.core.urls import normalize_url
from freshcrawl.failures import in_words
from freshcrawl.robots import RobotsForbidden
from freshcrawl.seeds import SITEMAPS, drop_other_ways, forget_links, seeds, start_page
from freshcrawl.sitemap_places import named_sitemaps, where_to_look
from freshcrawl.sitemaps import Sitemap, parse_sitemap, usual_places
from freshcrawl.threads import in_turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from twisted.python.failure import Failure

    from freshcrawl.robots import RobotsMiddleware
    from freshcrawl.run import Run

logger = logging.getLogger(__name__)

MAX_DEPTH = 5
"""Nesting of sitemap indexes that is followed."""
MAX_SITEMAPS = 1_000
SITEMAP = "freshcrawl_sitemap"
ANSWERS = [status for status in range(200, 600) if status not in {301, 302, 303, 307, 308}]
"""Statuses that come to the callback; redirects of sitemaps are followed by Scrapy."""


class Discovery:
    """Reads the sources of one run and tells the run which keys each of them lists.

    A source that fails, or is read in part, takes nothing off its old listing
    and makes the run incomplete.
    """

    def __init__(
        self, run: Run, robots: RobotsMiddleware | None, page: Callable[[str], Request | None]
    ) -> None:
        self._run = run
        self._robots = robots
        self._page = page
        self._asked: set[str] = set()
        self._failed: set[str] = set()
        self._open = 0
        self._read = 0
        self._broken = 0
        self._outside = 0
        self._probed = False
        self.blocked = False
        """Whether nothing may be fetched in this run, because robots.txt could not be read."""
        self._named: set[str] = set()
        """Sitemaps that robots.txt or the operator names."""
        self._vanished: dict[str, int] = {}
        """Status by URL of root sitemaps that are known and answer 404 or 410."""

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first requests: sitemaps, or the start page where there can be none."""
        named = await self._ask_robots()
        if self.blocked:
            return
        drop_other_ways(self._run)
        if self._run.site.discovery in {"links", "list"}:
            for request in seeds(self._run, self._page):
                yield request
            return
        roots, certain = self._roots(named)
        for url in roots:
            for request in self._sitemap(url, 0, known=certain):
                yield request
        if self._open == 0:
            for request in self._after_sitemaps():
                yield request

    async def _ask_robots(self) -> list[str]:
        """Return the sitemaps that robots.txt names; note when it cannot be read."""
        if self._robots is None:
            return []
        policy = await self._robots.policy(self._run.site.scope.root)
        if policy.problem:
            self.blocked = True
            self._run.report.incomplete(f"robots.txt unavailable ({policy.problem})")
        return policy.sitemaps

    def _roots(self, from_robots: list[str]) -> tuple[list[str], bool]:
        """Return where to look for sitemaps, and whether they are known to be there."""
        site = self._run.site
        named = named_sitemaps(site, from_robots)
        self._named.update(named)
        known = [source[8:] for source in self._run.ledger.listings.of_kind("sitemap_root")]
        roots, certain = where_to_look(site, named, known)
        self._probed = not certain
        return roots, certain

    def _sitemap(self, url: str, depth: int, *, known: bool) -> Iterator[Request]:
        with suppress(ValueError):
            url = normalize_url(url)  # without a password that the site wrote into it
        if url in self._asked or len(self._asked) >= MAX_SITEMAPS or depth > MAX_DEPTH:
            if url not in self._asked:
                self._run.ledger.listings.failed.add(f"sitemap:{url}")
                self._run.report.incomplete(f"too many or too deeply nested sitemaps at {url}")
            return
        self._asked.add(url)
        if is_private(url) and not same_host(url, self._run.site.url):
            self._run.ledger.listings.failed.add(f"sitemap:{url}")
            self._run.report.incomplete(f"sitemap {url} is at a private address: not asked for")
            return
        self._open += 1
        yield Request(
            url,
            callback=self.parse_sitemap,
            errback=self.sitemap_failed,
            dont_filter=True,
            priority=100,
            # What robots.txt itself or the operator names may be read whatever the rules say.
            meta={"dont_obey_robotstxt": known, "handle_httpstatus_list": ANSWERS, SITEMAP: url},
            cb_kwargs={"depth": depth, "known": known},
        )

    async def parse_sitemap(
        self, response: Response, depth: int, known: bool
    ) -> AsyncIterator[Request]:
        """Take a sitemap's answer; yield requests for its children and its due pages."""
        url = response.meta[SITEMAP]
        try:
            requests = await self._taken(response, url, depth, known)
        except Exception as error:
            if self._run.ends_for(error):
                return
            logger.exception("%(url)s could not be read", {"url": url})
            self._fail(url, repr(error))
            requests = []
        for request in requests:
            yield request
        self._open -= 1
        if self._open == 0:
            for request in self._after_sitemaps():
                yield request

    async def _taken(self, response: Response, url: str, depth: int, known: bool) -> list[Request]:
        if response.status == 200:
            sitemap = await in_turn(parse_sitemap, response.body, response.url)
            return self._listed(url, sitemap, depth, known)
        expected = known or f"sitemap:{url}" in self._run.ledger.listings.sources
        if expected and depth == 0 and response.status in {404, 410}:
            self._vanished[url] = response.status
        elif expected or response.status >= 500 or response.status == 429:
            self._fail(url, f"HTTP {response.status}")
        return []

    def _listed(self, url: str, sitemap: Sitemap, depth: int, known: bool) -> list[Request]:
        if not sitemap.complete and not sitemap.entries:
            if known or f"sitemap:{url}" in self._run.ledger.listings.sources:
                self._fail(url, sitemap.problem)
            return []
        if not sitemap.complete:
            self._fail(url, sitemap.problem)
        if not sitemap.entries and self._listed_before(url):
            self._fail(url, "lists nothing any more")
            return []
        kind = "sitemap_root" if depth == 0 else "sitemap"
        if sitemap.kind == "index":
            self._read += 1
            children = [entry.url for entry in sitemap.entries]
            self._note(url, kind, [f"sitemap:{child}" for child in children], sitemap.complete)
            return [r for child in children for r in self._sitemap(child, depth + 1, known=True)]
        keys: list[str] = []
        requests: list[Request] = []
        for entry in sitemap.entries:
            key = self._run.sightings.see(entry.url, entry.lastmod)
            if key is not None:
                keys.append(key)
        self._outside += len(sitemap.entries) - len(keys)
        if sitemap.entries and not keys and self._lost_all(url):
            self._fail(url, f"none of the {len(sitemap.entries)} pages that it lists is the site's")
            return []
        self._read += 1
        if sitemap.complete:
            self._run.ledger.listings.answered(f"sitemap:{url}")
        # A feed names the newest pages only.
        self._note(url, kind, keys, sitemap.complete and sitemap.kind != "feed")
        for key in dict.fromkeys(keys):
            request = self._page(key)
            if request is not None:
                requests.append(request)
        return requests

    def _listed_before(self, url: str) -> bool:
        source = self._run.ledger.listings.sources.get(f"sitemap:{url}")
        return source is not None and bool(source.keys)

    def _lost_all(self, url: str) -> bool:
        """Tell whether a sitemap listed pages that are the site's still: a wrong base URL.

        After a long time it is believed: then it has become another site's.
        """
        ledger, source_id = self._run.ledger, f"sitemap:{url}"
        source = ledger.listings.sources.get(source_id)
        if source is None or ledger.listings.is_given_up(source_id, self._run.now):
            return False
        return any(key in ledger.pages and not ledger.pages[key].left_out for key in source.keys)

    def _note(self, url: str, kind: str, keys: list[str], whole: bool) -> None:
        if whole:
            self._run.sightings.listing_read(f"sitemap:{url}", kind, keys)
        else:
            self._run.ledger.listings.extend(f"sitemap:{url}", kind, keys)

    def sitemap_failed(self, failure: Failure) -> Iterator[Request]:
        """Note a sitemap that could not be fetched."""
        if self._run.stopping:
            return
        request: Request = failure.request  # type: ignore[attr-defined]
        if not isinstance(failure.value, RobotsForbidden):
            self._fail(request.meta[SITEMAP], in_words(failure.value))
        self._open -= 1
        if self._open == 0:
            yield from self._after_sitemaps()

    def _fail(self, url: str, problem: str) -> None:
        self._broken += 1
        again = 0
        if url not in self._failed:
            self._failed.add(url)
            again = self._run.ledger.listings.unread(f"sitemap:{url}")
        told = f" (for {again} runs in a row; what it listed stays listed)" if again > 1 else ""
        self._run.report.incomplete(f"sitemap {url}: {problem}{told}")

    def _after_sitemaps(self) -> Iterator[Request]:
        """Forget sitemaps that are named no more; follow links where there is no sitemap."""
        self._drop_unnamed()
        self._drop_unlinked()
        self._judge_vanished()
        listings = self._run.ledger.listings
        if self._outside and not listings.any_listed(*SITEMAPS):
            root = self._run.site.scope.root
            self._run.report.incomplete(
                f"the sitemaps list {self._outside} pages, but none of them is below {root}"
            )
        if self._run.site.discovery == "sitemap":
            if not self._read:
                self._run.report.incomplete("no sitemap could be read")
            elif not self._broken:
                forget_links(self._run)
        elif listings.any_listed(*SITEMAPS):
            if not self._broken:
                forget_links(self._run)
        elif (
            listings.of_kind("start")
            or not listings.of_kind(*SITEMAPS)
            or not self._run.ledger.live_count()
        ):
            # Known by its links, or not at all. An empty or failing sitemap of a
            # site that had a full one is no reason to search it by links.
            yield from self._probe() or start_page(self._run, self._page)

    def _probe(self) -> list[Request]:
        """Return requests for the usual places, once, after named sitemaps turned out dead."""
        if self._probed or self._run.site.sitemaps:
            return []
        self._probed = True
        places = usual_places(self._run.site.scope.root)
        return [request for url in places for request in self._sitemap(url, 0, known=False)]

    def _judge_vanished(self) -> None:
        """Drop known sitemaps that are gone and named nowhere, if another one took over."""
        for url, status in self._vanished.items():
            if self._read and url not in self._named:
                self._run.ledger.listings.drop(f"sitemap:{url}")
            else:
                self._fail(url, f"HTTP {status}")

    def _drop_unnamed(self) -> None:
        """Drop sitemaps that were found before others were named, once those were read."""
        if self._named and self._read and not self._broken:
            for source in self._run.ledger.listings.of_kind("sitemap_root"):
                if source.removeprefix("sitemap:") not in self._named:
                    self._run.ledger.listings.drop(source)

    def _drop_unlinked(self) -> None:
        """Drop child sitemaps that no index lists any more; an unread index keeps its list."""
        for source in self._run.ledger.listings.of_kind("sitemap"):
            if not self._run.ledger.listings.lists(source):
                self._run.ledger.listings.drop(source)
