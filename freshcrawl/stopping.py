"""Asked to stop: what still waits in the downloader is dropped, so that the end comes soon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.core.engine import ExecutionEngine
    from scrapy.settings import Settings


class Stopped(IgnoreRequest):
    """The crawl is ending, and the request was not sent."""


class StoppableCrawler(Crawler):
    """A Crawler that calls ``stopping`` when a signal asks it to stop, before it does."""

    def __init__(
        self, spider: type[Spider], settings: Settings, stopping: Callable[[], None]
    ) -> None:
        super().__init__(spider, settings)
        self._stopping = stopping

    async def stop_async(self) -> None:
        """Stop in order; the engine calls this too, once the spider is closed."""
        engine = engine_of(self)
        if engine is None:  # it is not built yet: there is nothing to stop
            return
        if self.crawling and engine.spider is not None:
            self._stopping()
        await super().stop_async()


def engine_of(crawler: Crawler) -> ExecutionEngine | None:
    """Return the engine of a crawler; None before it is built, and where it could not be."""
    try:
        return crawler.engine
    except RuntimeError:
        return None


def drop_waiting(engine: ExecutionEngine) -> int:
    """Drop the requests that the downloader has not sent yet; return how many it has.

    Scrapy would send them all, each after its delay, and wait for the answers: minutes with a
    slow site. Those that a component waits for itself (robots.txt) stay. Nothing is dropped where
    the downloader is another one than Scrapy's own: its slots are not documented.
    """
    slots = _slots(engine)
    for slot in slots:
        waiting = list(slot.queue)
        slot.queue.clear()
        for request, answer in waiting:
            if request.callback is NO_CALLBACK:
                slot.queue.append((request, answer))
            else:
                answer.errback(Stopped("the crawl is ending"))
    return sum(len(slot.transferring) for slot in slots)


def _slots(engine: ExecutionEngine) -> list[Any]:
    slots = getattr(engine.downloader, "slots", None)
    found = list(slots.values()) if isinstance(slots, dict) else []
    return [slot for slot in found if hasattr(slot, "queue") and hasattr(slot, "transferring")]
