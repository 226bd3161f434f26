"""DocsSpider: discovers a site's pages and turns each answer into one PageItem."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy import Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Request, Response

from freshcrawl.absence import to_confirm
from freshcrawl.arguments import SpiderArguments
from freshcrawl.collapsing import reject_collapsing
from freshcrawl.components import get_run
from freshcrawl.config import Config
from freshcrawl.core.pages import Status
from freshcrawl.discovery import Discovery
from freshcrawl.items import Outcome, PageItem
from freshcrawl.middlewares import DUE_CHECKED, KEY, NotDue
from freshcrawl.page_answers import HOPS, Hop, PageAnswers
from freshcrawl.render import playwright_settings, render_meta
from freshcrawl.rescoping import add_targets
from freshcrawl.robots import RobotsMiddleware
from freshcrawl.witnesses import to_ask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from freshcrawl.run import Run
    from freshcrawl.sites import SiteConfig

logger = logging.getLogger(__name__)

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
POINTING = frozenset({Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT})


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
        self.answers: PageAnswers

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
        name_contact(crawler, config.contact, site.url)
        crawler.signals.connect(spider.spider_idle, signals.spider_idle)
        crawler.signals.connect(spider.item_scraped, signals.item_scraped)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first requests of discovery."""
        run = get_run(self.crawler)
        if run is None:
            raise RuntimeError("freshcrawl is not enabled: add freshcrawl.addon.FreshcrawlAddon")
        self.run = run
        self.answers = PageAnswers(run)
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
        answer = self.answers.read(response)
        self.run.report.page_bytes += len(response.body)
        if isinstance(answer, PageItem):
            self.run.report.fetched += 1
        yield self._item_or_hop(answer)

    def failed(self, failure: Failure) -> Iterator[PageItem | Request]:
        """Yield the outcome of a request without an answer."""
        if not (self.run.stopping or isinstance(failure.value, NotDue)):
            request: Request = failure.request  # type: ignore[attr-defined]
            yield self._item_or_hop(self.answers.failure(request, failure.value))

    def _item_or_hop(self, answer: PageItem | Hop) -> PageItem | Request:
        if isinstance(answer, PageItem):
            return answer
        return self._request(answer.url, answer.key, answer.hops, {DUE_CHECKED: True})

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Follow what a page points to: redirect target, canonical page, links.

        A page that was not modified still points to what it did when it was read.
        """
        if not isinstance(item, PageItem) or item.outcome not in POINTING:
            return
        for key in self.run.sightings.pointed_to(item.key):
            # A canonical page that nothing else lists may be gone: see before believing.
            confirm = bool(item.canonical) and self.run.sightings.only_pointed_to(key)
            # So may an alias be a page again that a page in the answers moves to.
            moves = item.outcome == Outcome.REDIRECT and self.run.ledger.is_live(item.key)
            confirm |= moves and self.run.ledger.pages[key].status == Status.ALIAS
            request = self.page_request(key, confirm=confirm)
            if request is not None:
                self.crawler.engine.crawl(request)

    def spider_idle(self, spider: Spider) -> None:
        """After discovery: fetch what is due, ask the witnesses, then confirm what is absent.

        Raises:
            DontCloseSpider: there are requests.
        """
        if not hasattr(self, "discovery") or self.discovery.blocked:
            return
        add_targets(self.run)
        requests = [self.page_request(key) for key in self.run.due_keys()]
        if not any(requests):
            requests = [self.page_request(key, confirm=True) for key in to_ask(self.run)]
        if not any(requests):
            reject_collapsing(self.run)  # what a wall lists must not make pages absent
            requests = [self.page_request(key, confirm=True) for key in to_confirm(self.run)]
        for request in filter(None, requests):
            self.crawler.engine.crawl(request)
        if any(requests):
            raise DontCloseSpider


def name_contact(crawler: Crawler, contact: str, url: str) -> None:
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
