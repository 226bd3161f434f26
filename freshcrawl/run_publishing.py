"""When a run publishes: new pages while it crawls, and the rest at its end, off the event loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread

from freshcrawl.backlog import worth_in
from freshcrawl.core.boilerplate import BODY
from freshcrawl.embedding import PublishInterrupted
from freshcrawl.entering import doubtful
from freshcrawl.failures import log_failure
from freshcrawl.seams import Seam, reached

if TYPE_CHECKING:
    from freshcrawl.backlog import Worth
    from freshcrawl.core.published import Staged
    from freshcrawl.publishing import PublishResult
    from freshcrawl.run import Run

logger = logging.getLogger(__name__)

MIN_PUBLISH_PAGES = 32
"""Staged pages below which a first crawl does not publish in between."""


class RunPublishing:
    """The publishes of one run, one at a time."""

    def __init__(self, run: Run) -> None:
        self._run = run
        apart = run.config.embed_apart
        self._between = not (run.dry_run or run.ledger.pinned or apart)
        self._task: asyncio.Task[None] | None = None
        self._working = threading.Lock()
        self._result: PublishResult | None = None
        """What a thread published and the run does not know of yet."""

    def publish_if_grown(self) -> None:
        """Start to publish new pages of a growing site, unless that is under way."""
        keys = self._new_pages()
        growth = self._run.config.publish_growth_ratio * self._run.ledger.live_count()
        enough = max(MIN_PUBLISH_PAGES, growth)
        if len(keys) < enough:
            return
        believed = sorted(set(keys) - doubtful(self._run))
        if len(believed) >= enough:
            self._task = asyncio.ensure_future(self._publish_between(believed))
        else:  # as many wait for the run's end
            self._between = 2 * len(believed) >= len(keys)

    def _new_pages(self) -> list[str]:
        """Return the pages that may be published before the tally.

        Never-published ones only, as no guard is about them; without a
        canonical link, which the tally must see; none whose site boilerplate
        this run may still learn; and none that this run may still fetch, so
        that nothing newer is staged while they are published.
        """
        if not self._between or self._task is not None or self._run.stopping:
            return []
        run, ledger, run_id = self._run, self._run.ledger, self._run.report.run_id
        return sorted(
            key
            for key, entry in ledger.staged.items()
            if key not in ledger.published
            and not entry.canonical
            and (entry.generator != BODY if entry.run_id == run_id else run.take_out(key))
        )

    async def _publish_between(self, keys: list[str]) -> None:
        try:
            # What waits for vectors by now would be tried, and cut, again and again.
            self._between = not await self.publish(keys)
        except PublishInterrupted:
            site = self._run.site.name
            logger.info("%(site)s: stopped embedding; what was done is kept", {"site": site})
        except Exception as error:
            # Not again while crawling: the end of the run tries once more, and fails if it must.
            self._between = False
            log_failure(logger, "publishing while crawling failed", error)
        finally:
            self._task = None

    async def publish(self, keys: list[str]) -> set[str]:
        """Publish staged pages and commit; then tidy, also when there was nothing to publish.

        Returns the keys of those that wait for vectors.

        Raises:
            PublishInterrupted: ``interrupt`` was called.
            StoreError: a store failed.
        """
        ledger = self._run.ledger
        waiting: set[str] = set()
        rows = await run_in_thread(ledger.whole, [ledger.staged[key] for key in keys])
        if rows:
            self._run.commit()
            reached(Seam.STAGED)
            await run_in_thread(self._publish, rows, worth_in(ledger))
            waiting = self._result.waiting if self._result else waiting
            self._adopt()
            self._run.commit()
            reached(Seam.RECORDS_COMMITTED)
        # A run that was killed before its tidy may be the last one that published.
        await run_in_thread(self._tidy)
        return waiting

    async def settled(self) -> None:
        """Wait for a publish that was started while crawling."""
        if self._task is not None:
            await self._task

    def interrupt(self) -> None:
        """Make a publish that is embedding stop after its batch."""
        self._run.publisher.interrupt()

    def end(self, timeout: float) -> bool:
        """Wait for the threads, and take what they published; for when the event loop has ended.

        Nothing is published afterwards. Returns whether they ended within ``timeout`` seconds.
        """
        self.interrupt()
        ended = self._working.acquire(timeout=max(timeout, 0.0))
        if ended:
            self._adopt()
        return ended

    def _publish(self, rows: list[Staged], worth: Worth) -> None:
        run = self._run
        with self._working:
            self._result = run.publish(rows, worth)

    def _adopt(self) -> None:
        result, self._result = self._result, None
        if result is not None:
            self._run.adopt(result)

    def _tidy(self) -> None:
        with self._working:
            self._run.publisher.tidy(self._run.now)
