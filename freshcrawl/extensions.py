"""RunExtension: opens the stores, owns the Run, and is the only one to commit."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import run_in_thread

from freshcrawl import collapsing, tally
from freshcrawl.absence import count_absent
from freshcrawl.boilerplate import settling
from freshcrawl.clock import make_clock
from freshcrawl.config import Config
from freshcrawl.core.robots_meta import product_token
from freshcrawl.embedding import PublishInterrupted
from freshcrawl.entering import ask_again
from freshcrawl.failures import log_failure
from freshcrawl.homes import settle_homes
from freshcrawl.run import Run
from freshcrawl.run_publishing import RunPublishing
from freshcrawl.seams import Seam, reached
from freshcrawl.sitewide import reject_sitewide
from freshcrawl.state import SiteState, open_for_writing, open_in_memory, site_names
from freshcrawl.stopping import drop_waiting, engine_of
from freshcrawl.stores.advice import in_one_line
from freshcrawl.stores.base import StoreError
from freshcrawl.summary import run_summary

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

FAILED = "store_error"
BUILT = "freshcrawl_extension"
"""Attribute of a crawler that has its RunExtension."""
FINISHED = "finished"
"""Scrapy's reason for a crawl that came to its end."""
STOPPED = "shutdown"
"""Scrapy's reason for a crawl that a signal ended."""


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
        self._fatal: Exception | None = None
        """What keeps the run from ending well."""
        self._opened = False
        self._finished = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None
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
            settings = crawler.settings
            agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
            self.run.agent = product_token(agent)
            self.run.on_fatal = self._end_for
            self._publishing = RunPublishing(self.run)
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
        setattr(crawler, BUILT, extension)
        connect = crawler.signals.connect
        connect(extension.spider_opened, signals.spider_opened)
        connect(extension.item_scraped, signals.item_scraped)
        connect(extension.item_error, signals.item_error)
        connect(extension.spider_error, signals.spider_error)
        connect(extension.spider_closed, signals.spider_closed)
        connect(extension.engine_stopped, signals.engine_stopped)
        return extension

    async def spider_opened(self, spider: Spider) -> None:
        """Note durably that the run began, so that one that never ended shows.

        And tell by webhook what an earlier one left, before the first request.
        """
        self._opened = True
        ask_again(self.run)
        self._commit()
        if self._tells:
            await run_in_thread(self.run.alerts.deliver_rest)

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Make progress durable now and then; publish new pages of a growing site in between."""
        self._since_commit += 1
        if self._since_commit >= self._config.commit_every:
            self._since_commit = 0
            self._commit()
            self._publishing.publish_if_grown()

    def item_error(self, failure: Failure) -> None:
        """End the run if a page could not be processed for want of memory, space or the like."""
        self.run.ends_for(failure.value)

    def spider_error(self, failure: Failure) -> None:
        """The same for the answer to a request."""
        self.run.ends_for(failure.value)

    def _commit(self) -> None:
        """Commit; a store that fails ends the crawl, which could keep nothing any more."""
        try:
            self.run.commit()
        except (StoreError, OSError, MemoryError) as error:
            self._end_for(error)

    def _end_for(self, error: Exception) -> None:
        if self._fatal is None:
            self._fatal = error
            logger.error("%(error)s", {"error": in_one_line(error)})
            self.stop_soon()
            closing = self._crawler.engine.close_spider_async(reason=FAILED)
            self._closing = asyncio.ensure_future(closing)

    def stop_soon(self) -> int:
        """Prepare for the end that a signal asks for; return how many requests are under way."""
        self.run.stopping = True
        self._publishing.interrupt()
        if self._fatal is None:
            self.run.alerts.interrupt()
        engine = engine_of(self._crawler)
        return drop_waiting(engine) if engine else 0

    async def spider_closed(self, spider: Spider, reason: str) -> None:
        """Tally, guard, embed, publish, commit, report; then tell by webhook."""
        try:
            await self._end(reason)
            if self._tells:
                await run_in_thread(self.run.alerts.deliver)
        finally:
            self._set_stats()
            self._state.close()
            self._finished.set()

    @property
    def _tells(self) -> bool:
        return self.run.alerts.delivers and not self.run.dry_run

    async def _end(self, reason: str) -> None:
        try:
            if reason == STOPPED:
                self._publishing.interrupt()
            await self._publishing.settled()
            await self._finish(reason)
        except Exception as error:
            # Scrapy would log and swallow it: the exit code must tell.
            self._fail(error)

    async def engine_stopped(self) -> None:
        """Keep the process alive until the run is finished.

        A signal that comes while the end of the run embeds stops the engine,
        which does not wait for handlers of ``spider_closed``.
        """
        if self._opened and not self.finished:
            self._publishing.interrupt()
            self.run.alerts.interrupt()
            await self._finished.wait()

    @property
    def finished(self) -> bool:
        """Whether the run has ended and its stores are closed."""
        return self._finished.is_set()

    def end_at_once(self, timeout: float) -> None:
        """Make durable what was concluded; for a run whose event loop ended before it did.

        Waits up to ``timeout`` seconds for a publish that is under way. One that takes longer is
        left to end with the process, as harmless as a crash; the stores stay open for it. There
        is no tally: as after a crash, the next run makes it.
        """
        idle = False
        try:
            self._check_store()
            self.run.commit()
            idle = self._publishing.end(timeout)
            self._report(STOPPED)
        except Exception as error:
            self._fail(error)
        if idle:
            self._state.close()
        self._finished.set()

    def give_up(self, error: BaseException) -> None:
        """Note that the run failed; for one whose crawl could not start, and so has no end."""
        self._record(error)
        self._state.close()
        self._finished.set()

    async def _finish(self, reason: str) -> None:
        run = self.run
        self._check_store()
        collapsing.reject_collapsing(run)
        reject_sitewide(run)
        count_absent(run, whole=reason == FINISHED)
        settle_homes(run)
        tally.resolve_canonicals(run)
        # After bodies that are no content were dropped, before guards count what changed.
        if reason != STOPPED:
            await settling.settle(run)
        keys = tally.release(run)
        run.commit()
        # Asked to stop, a run must not embed for minutes: what is staged is the next run's.
        if not run.dry_run and reason != STOPPED:
            try:
                await self._publishing.publish(keys)
            except PublishInterrupted:
                reason = STOPPED
        self._report(reason)

    def _report(self, reason: str) -> None:
        """Complete the report, commit it, and log what it says as one record."""
        run = self.run
        self._count_bytes()
        run.ledger.believe_listings()
        run.finish(reason)
        run.report.status = "ok"
        run.commit()
        reached(Seam.REPORTED)
        lines = run_summary(run.report.as_contract(), run.site.name)
        logger.info("%(summary)s", {"summary": "\n".join(lines)})

    def _check_store(self) -> None:
        if self._fatal is not None:
            raise self._fatal

    def _fail(self, error: Exception) -> None:
        """Note that the run failed: in its report, and there durably if that can be done."""
        what = "the run could not be finished; what is published stays"
        if error is self._fatal:  # it was logged when it happened
            logger.error("%(site)s: %(what)s", {"site": self.run.site.name, "what": what})
        else:
            log_failure(logger, f"{self.run.site.name}: {what}", error)
        self._record(error)

    def _record(self, error: BaseException) -> None:
        self.run.report.status = "failed"
        self.run.report.error = in_one_line(error)
        try:
            self.run.finish("failed")
            self.run.commit()
        except Exception as second:
            if str(second) != str(error):  # a store's failure is final: it would be said twice
                log_failure(logger, "the failure could not be recorded", second)

    def _count_bytes(self) -> None:
        stats = self._crawler.stats
        self.run.report.bytes_downloaded = int(stats.get_value("downloader/response_bytes", 0))

    def _set_stats(self) -> None:
        for name, value in self.run.report.as_contract().items():
            self._crawler.stats.set_value(f"freshcrawl/{name}", value)


def get_extension(crawler: Crawler) -> RunExtension | None:
    """Return the run extension of a crawler; None before it is built, and where it is disabled.

    Also where an extension after it could not be built, so that Scrapy has no list of them.
    """
    extension: RunExtension | None = getattr(crawler, BUILT, None)
    return extension
