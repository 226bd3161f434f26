"""RunExtension: opens the stores, owns the Run, and is the only one to commit."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import run_in_thread

from freshcrawl import tally
from freshcrawl.clock import make_clock
from freshcrawl.config import Config
from freshcrawl.publishing import PublishInterrupted
from freshcrawl.run import Run
from freshcrawl.state import SiteState, open_for_writing, open_in_memory, site_names
from freshcrawl.stores.base import StoreError
from freshcrawl.summary import run_summary

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

FAILED = "store_error"
STOPPED = "shutdown"
"""Scrapy's reason for a crawl that a signal ended."""
MIN_PUBLISH_PAGES = 32
"""Staged pages below which a first crawl does not publish in between."""


class RunExtension:
    """Composition root of a crawl: state in, report out.

    The spider must have a ``site`` (SiteConfig) and may have ``full`` and ``dry_run``.
    """

    def __init__(self, crawler: Crawler, config: Config) -> None:
        spider = crawler.spider
        site = getattr(spider, "site", None)
        if site is None:
            raise NotConfigured
        self._crawler = crawler
        self._config = config
        self._since_commit = 0
        self._store_error = ""
        self._opened = False
        self._finished = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None
        self._publishing: asyncio.Task[None] | None = None
        clock = make_clock(config.clock_offset_secs)
        dry_run = bool(getattr(spider, "dry_run", False))
        self._state: SiteState = (
            open_in_memory(site.name)
            if dry_run and site.name not in site_names(config)
            else open_for_writing(config, site.name, "crawl", clock())
        )
        try:
            full = bool(getattr(spider, "full", False))
            self.run = Run(site, config, self._state, clock, full=full, dry_run=dry_run)
            self._publishes_between = not dry_run
        except BaseException:
            self._state.close()
            raise

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension and open the site's stores.

        Raises:
            NotConfigured: freshcrawl is switched off, or the spider has no site.
            ConfigError: a setting cannot be used.
            StoreError: the state cannot be used, or is locked by another process.
        """
        config = Config.from_settings(crawler.settings)
        if not config.enabled:
            raise NotConfigured
        extension = cls(crawler, config)
        connect = crawler.signals.connect
        connect(extension.spider_opened, signals.spider_opened)
        connect(extension.item_scraped, signals.item_scraped)
        connect(extension.spider_closed, signals.spider_closed)
        connect(extension.engine_stopped, signals.engine_stopped)
        return extension

    def spider_opened(self, spider: Spider) -> None:
        """Note durably that the run began, so that one that never ended shows."""
        self._opened = True
        self._commit()

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Make progress durable now and then; publish new pages of a growing site in between."""
        self._since_commit += 1
        if self._since_commit >= self._config.commit_every:
            self._since_commit = 0
            self._commit()
            keys = self._new_pages()
            growth = self._config.publish_growth_ratio * self.run.ledger.live_count()
            if len(keys) >= max(MIN_PUBLISH_PAGES, growth):
                self._publishing = asyncio.ensure_future(self._publish_between(keys))

    def _commit(self) -> None:
        """Commit; a store that fails ends the crawl, which could keep nothing any more."""
        try:
            self.run.commit()
        except StoreError as error:
            if not self._store_error:
                self._store_error = str(error)
                logger.error("%(error)s", {"error": error})
                closing = self._crawler.engine.close_spider_async(reason=FAILED)
                self._closing = asyncio.ensure_future(closing)

    def _new_pages(self) -> list[str]:
        """Return the pages that may be published before the tally.

        Never-published ones only, as no guard is about them; without a
        canonical link, which the tally must see; and none that this run may
        still fetch, so that nothing newer is staged while they are published.
        """
        if not self._publishes_between or self._publishing is not None:
            return []
        run, ledger = self.run, self.run.ledger
        return sorted(
            key
            for key, entry in ledger.staged.items()
            if key not in ledger.published
            and not entry.canonical
            and (entry.run_id == run.report.run_id or run.take_out(key))
        )

    async def _publish_between(self, keys: list[str]) -> None:
        try:
            await self._publish(keys)
        except PublishInterrupted:
            logger.info("stopped publishing; what was embedded is kept")
        except Exception:
            # Not again while crawling: the end of the run tries once more, and fails if it must.
            self._publishes_between = False
            logger.exception("publishing while crawling failed")
        finally:
            self._publishing = None

    async def _publish(self, keys: list[str]) -> None:
        ledger = self.run.ledger
        rows = await run_in_thread(ledger.whole, [ledger.staged[key] for key in keys])
        if not rows:
            return
        result = await run_in_thread(
            self.run.publisher.publish, rows, self.run.report.run_id, self.run.clock
        )
        self.run.adopt(result)
        self.run.commit()
        try:
            await run_in_thread(self.run.publisher.tidy, self.run.now)
        except (StoreError, OSError):
            # Only room is lost, until the next publish.
            logger.exception("old generations could not be dropped")

    async def spider_closed(self, spider: Spider, reason: str) -> None:
        """Tally, guard, embed, publish, commit, report."""
        try:
            if reason == STOPPED:
                self.run.publisher.interrupt()
            if self._publishing is not None:
                await self._publishing
            if self._store_error:
                raise StoreError(self._store_error)
            await self._finish(reason)
        except Exception as error:
            # Scrapy would log and swallow it: the exit code must tell.
            self.run.report.status, self.run.report.error = "failed", str(error)
            logger.exception("the run could not be finished; what is published stays")
            self._note_failure()
        finally:
            self._set_stats()
            self._state.close()
            self._finished.set()

    async def engine_stopped(self) -> None:
        """Keep the process alive until the run is finished.

        A signal that comes while the end of the run embeds stops the engine,
        which does not wait for handlers of ``spider_closed``.
        """
        if self._opened and not self._finished.is_set():
            self.run.publisher.interrupt()
            await self._finished.wait()

    async def _finish(self, reason: str) -> None:
        run = self.run
        tally.count_unlisted(run)
        tally.reject_collapsing(run)
        tally.resolve_canonicals(run)
        keys = tally.release(run)
        run.commit()
        # Asked to stop, a run must not embed for minutes: what is staged is the next run's.
        if not run.dry_run and reason != STOPPED:
            try:
                await self._publish(keys)
            except PublishInterrupted:
                reason = STOPPED
        self._count_bytes()
        run.finish(reason)
        run.report.status = "ok"
        run.commit()
        for line in run_summary(run.report.as_contract(), run.site.name):
            logger.info("%(line)s", {"line": line})

    def _note_failure(self) -> None:
        try:
            self.run.finish("failed")
            self.run.commit()
        except Exception:
            logger.exception("the failure could not be recorded")

    def _count_bytes(self) -> None:
        stats = self._crawler.stats
        self.run.report.bytes_downloaded = int(stats.get_value("downloader/response_bytes", 0))

    def _set_stats(self) -> None:
        for name, value in self.run.report.as_contract().items():
            self._crawler.stats.set_value(f"freshcrawl/{name}", value)


def get_run(crawler: Crawler) -> Run | None:
    """Return the run of a crawler, or None when freshcrawl is not enabled there."""
    extension = crawler.get_extension(RunExtension)
    return None if extension is None else extension.run


class RunComponent:
    """Base of the middleware and the pipelines: they work on the run of their crawler."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the component.

        Raises:
            NotConfigured: the run extension is not enabled.
        """
        run = get_run(crawler)
        if run is None:
            raise NotConfigured
        return cls(run)
