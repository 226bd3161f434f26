"""FreshnessMiddleware: what leaves, and with which validators."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.http import Request

from freshcrawl.core.pages import Status
from freshcrawl.middlewares import DUE_CHECKED, KEY, FreshnessMiddleware, NotDue
from tests.support.runs import ROOT, Bench, key_of

DAY = 86_400.0
CHECKED: dict[str, Any] = {DUE_CHECKED: True}


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.publish("a", "b")
    return bench


def request(name: str, url: str = "", **meta: Any) -> Request:
    return Request(url or ROOT + name, meta={KEY: key_of(name), **meta})


def test_page_that_is_not_due_does_not_leave(bench: Bench) -> None:
    with pytest.raises(NotDue):
        FreshnessMiddleware(bench.run()).process_request(request("a"))


@pytest.mark.parametrize("meta", [{}, CHECKED], ids=["first pass", "retry"])
def test_due_page_asks_with_its_validators(bench: Bench, meta: dict[str, Any]) -> None:
    bench.clock.time += 2 * DAY
    asked = request("a", **meta)
    FreshnessMiddleware(bench.run()).process_request(asked)
    assert asked.headers["If-None-Match"] == b'"1"'
    assert "If-Modified-Since" not in asked.headers
    assert asked.meta[DUE_CHECKED]


def test_decision_is_kept_for_hops_and_retries(bench: Bench) -> None:
    asked = request("a", **CHECKED)
    FreshnessMiddleware(bench.run()).process_request(asked)
    assert asked.headers["If-None-Match"] == b'"1"'


def test_redirect_hop_does_not_carry_the_headers_of_another_url(bench: Bench) -> None:
    hop = request("a", ROOT + "elsewhere", **CHECKED)
    hop.headers["If-None-Match"] = '"of the first url"'
    hop.headers["If-Modified-Since"] = "Thu, 01 Jan 1970 00:00:00 GMT"
    FreshnessMiddleware(bench.run()).process_request(hop)
    assert "If-None-Match" not in hop.headers
    assert "If-Modified-Since" not in hop.headers


def test_requests_that_are_no_pages_pass_untouched(bench: Bench) -> None:
    other = Request(ROOT + "sitemap.xml", headers={"If-None-Match": '"x"'})
    FreshnessMiddleware(bench.run()).process_request(other)
    assert other.headers["If-None-Match"] == b'"x"'


def test_rendered_pages_ask_without_validators(bench: Bench) -> None:
    asked = request("a", playwright=True, **CHECKED)
    FreshnessMiddleware(bench.run()).process_request(asked)
    assert "If-None-Match" not in asked.headers


def test_validators_of_content_that_is_not_published_are_not_sent(bench: Bench) -> None:
    run = bench.run(full=True)
    run.ledger.set(key_of("a"), validator_digest="digest of a text that was never published")
    assert run.validators(key_of("a"), ROOT + "a") == {}
    assert run.validators(key_of("b"), ROOT + "b") == {"If-None-Match": '"1"'}


def test_validators_are_void_when_bodies_are_read_in_another_way(bench: Bench) -> None:
    bench.site = {"drop": ["div.feedback"]}
    assert bench.run().validators(key_of("a"), ROOT + "a") == {}


@pytest.mark.parametrize("status", [Status.HIDDEN, Status.GONE])
def test_validators_of_pages_that_left_are_not_sent(status: Status) -> None:
    bench = Bench()
    bench.publish("a", status=status)
    assert bench.run().validators(key_of("a"), ROOT + "a") == {}
