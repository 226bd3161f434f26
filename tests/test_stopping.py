"""What is dropped when a crawl ends: only what Scrapy's own downloader lets be dropped."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.http import Request
from scrapy.http.request import NO_CALLBACK
from twisted.internet.defer import Deferred

from freshcrawl.stopping import Stopped, drop_waiting


def engine(**downloader: Any) -> Any:
    return SimpleNamespace(downloader=SimpleNamespace(**downloader))


def test_what_waits_is_dropped_but_for_what_a_component_waits_for() -> None:
    page, robots = Deferred[Any](), Deferred[Any]()
    failed: list[Any] = []
    page.addErrback(failed.append)
    waiting = (Request("http://x.test/robots.txt", callback=NO_CALLBACK), robots)
    queue = deque([(Request("http://x.test/a"), page), waiting])
    slot = SimpleNamespace(queue=queue, transferring={1, 2})
    assert drop_waiting(engine(slots={"x.test": slot})) == 2
    assert list(queue) == [waiting]
    assert [failure.type for failure in failed] == [Stopped]


@pytest.mark.parametrize("downloader", [{}, {"slots": None}, {"slots": {"x": object()}}])
def test_nothing_is_dropped_from_a_downloader_that_is_not_known(downloader: dict[str, Any]) -> None:
    assert drop_waiting(engine(**downloader)) == 0
