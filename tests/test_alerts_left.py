"""What becomes of a page that is out of the answers already is told, although nothing is published.

A receiver that deletes on ``page.gone`` alone would keep each page that was hidden first.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.alerts.telling import send_all
from freshcrawl.alerts.webhook import webhook_of
from tests.support.origin import Answer
from tests.support.quick_site import NOW, QuickSite
from tests.support.receiver import SECRET, Receiver
from tests.support.site_model import key_of, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = key_of("/c")
DOWN: dict[str, Any] = {
    "FRESHCRAWL_WEBHOOK_URL": "http://127.0.0.1:9/nobody-listens",
    "FRESHCRAWL_WEBHOOK_SECRET": SECRET,
    "FRESHCRAWL_WEBHOOK_RUN_SECS": 0,
}
NOT_FOUND, GONE = Answer("", 404), Answer("", 410)
HOME = Answer("", 301, {"Location": url_of("/")})
OTHER = Answer("", 301, {"Location": url_of("/a")})
OFF_SITE = Answer("", 301, {"Location": "http://elsewhere.test/"})


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def site(tmp_path: Path, runner: asyncio.Runner) -> QuickSite:
    site = QuickSite(tmp_path, runner, "guard_confirm_hours = 0\n")
    for path in ("/", "/a", "/b", "/c"):
        site.serve(path, f"The text of {path} is about valves.")
    site.on_sitemap("/", "/a", "/b", "/c")
    return site


@pytest.fixture
def receiver(site: QuickSite) -> Iterator[Receiver]:
    """Return a receiver that was told of the first crawl."""
    with Receiver() as receiver:
        site.crawl(**receiver.settings)
        receiver.taken.clear()
        yield receiver
        receiver.check()


def answer(site: QuickSite, answer: Answer) -> None:
    site.server.answers["/c"] = answer


def told(receiver: Receiver) -> list[tuple[str, str, str]]:
    return [(e["type"], e["old_status"], e["status"]) for e in receiver.events("page")]


HIDDEN = ("page.hidden", "live", "hidden")
GONE_THEN = ("page.gone", "hidden", "gone")


@pytest.mark.parametrize(
    ("first", "then", "cause"),
    [
        (NOT_FOUND, NOT_FOUND, "not_found"),
        (NOT_FOUND, GONE, "gone"),
        (HOME, HOME, "home"),
        (OFF_SITE, GONE, "gone"),
    ],
    ids=["404", "404-410", "home", "off-site-410"],
)
def test_hidden_page_that_is_found_gone_is_told_once(
    site: QuickSite, receiver: Receiver, first: Answer, then: Answer, cause: str
) -> None:
    answer(site, first)
    site.crawl(**receiver.settings)
    assert told(receiver) == [HIDDEN]
    answer(site, then)
    for _ in range(2):
        ended = site.crawl(**receiver.settings)
        assert ended.report is not None
        assert ended.report.generation == 2
    assert told(receiver) == [HIDDEN, GONE_THEN]
    [event] = receiver.events("page.gone")
    assert (event["key"], event["url"], event["cause"]) == (KEY, url_of("/c"), cause)
    assert event["at"] > receiver.events("page.hidden")[0]["at"]
    assert all(got.body["exact"] for got in receiver.taken)
    assert receiver.taken[2].body["run_id"] == receiver.events("run.completed")[1]["run"]["run_id"]


@pytest.mark.parametrize("how", [DOWN, {}], ids=["down", "no-settings"])
def test_it_is_told_later_if_it_could_not_be_told_then(
    site: QuickSite, receiver: Receiver, how: dict[str, Any]
) -> None:
    answer(site, NOT_FOUND)
    site.crawl(**receiver.settings)
    for _ in range(2):
        site.crawl(**how)
    site.crawl(**receiver.settings)
    assert told(receiver) == [HIDDEN, GONE_THEN]


def test_hidden_and_gone_while_nobody_was_told_it_is_gone(
    site: QuickSite, receiver: Receiver
) -> None:
    answer(site, NOT_FOUND)
    for _ in range(2):
        site.crawl()
    site.crawl(**receiver.settings)
    assert told(receiver) == [("page.gone", "live", "gone")]


def test_the_command_that_sends_tells_it(site: QuickSite, receiver: Receiver) -> None:
    answer(site, NOT_FOUND)
    site.crawl(**receiver.settings)
    site.crawl()
    webhook = webhook_of(replace(site.config, webhook_url=receiver.url, webhook_secret=SECRET))
    assert webhook is not None
    site.writing(lambda state, own: send_all(state, webhook, lambda: NOW, 1))
    assert told(receiver) == [HIDDEN, GONE_THEN]
    site.crawl(**receiver.settings)
    assert told(receiver) == [HIDDEN, GONE_THEN]


def test_back_and_away_again_it_is_told_each_time(site: QuickSite, receiver: Receiver) -> None:
    text = site.server.answers["/c"]
    expected = []
    for _ in range(2):
        answer(site, NOT_FOUND)
        for _ in range(3):
            site.crawl(**receiver.settings)
        answer(site, text)
        site.crawl(**receiver.settings)
        expected += [HIDDEN, GONE_THEN, ("page.new", "gone", "live")]
        assert told(receiver) == expected


def test_hidden_page_that_moves_then_is_told_where_to(site: QuickSite, receiver: Receiver) -> None:
    for how in (NOT_FOUND, OTHER, GONE, OTHER):
        answer(site, how)
        for _ in range(2 if how is OTHER else 1):
            site.crawl(**receiver.settings)
    moved = ("page.moved", "hidden", "alias")
    again = [("page.gone", "alias", "gone"), ("page.moved", "gone", "alias")]
    assert told(receiver) == [HIDDEN, moved, *again]
    assert {event["moved_to"] for event in receiver.events("page.moved")} == {url_of("/a")}


def test_what_was_before_the_webhook_is_not_told(site: QuickSite) -> None:
    site.crawl()
    answer(site, NOT_FOUND)
    for _ in range(2):
        site.crawl()
    with Receiver() as receiver:
        for _ in range(2):
            site.crawl(**receiver.settings)
        assert told(receiver) == []
