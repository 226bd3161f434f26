"""Scrapy components that cannot be built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Failing:
    """An extension, pipeline or middleware whose making fails, but for sites of other ports."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it, unless the site has the port that ``FAILS_FOR_PORT`` names.

        Raises:
            RuntimeError: it has.
        """
        spider = crawler.spider
        url = getattr(getattr(spider, "site", None), "url", "")
        if f":{crawler.settings['FAILS_FOR_PORT']}/" in url:
            raise RuntimeError("this component cannot be built")
        return cls()
