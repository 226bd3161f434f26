"""DocsSpider: discovers a site's pages and turns each answer into one PageItem."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin, urlsplit

from scrapy import Spider, signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.http import Request, Response, TextResponse

from freshcrawl.arguments import SpiderArguments
from freshcrawl.config import Config
from freshcrawl.core.urls import normalize_url
from freshcrawl.discovery import Discovery
from freshcrawl.extensions import get_run
from freshcrawl.items import Outcome, PageItem
from freshcrawl.middlewares import DUE_CHECKED, KEY, NotDue
from freshcrawl.render import landed, playwright_settings, problem_of, render_meta
from freshcrawl.robots import RobotsForbidden, RobotsMiddleware

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from freshcrawl.run import Run
    from freshcrawl.sites import SiteConfig

logger = logging.getLogger(__name__)

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
MAX_HOPS = 5
HOPS = "freshcrawl_hops"
OUTCOMES = {
    200: Outcome.FETCHED,
    304: Outcome.NOT_MODIFIED,
    404: Outcome.MISSING,
    410: Outcome.GONE,
}
POINTING = frozenset({Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PERMANENT = frozenset({301, 308})


class DocsSpider(Spider):
    """Crawls one documentation site: ``-a url=URL`` or ``-a site=NAME``."""

    name = "docs"

    def __init__(self, site: SiteConfig, *, full: bool = False, dry_run: bool = False) -> None:
        super().__init__()
        self.site = site
        self.full = full
        self.dry_run = dry_run
        self.run: Run
        self.discovery: Discovery

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider from ``-a`` arguments.

        Raises:
            ConfigError: an argument or setting cannot be used.
        """
        config = Config.from_settings(crawler.settings)
        arguments = SpiderArguments.parse(kwargs)
        site = arguments.site_config(config)
        spider = super().from_crawler(
            crawler, site=site, full=arguments.full, dry_run=arguments.dry_run
        )
        crawler.settings.update(playwright_settings(site), priority="spider")
        _name_contact(crawler, config.contact, site.url)
        crawler.signals.connect(spider.spider_idle, signals.spider_idle)
        crawler.signals.connect(spider.item_scraped, signals.item_scraped)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first requests of discovery."""
        run = get_run(self.crawler)
        if run is None:
            raise RuntimeError("freshcrawl is not enabled: add freshcrawl.addon.FreshcrawlAddon")
        self.run = run
        robots = self.crawler.get_downloader_middleware(RobotsMiddleware)
        self.discovery = Discovery(run, robots, self.page_request)
        async for request in self.discovery.start():
            yield request

    def page_request(self, key: str, *, confirm: bool = False) -> Request | None:
        """Return the request for a page that is due (or to be confirmed), else None."""
        if not self.run.take(key, confirm=confirm):
            return None
        meta = {DUE_CHECKED: True} if confirm else {}
        return self._request(self.run.ledger.pages[key].url, key, 0, meta)

    def _request(self, url: str, key: str, hops: int, meta: dict[str, Any]) -> Request:
        return Request(
            url,
            callback=self.parse,
            errback=self.failed,
            dont_filter=True,
            meta={
                **meta,
                **render_meta(self.site),
                KEY: key,
                HOPS: hops,
                "handle_httpstatus_all": True,
                "dont_redirect": True,
            },
        )

    async def parse(self, response: Response) -> AsyncIterator[PageItem | Request]:
        """Yield the outcome of a page's answer, or the next hop of a redirect to the same page."""
        try:
            outcome = self._outcome(response)
        except Exception as error:
            # Without an item the page would be fetched again by every run, and nobody told.
            logger.exception("%(url)s could not be read", {"url": response.url})
            outcome = self._item(response, Outcome.FAILED)
            outcome.reason = f"could not be read: {error!r}"
        if isinstance(outcome, PageItem):
            self.run.report.fetched += 1
        yield outcome

    def _outcome(self, response: Response) -> PageItem | Request:
        self.run.report.page_bytes += len(response.body)
        if response.status in REDIRECTS:
            return self._redirect(response)
        if (end := landed(response)) and self.run.sightings.key_of(end[0]) != response.meta[KEY]:
            return self._sent(response, *end)
        if response.status in {404, 410} and (again := self._other_spelling(response.request)):
            return again
        outcome = OUTCOMES.get(response.status, Outcome.FAILED)
        item = self._item(response, outcome)
        if outcome == Outcome.FAILED:
            item.reason = f"HTTP {response.status}"
        if problem := problem_of(response):
            item.outcome, item.reason = Outcome.FAILED, problem
        elif outcome == Outcome.FETCHED:
            item.body = response.text if isinstance(response, TextResponse) else ""
            item.rendered = bool(response.meta.get("playwright"))
        return item

    def _item(self, response: Response, outcome: Outcome) -> PageItem:
        key = response.meta[KEY]
        here = self.run.sightings.key_of(response.url) == key
        return PageItem(
            key=key,
            url=response.url,
            # Read through a temporary redirect, a page is still asked for where it is listed.
            cited_url=normalize_url(response.url if here else self.run.ledger.pages[key].url),
            outcome=outcome,
            fetched_at=self.run.now,
            http_status=response.status,
            etag=_header(response, "ETag"),
            last_modified=_header(response, "Last-Modified"),
            content_type=_header(response, "Content-Type"),
            robots_header="\n".join(
                value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")
            ),
        )

    def _sent(self, response: Response, target: str, permanent: bool) -> PageItem:
        """Return the outcome of a page from which the browser was sent to another one."""
        item = self._item(response, Outcome.REDIRECT)
        item.target, item.permanent = target, permanent
        return item

    def _redirect(self, response: Response) -> PageItem | Request:
        """Return the next hop if it is still this page, else the outcome."""
        key = response.meta[KEY]
        location = _location(response)
        item = self._item(response, Outcome.REDIRECT)
        try:
            target = normalize_url(urljoin(response.url, location))
        except ValueError:
            item.outcome, item.reason = Outcome.FAILED, f"redirects to {location!r}"
            return item
        item.target, item.permanent = target, response.status in PERMANENT
        target_key = self.run.sightings.key_of(target) if location else None
        hops = response.meta[HOPS] + 1
        if not location or hops > MAX_HOPS or target == response.url:
            item.outcome, item.reason = Outcome.FAILED, "redirects without end"
        elif target_key == key or (target_key and self._stays(key, target_key, item.permanent)):
            return self._request(target, key, hops, {DUE_CHECKED: True})
        return item

    def _stays(self, key: str, target_key: str, permanent: bool) -> bool:
        """Tell whether a temporary redirect's target is read as the content of its source.

        Not for a page that was live without one: it may be sent to a login or
        a maintenance page.
        """
        known = target_key in self.run.ledger.pages
        was_direct = self.run.ledger.is_live(key) and not self.run.ledger.pages[key].via
        return not permanent and not known and not was_direct

    def _other_spelling(self, request: Request | None) -> Request | None:
        """Return a request for the URL that a source lists now, if another one was asked for.

        The site may have changed its scheme, ``www``, slashes or the like.
        """
        if request is None or request.meta[HOPS]:
            return None
        key = request.meta[KEY]
        listed = self.run.ledger.pages[key].listed_url
        if not listed or listed == request.url:
            return None
        return self._request(listed, key, 1, {DUE_CHECKED: True})

    def failed(self, failure: Failure) -> Iterator[PageItem | Request]:
        """Yield the outcome of a request without an answer."""
        if isinstance(failure.value, NotDue):
            return
        request: Request = failure.request  # type: ignore[attr-defined]
        refused = isinstance(failure.value, IgnoreRequest)
        if not refused and (again := self._other_spelling(request)):
            yield again
            return
        outcome = (
            Outcome.DISALLOWED if isinstance(failure.value, RobotsForbidden) else Outcome.FAILED
        )
        name = failure.type.__name__ if failure.type else "error"
        ours = isinstance(failure.value, IgnoreRequest)
        yield PageItem(
            key=request.meta[KEY],
            url=request.url,
            cited_url=self.run.ledger.pages[request.meta[KEY]].url,
            outcome=outcome,
            fetched_at=self.run.now,
            reason=str(failure.value) if ours else name,
        )

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Follow what a page points to: redirect target, canonical page, links.

        A page that was not modified still points to what it did when it was read.
        """
        if not isinstance(item, PageItem) or item.outcome not in POINTING:
            return
        for key in self.run.sightings.pointed_to(item.key):
            # A canonical page that nothing else lists may be gone: see before believing.
            confirm = bool(item.canonical) and self.run.sightings.only_pointed_to(key)
            request = self.page_request(key, confirm=confirm)
            if request is not None:
                self.crawler.engine.crawl(request)

    def spider_idle(self, spider: Spider) -> None:
        """After discovery: fetch what is due but was not listed; then confirm what is absent.

        Raises:
            DontCloseSpider: there are requests.
        """
        if not hasattr(self, "discovery") or self.discovery.blocked:
            return
        requests = [self.page_request(key) for key in self.run.due_keys()]
        if not any(requests):
            requests = [self.page_request(key, confirm=True) for key in self.run.absent_keys()]
        for request in filter(None, requests):
            self.crawler.engine.crawl(request)
        if any(requests):
            raise DontCloseSpider


def _name_contact(crawler: Crawler, contact: str, url: str) -> None:
    """Put the operator's address into the user agent, or say that it is missing."""
    if contact:
        agent = f"{crawler.settings['USER_AGENT']} (+{contact})"
        crawler.settings.set("USER_AGENT", agent, priority="spider")
    elif urlsplit(url).hostname not in LOOPBACK:
        logger.warning(
            "FRESHCRAWL_CONTACT is not set: put an address there, so that the people who run "
            "%(url)s can reach you",
            {"url": url},
        )


def _location(response: Response) -> str:
    """Return the Location header; servers send raw UTF-8 in it, or else Latin-1."""
    raw = (response.headers.get("Location") or b"").strip()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _header(response: Response, name: str) -> str:
    value = response.headers.get(name)
    return value.decode("latin-1").strip() if value else ""
