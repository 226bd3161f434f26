"""Pages that are dead for a while: who lists them has the word, and hubs are read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.site_server import Reply
from tests.support.ways_site import Ways, html

if TYPE_CHECKING:
    from collections.abc import Iterator

HUB = "/guide/a"
NOT_FOUND = Reply(404, b"no", {"Content-Type": "text/html"})
LEAVES = ("/hub/1", "/hub/2")


@pytest.fixture
def ways() -> Iterator[Ways]:
    """A site of which half is listed by a hub only, checked as rarely as by default."""
    with Ways(by_links=True) as ways:
        ways.set_table('absent = "hide"\nmissing_runs = 2\n', pace="")
        ways.site.answers |= {path: html(path) for path in LEAVES}
        ways.site.answers[HUB] = hub(*LEAVES)
        ways.crawl()
        yield ways


def hub(*paths: str) -> Reply:
    return html(HUB, links="".join(f'<a href="{path}">{path}</a>' for path in paths))


def run_until(ways: Ways, path: str, status: str, days: int) -> None:
    """Crawl once a day until a page has a status, for so many days at most."""
    for _ in range(days):
        ways.crawl()
        if ways.record(path).status == status:
            return
    pytest.fail(f"{path} is {ways.record(path).status} after {days} days")


def test_a_start_page_that_is_back_is_read_by_the_next_run(ways: Ways) -> None:
    ways.site.answers["/"] = NOT_FOUND
    run_until(ways, "/", "gone", 6)
    ways.site.answers["/new"] = html("/new")
    ways.site.listed.append("/new")
    del ways.site.answers["/"]
    ways.crawl()
    assert ways.record("/").status == "live"
    assert ways.record("/new").status == "live"
    assert ways.site.asked.count("/") == 1
    ways.crawl(0.1)
    assert "/" not in ways.site.asked  # it is due like any other


def test_a_hub_that_is_back_is_read_within_days_and_its_pages_are_back(ways: Ways) -> None:
    ways.site.answers[HUB] = NOT_FOUND
    run_until(ways, HUB, "gone", 6)
    run_until(ways, LEAVES[0], "hidden", 6)
    ways.site.answers[HUB] = hub(*LEAVES)
    run_until(ways, HUB, "live", 8)
    ways.crawl()
    assert {ways.record(path).status for path in LEAVES} == {"live"}


def test_two_runs_within_minutes_do_not_confirm_each_other(ways: Ways) -> None:
    ways.site.answers[LEAVES[0]] = NOT_FOUND
    run_until(ways, LEAVES[0], "hidden", 4)
    for days, status in ((0.01, "hidden"), (0.4, "hidden"), (0.2, "gone")):
        ways.crawl(days, full=True)
        assert ways.record(LEAVES[0]).status == status
