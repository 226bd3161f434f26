"""The spider of ``scrapy doctor``: asks a site what a first crawl depends on, and keeps nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin, urlsplit

from scrapy import Spider
from scrapy.http import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import run_in_thread

from freshcrawl.config import Config
from freshcrawl.core.hosts import is_private, same_host
from freshcrawl.discovery import ANSWERS
from freshcrawl.doctor import one_line
from freshcrawl.doctor.findings import Asked, Findings, SeenPage, SeenSitemap
from freshcrawl.doctor.listing import pages_of
from freshcrawl.doctor.page import is_poor
from freshcrawl.extensions import STOPPED
from freshcrawl.extract import extract
from freshcrawl.render import playwright_settings, render_meta
from freshcrawl.robots import RobotsForbidden, RobotsPolicy, RobotsUnavailable, read_policy
from freshcrawl.sitemap_places import named_sitemaps, where_to_look
from freshcrawl.sitemaps import parse_sitemap, usual_places
from freshcrawl.spiders.docs import name_contact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler

    from freshcrawl.sites import SiteConfig

MAX_REQUESTS = 14
"""Requests to one site, without the redirects of robots.txt and sitemaps."""
MAX_HOPS = 4
CHILDREN = 3
"""Sitemaps of an index that are read."""
ANSWER_SECS = 20.0
"""Longest wait for one answer."""
PROBE_SECS = 60.0
"""Longest time for all of a site."""
NOTHING_KEPT: dict[str, Any] = {"FEEDS": {}, "HTTPCACHE_ENABLED": False, "JOBDIR": None}
"""Settings under which a crawl leaves no file."""


class ProbeSpider(Spider):
    """Fills ``findings``, by the crawl's own headers, waits, proxies and TLS.

    It has no attribute ``site``, so that no state is opened for it.
    """

    name = "doctor"

    def __init__(self, target: SiteConfig, known: list[str], *, browser: bool) -> None:
        super().__init__()
        self.findings = Findings(target, "", browser=browser)
        self.stopped = False
        self._known = known
        self._left = MAX_REQUESTS
        self._policies: dict[str, RobotsPolicy] = {}

    @property
    def target(self) -> SiteConfig:
        """The site whose headers and credentials the requests have."""
        return self.findings.site

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider: ``target``, its ``known`` sitemaps, whether there is a ``browser``."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        findings, settings = spider.findings, crawler.settings
        if findings.browser:
            settings.update(playwright_settings(findings.site), priority="spider")
        settings.setdict(NOTHING_KEPT, priority="cmdline")
        name_contact(crawler, Config.from_settings(settings).contact, findings.site.url)
        if settings.getbool("ROBOTSTXT_OBEY"):
            findings.agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Ask everything; nothing is yielded."""
        try:
            async with asyncio.timeout(PROBE_SECS):
                await self._probe()
        except TimeoutError:
            self.findings.late = True
        except Exception as error:
            self.logger.exception("the site could not be looked at")
            self.findings.error = f"{type(error).__name__}: {one_line(error)}"
        for nothing in list[Request]():
            yield nothing

    def closed(self, reason: str) -> None:
        """Note that a signal ended it: what was not answered then says nothing of the site."""
        self.stopped = reason == STOPPED

    async def _probe(self) -> None:
        findings, site = self.findings, self.findings.site
        findings.robots, findings.policy = await self._robots(site.scope.root)
        if findings.policy.problem:
            return
        if not site.url_is_sitemap:
            findings.page = await self._page(site.urls[0] if site.urls else site.url)
            await self._ask_again(findings.page)
        if site.discovery not in {"links", "list"}:
            await self._sitemaps(findings.policy.sitemaps)
        if (findings.page is None or is_poor(findings.page)) and (url := self._another()):
            findings.sample = await self._page(url)

    async def _ask(self, url: str, *, headers: dict[str, str] | None = None, **meta: Any) -> Asked:
        if not self._left:
            return Asked(url, problem="NotAsked")
        self._left -= 1
        seconds = min(self.settings.getfloat("DOWNLOAD_TIMEOUT"), ANSWER_SECS)
        request = Request(
            url,
            callback=NO_CALLBACK,
            headers=headers,
            dont_filter=True,
            meta={
                "dont_obey_robotstxt": True,  # it is obeyed here, with one request for it
                "dont_retry": True,
                "download_timeout": seconds,
                "handle_httpstatus_list": ANSWERS,
                **meta,
            },
        )
        try:
            # The browser has time-outs of its own, longer ones.
            async with asyncio.timeout(seconds + 5):
                return Asked.answer(await self.crawler.engine.download_async(request))
        except Exception as error:
            return Asked.failure(url, error)

    async def _robots(self, url: str) -> tuple[Asked, RobotsPolicy]:
        asked = await self._ask(urljoin(url, "/robots.txt"))
        policy = read_policy(asked.status, asked.body, asked.url)
        if asked.problem:
            policy = RobotsPolicy(problem=asked.problem)
        if not self.findings.agent:
            policy = RobotsPolicy()
        self._policies[_origin(url)] = policy
        return asked, policy

    async def _forbidden(self, url: str) -> bool:
        """Tell whether robots.txt of the URL's host keeps us from it."""
        if _origin(url) not in self._policies:
            await self._robots(url)
        try:
            self._policies[_origin(url)].check(url, self.findings.agent)
        except (RobotsForbidden, RobotsUnavailable):
            return True
        return False

    async def _page(self, url: str) -> SeenPage:
        """Ask for a page and follow its redirects, as long as they stay on the site."""
        site, seen = self.findings.site, SeenPage([])
        meta: dict[str, Any] = {"dont_redirect": True, "handle_httpstatus_all": True}
        if self.findings.browser:
            meta |= render_meta(site)
        while url and not seen.outside and not seen.forbidden:
            if await self._forbidden(url):
                seen.forbidden = url
                return seen
            asked = await self._ask(url, **meta)
            seen.hops.append(asked)
            if asked.status == 200 and asked.is_html:
                seen.document = await run_in_thread(
                    extract, asked.text, asked.url, keep=site.keep, drop=site.drop
                )
            if asked.status and not site.scope.contains(asked.url):  # a browser went there
                seen.outside = asked.url
                break
            url = seen.leads_to
            if url and not site.scope.contains(url):
                seen.outside = url
            if url == asked.url or len(seen.hops) > MAX_HOPS:
                break
        return seen

    async def _ask_again(self, page: SeenPage) -> None:
        """Ask whether the page changed since just now."""
        rendered = self.findings.site.render != "never"
        if page.document and not page.outside and not rendered and page.last.validators:
            headers = page.last.validators
            self.findings.again = await self._ask(page.last.url, headers=headers)

    async def _sitemaps(self, from_robots: list[str]) -> None:
        site = self.findings.site
        named = named_sitemaps(site, from_robots)
        roots, known = where_to_look(site, named, self._known)
        asked = roots if known else []
        found = [
            await self._sitemap(SeenSitemap(url, True, remembered=url not in named))
            for url in asked
        ]
        if any(found) or site.sitemaps:
            return
        for url in usual_places(site.scope.root):
            if url not in asked and await self._sitemap(SeenSitemap(url, False)):
                return

    async def _sitemap(self, seen: SeenSitemap) -> bool:
        """Read one sitemap, and the first ones of an index; tell whether it lists anything."""
        self.findings.sitemaps.append(seen)
        if self._is_private(seen.url):
            seen.refused = "it is at a private address"
        elif not seen.known and await self._forbidden(seen.url):
            seen.refused = "robots.txt forbids it"
        if seen.refused:
            return False
        seen.asked = await self._ask(seen.url)
        if seen.asked.status != 200:
            return False
        seen.sitemap = await run_in_thread(parse_sitemap, seen.asked.body, seen.asked.url)
        entries = [entry.url for entry in seen.sitemap.entries]
        if seen.sitemap.kind != "index":
            seen.listed = entries
            return bool(entries)
        for child in [child for child in entries if not self._is_private(child)][:CHILDREN]:
            asked = await self._ask(child)
            if asked.status == 200:
                below = await run_in_thread(parse_sitemap, asked.body, asked.url)
                seen.listed += [entry.url for entry in below.entries if below.kind != "index"]
                seen.children += 1
        return bool(entries)

    def _is_private(self, url: str) -> bool:
        """Tell whether a site would send us into somebody's private network."""
        return is_private(url) and not same_host(url, self.findings.site.url)

    def _another(self) -> str:
        """Return a page that is not the start page; empty if none is known."""
        findings = self.findings
        asked = {hop.url for hop in findings.page.hops} if findings.page else set()
        listed = [url for seen in findings.sitemaps for url in seen.listed]
        if findings.page and findings.page.document:
            listed += findings.page.document.links
        return next((url for url in pages_of(findings.site, listed, asked).values()), "")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
