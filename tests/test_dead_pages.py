"""Pages that are dead for a while: who lists them has the word, and hubs are read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.site_server import Reply
from tests.support.trouble_cases import PLAIN_WALL
from tests.support.ways_site import PAGE, Ways, html, to

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


WALL = Reply(200, PLAIN_WALL.encode(), {"Content-Type": "text/html"})
OTHERS = {
    "a wall": WALL,
    "no document": Reply(200, b"{}", {"Content-Type": "application/json"}),
    "no text": Reply(200, b"<html></html>", {"Content-Type": "text/html"}),
    "302 to a page": to("/guide/d", 302),
    "302 to a page that nobody knows": to("/welcome", 302),
    "302 home": to("/", 302),
    "302 off the site": to("http://else.test/login", 302),
}
"""What may answer in place of a page."""


@pytest.fixture
def hidden() -> Iterator[Ways]:
    """A site with a page that is hidden, as it said noindex once."""
    with Ways() as ways:
        ways.crawl()
        ways.site.answers[PAGE] = html(PAGE, head='<meta name="robots" content="noindex">')
        ways.set_table("", pace="")
        run_until(ways, PAGE, "hidden", 4)
        yield ways


@pytest.mark.parametrize("other", OTHERS)
def test_what_answers_in_place_of_a_hidden_page_proves_nothing(hidden: Ways, other: str) -> None:
    hidden.site.unknown = WALL
    hidden.site.answers |= {PAGE: OTHERS[other], "/welcome": html("/welcome")}
    hidden.crawl()
    record = hidden.record()
    assert (record.status, record.cause, record.last_verdict) == ("hidden", "noindex", "rejected")
    hidden.site.answers[PAGE] = html(PAGE)
    hidden.crawl()
    assert hidden.record().status == "live"


@pytest.mark.parametrize(
    ("other", "status"),
    [("302 to a page", "alias"), ("no document", "excluded"), ("a wall", "excluded")],
)
def test_unless_nothing_else_answers_for_a_month(hidden: Ways, other: str, status: str) -> None:
    hidden.site.unknown = WALL
    hidden.site.answers[PAGE] = OTHERS[other]
    for days, expected in ((1, "hidden"), (28, "hidden"), (3, status)):
        hidden.crawl(days)
        assert hidden.record().status == expected


def test_a_page_that_is_gone_is_gone_whatever_answers_for_it(ways: Ways) -> None:
    ways.site.answers[HUB] = NOT_FOUND
    run_until(ways, HUB, "gone", 6)
    ways.site.answers[HUB] = to("/guide/d", 302)
    ways.crawl(8)
    assert (ways.record(HUB).status, ways.record(HUB).cause) == ("gone", "not_found")
    assert ways.record(HUB).next_due - ways.record(HUB).last_attempt < 14 * 86_400
