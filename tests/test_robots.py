"""robots.txt by RFC 9309: rules, no rules, or wait."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request, Response
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from freshcrawl.robots import (
    MAX_BYTES,
    RobotsForbidden,
    RobotsMiddleware,
    RobotsPolicy,
    RobotsUnavailable,
    read_policy,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

ROBOTS = "https://docs.example.com/robots.txt"
PAGE = "https://docs.example.com/private/a"
PRIVATE = b"User-agent: *\nDisallow: /private\n"


def allows(policy: RobotsPolicy, url: str = PAGE, agent: str = "freshcrawl") -> bool:
    try:
        policy.check(url, agent)
    except RobotsForbidden:
        return False
    return True


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        *((status, False) for status in (200, 201, 203, 206)),
        # a body that is not the file's own says nothing
        *((status, True) for status in (301, 302, 307, 308, 400, 401, 403, 404, 410, 451)),
    ],
)
def test_rules_come_with_success_alone(status: int, allowed: bool) -> None:
    policy = read_policy(status, PRIVATE, ROBOTS)
    assert policy.problem == ""
    assert allows(policy) is allowed
    assert allows(policy, "https://docs.example.com/public")


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
def test_an_outage_means_wait(status: int) -> None:
    policy = read_policy(status, b"User-agent: *\nAllow: /\n", ROBOTS)
    assert policy.problem == f"HTTP {status}"
    with pytest.raises(RobotsUnavailable, match=f"robots.txt unavailable .HTTP {status}."):
        policy.check(PAGE, "freshcrawl")


def test_what_is_refused_is_ignored_by_scrapy() -> None:
    assert issubclass(RobotsForbidden, IgnoreRequest)
    assert issubclass(RobotsUnavailable, IgnoreRequest)
    assert not issubclass(RobotsUnavailable, RobotsForbidden)


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf" + PRIVATE,
        PRIVATE.replace(b"\n", b"\r\n"),
        PRIVATE.replace(b"\n", b"\r"),
        b"\n\n# caf\xe9\n" + PRIVATE,
        b"user-AGENT : *\nDISALLOW: /private # no\n",
        b"User-agent: *\nDisallow: /private*\nAllow: /private$\n",
        PRIVATE.rstrip(),
    ],
)
def test_spellings_of_one_rule(body: bytes) -> None:
    policy = read_policy(200, body, ROBOTS)
    assert not allows(policy)
    assert allows(policy, "https://docs.example.com/")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xef\xbb\xbf",
        b"<!DOCTYPE html><html><body>Not found</body></html>",
        b"\x00\xff\xfe" * 100,
        b"Disallow: /private\n",
        b"User-agent: *\nDisallow:\n",
    ],
)
def test_no_rule_allows(body: bytes) -> None:
    assert allows(read_policy(200, body, ROBOTS))


GROUPS = b"""
User-agent: otherbot
Disallow: /

User-agent: freshcrawl-news
Disallow: /

User-agent: *
Disallow: /private/a

User-agent: freshcrawl
Disallow: /private/b
"""


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("freshcrawl", "a", True),
        ("freshcrawl", "b", False),
        ("FreshCrawl", "b", False),
        ("freshcrawl/0.1 (documentation index refresher)", "b", False),
        ("someone", "a", False),
        ("someone", "b", True),
        ("otherbot", "c", False),
    ],
)
def test_groups_of_agents(agent: str, path: str, allowed: bool) -> None:
    policy = read_policy(200, GROUPS, ROBOTS)
    assert allows(policy, f"https://docs.example.com/private/{path}", agent) is allowed


def test_a_file_past_the_limit_is_read_up_to_its_last_whole_line() -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    head = PRIVATE + filler * ((MAX_BYTES - len(PRIVATE)) // len(filler))
    body = head + b"#" * (MAX_BYTES - len(head) - 12) + b"\nDisallow: /secret\n"
    assert body[:MAX_BYTES].endswith(b"\nDisallow: /")
    policy = read_policy(200, body + b"Disallow: /more\n", ROBOTS)
    assert not allows(policy)
    assert allows(policy, "https://docs.example.com/public")
    assert allows(policy, "https://docs.example.com/more")


def test_sitemaps() -> None:
    body = b"\xef\xbb\xbfSitemap: https://docs.example.com/s.xml\n" + PRIVATE + b"sitemap: /t.xml\n"
    expected = ["https://docs.example.com/s.xml", "https://docs.example.com/t.xml"]
    assert read_policy(200, body, ROBOTS).sitemaps == expected
    assert read_policy(404, body, ROBOTS).sitemaps == []
    assert read_policy(503, body, ROBOTS).sitemaps == []


class Engine:
    """Answers downloads from a list, in order; an exception is raised."""

    def __init__(self, answers: Iterable[tuple[int, bytes] | Exception]) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    async def download_async(self, request: Request) -> Response:
        """Return the next answer."""
        self.asked.append(request)
        answer = self.answers.pop(0)
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return Response(request.url, status=answer[0], body=answer[1])


def middleware(
    *answers: tuple[int, bytes] | Exception, **settings: Any
) -> tuple[RobotsMiddleware, Engine]:
    crawler = get_crawler(Spider, {"ROBOTSTXT_OBEY": True, **settings})
    engine = Engine(answers)
    crawler.engine = engine  # type: ignore[assignment]
    return build_from_crawler(RobotsMiddleware, crawler), engine


async def outcomes(robots: RobotsMiddleware, *requests: Request) -> list[str]:
    tasks = [robots.process_request(request) for request in requests]
    found = await asyncio.gather(*tasks, return_exceptions=True)
    return ["" if result is None else type(result).__name__ for result in found]


def test_one_fetch_a_host_whatever_comes_at_once() -> None:
    robots, engine = middleware((200, PRIVATE), (404, b""))
    other = "https://api.example.com/private/a"
    requests = [Request(PAGE), Request(PAGE + "?2"), Request(ROBOTS), Request(other)]
    found = asyncio.run(outcomes(robots, *requests))
    assert found == ["RobotsForbidden", "RobotsForbidden", "", ""]
    assert [r.url for r in engine.asked] == [ROBOTS, "https://api.example.com/robots.txt"]


def test_the_fetch_of_robots_txt_asks_nobody_for_permission() -> None:
    robots, engine = middleware((200, b""))
    asyncio.run(outcomes(robots, Request(PAGE)))
    (request,) = engine.asked
    assert request.meta["dont_obey_robotstxt"]
    assert request.dont_filter


def test_an_unreachable_host_means_wait() -> None:
    robots, engine = middleware(TimeoutError())

    async def twice() -> list[str]:
        return await outcomes(robots, Request(PAGE)) + await outcomes(robots, Request(PAGE))

    assert asyncio.run(twice()) == ["RobotsUnavailable", "RobotsUnavailable"]
    assert len(engine.asked) == 1


@pytest.mark.parametrize(
    "request_",
    [
        Request(PAGE, meta={"dont_obey_robotstxt": True}),
        Request("data:text/plain,private"),
        Request("file:///private"),
    ],
)
def test_what_robots_txt_is_not_about(request_: Request) -> None:
    robots, engine = middleware()
    assert asyncio.run(outcomes(robots, request_)) == [""]
    assert engine.asked == []


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"USER_AGENT": "otherbot/1.0"}, "RobotsForbidden"),
        ({"USER_AGENT": "otherbot/1.0", "ROBOTSTXT_USER_AGENT": "freshcrawl"}, ""),
    ],
)
def test_the_agent_of_the_settings(settings: dict[str, str], found: str) -> None:
    robots, _ = middleware((200, b"User-agent: otherbot\nDisallow: /\n"), **settings)
    assert asyncio.run(outcomes(robots, Request(PAGE))) == [found]


def test_switched_off() -> None:
    with pytest.raises(NotConfigured):
        middleware(ROBOTSTXT_OBEY=False)
