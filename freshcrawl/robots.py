"""robots.txt by RFC 9309: one fetch a host and run, and an outage means wait."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from protego import Protego
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request
from scrapy.http.request import NO_CALLBACK

from freshcrawl.failures import in_words
from freshcrawl.sitemaps import sitemap_urls_from_robots

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

MAX_BYTES = 512 * 1024
"""RFC 9309 asks for at least 500 KiB."""
WAIT_STATUSES = frozenset({429})


class RobotsForbidden(IgnoreRequest):
    """robots.txt disallows the URL."""


class RobotsUnavailable(IgnoreRequest):
    """robots.txt could not be read: by RFC 9309, 2.3.1.4, nothing may be fetched for now."""


@dataclass(slots=True)
class RobotsPolicy:
    """What a host's robots.txt says. ``problem`` is set when it could not be read."""

    parser: Protego | None = None
    sitemaps: list[str] = field(default_factory=list)
    problem: str = ""

    def check(self, url: str, user_agent: str) -> None:
        """Raise if ``url`` may not be fetched.

        Raises:
            RobotsForbidden: a rule disallows it.
            RobotsUnavailable: the rules are not known.
        """
        if self.problem:
            raise RobotsUnavailable(f"robots.txt unavailable ({self.problem})")
        if self.parser is not None and not self.parser.can_fetch(url, user_agent):
            raise RobotsForbidden("disallowed by robots.txt")


def read_policy(status: int, body: bytes, url: str) -> RobotsPolicy:
    """Return the policy of an answer: 2xx rules, other 4xx none, 5xx and 429 unavailable."""
    if status >= 500 or status in WAIT_STATUSES:
        return RobotsPolicy(problem=f"HTTP {status}")
    if not 200 <= status < 300:
        return RobotsPolicy()
    if len(body) > MAX_BYTES:  # a rule that is cut in two would be another rule
        body = body[:MAX_BYTES].rpartition(b"\n")[0]
    body = body.removeprefix(b"\xef\xbb\xbf")
    parser = Protego.parse(body.decode("utf-8", "replace"))
    return RobotsPolicy(parser, sitemap_urls_from_robots(body, url))


class RobotsMiddleware:
    """Stands in for Scrapy's own, which takes an unreachable robots.txt for "allow all"."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._crawler = crawler
        self._user_agent: str = (
            crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"]
        )
        self._policies: dict[str, asyncio.Future[RobotsPolicy]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Refuse what robots.txt does not allow, or what it cannot be asked about."""
        if request.meta.get("dont_obey_robotstxt") or urlsplit(request.url).scheme not in {
            "http",
            "https",
        }:
            return
        (await self.policy(request.url)).check(request.url, self._user_agent)

    async def policy(self, url: str) -> RobotsPolicy:
        """Return the policy of the host of ``url``, fetched once a run."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._policies:
            future: asyncio.Future[RobotsPolicy] = asyncio.get_running_loop().create_future()
            self._policies[origin] = future
            policy = RobotsPolicy(problem="interrupted")
            try:
                policy = await self._fetch(f"{origin}/robots.txt")
            finally:
                future.set_result(policy)
        return await asyncio.shield(self._policies[origin])

    async def _fetch(self, url: str) -> RobotsPolicy:
        request = Request(
            url,
            callback=NO_CALLBACK,
            priority=1000,
            dont_filter=True,
            meta={"dont_obey_robotstxt": True, "handle_httpstatus_list": [429]},
        )
        try:
            response: Response = await self._crawler.engine.download_async(request)
            return read_policy(response.status, response.body, response.url)
        except Exception as error:
            problem = in_words(error)
            logger.warning("%(url)s: %(problem)s", {"url": url, "problem": problem})
            return RobotsPolicy(problem=problem)
