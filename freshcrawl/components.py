"""What the middleware, the pipelines and the spider have of a crawl: its run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import DropItem, NotConfigured

from freshcrawl.extensions import get_extension

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from freshcrawl.run import Run


def get_run(crawler: Crawler) -> Run | None:
    """Return the run of a crawler, or None when freshcrawl is not enabled there."""
    extension = get_extension(crawler)
    return None if extension is None else extension.run


def run_of(crawler: Crawler) -> Run:
    """Return the run of a crawler.

    Raises:
        NotConfigured: the run extension is not enabled.
    """
    run = get_run(crawler)
    if run is None:
        raise NotConfigured
    return run


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
        return cls(run_of(crawler))

    def drop_if_fatal(self, error: Exception) -> None:
        """Have no page answer for what is wrong with this machine.

        Raises:
            DropItem: the error ends the run; the page stays as it was.
        """
        if self.run.ends_for(error):
            raise DropItem("the run ends", log_level="DEBUG")
