"""The crawls of one process: one Crawler a site, watched, stopped and ended together."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from freshcrawl.core.words import count
from freshcrawl.extensions import RunExtension, get_extension
from freshcrawl.stopping import StoppableCrawler
from freshcrawl.watch import Watch

if TYPE_CHECKING:
    import asyncio

    from scrapy.crawler import Crawler, CrawlerProcessBase

    from freshcrawl.console import StatusLine
    from freshcrawl.progress import Snapshot

logger = logging.getLogger(__name__)

END_SECS = 5.0
"""How long publishes may take to stop after a second signal: one batch, unless it is slow."""


class Crawls:
    """Crawls of one spider that run at the same time."""

    def __init__(self, process: CrawlerProcessBase, spider: str) -> None:
        self._process = process
        self._spider = process.spider_loader.load(spider)
        self._stops = False
        self.jobs: list[tuple[Crawler, asyncio.Task[None]]] = []
        self.cut_off = False
        """Whether a crawl had not ended when the event loop did."""

    def add(self, **arguments: Any) -> None:
        """Add a crawl with its spider arguments; ``run`` starts it."""
        crawler = StoppableCrawler(self._spider, self._process.settings, self._stopping)
        task: Any = self._process.crawl(crawler, **arguments)
        task.add_done_callback(lambda done: _give_up(crawler, done))
        self.jobs.append((crawler, task))

    def run(self, log_every: float, line: StatusLine | None) -> None:
        """Crawl until all have ended, in order or cut off; what was concluded is durable then.

        Progress is drawn in ``line``, or logged every ``log_every`` seconds (0: never).
        """
        with Watch(self._progress, log_every, line):
            self._process.start()
        self._end_rest()

    def _extensions(self) -> list[RunExtension]:
        """Return the run extensions that were built so far."""
        found = (get_extension(crawler) for crawler, _ in self.jobs)
        return [extension for extension in found if extension is not None]

    def _progress(self) -> dict[str, Snapshot]:
        runs = [extension.run for extension in self._extensions()]
        return {run.site.name: run.progress() for run in runs}

    def _stopping(self) -> None:
        """Let all crawls end soon; each Crawler that is asked to stop calls this."""
        if self._stops:
            return
        self._stops = True
        left = [extension for extension in self._extensions() if not extension.finished]
        embeds = any(extension.run.publisher.embedding.progress[1] for extension in left)
        sent = sum(extension.stop_soon() for extension in left)
        logger.info("%(words)s", {"words": stopping_words(sent, embeds)})

    def _end_rest(self) -> None:
        """End the runs that a second signal, or one while they were opening, cut off."""
        left = [extension for extension in self._extensions() if not extension.finished]
        self.cut_off = bool(left) or not all(task.done() for _, task in self.jobs)
        if left:
            logger.info("stopping at once; what was found is kept")
        for extension in left:
            extension.run.publisher.interrupt()
        until = time.monotonic() + END_SECS
        for extension in left:
            extension.end_at_once(until - time.monotonic())


def _give_up(crawler: Crawler, task: asyncio.Task[None]) -> None:
    """End the run of a crawl that could not start: a component after its extension failed."""
    error = None if task.cancelled() else task.exception()
    extension = get_extension(crawler)
    if error is not None and extension is not None and not extension.finished:
        extension.give_up(error)


def stopping_words(sent: int, embeds: bool) -> str:
    """Return what happens after the first signal."""
    parts = [f"{count(sent, 'request')} under way"] if sent else []
    parts += ["the passages being embedded"] if embeds else []
    return f"stopping: finishing {' and '.join(parts) or 'the run'}; Ctrl-C again to stop at once"
