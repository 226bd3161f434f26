"""What a person has discarded stays so until the site says something else, and is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.site_model import key_of
from tests.support.site_server import Reply
from tests.support.ways_site import PAGE, PATHS, Ways, html, to, words

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY = PATHS[:7]
DEAD = Reply(404, b"no", {"Content-Type": "text/html"})
WALL = "Something stands in front of all pages and says so at some length here and there."
NOINDEX = '<meta name="robots" content="noindex">'


@pytest.fixture
def ways() -> Iterator[Ways]:
    """A site that was crawled once."""
    with Ways() as ways:
        ways.crawl()
        yield ways


def refused(ways: Ways, reply: Reply) -> None:
    """Let many pages answer with something; a person discards what a guard held of that."""
    for path in MANY:
        ways.site.answers[path] = reply
    report = ways.crawl().report
    assert report is not None
    assert report.held == len(MANY)
    ways.discard()
    assert ways.crawl().report.held == 0  # type: ignore[union-attr]


@pytest.mark.parametrize("said", [DEAD, html(PAGE, head=NOINDEX)], ids=["404", "noindex"])
def test_a_discarded_removal_outlasts_a_wall(ways: Ways, said: Reply) -> None:
    refused(ways, said)
    for path in [PAGE, *PATHS[7:11]]:
        ways.site.answers[path] = html(path, title="Oops", body=WALL)
    report = ways.crawl().report
    assert report is not None
    assert report.rejected == 5
    for path in PATHS[7:11]:
        ways.site.answers[path] = html(path)
    ways.site.answers[PAGE] = said
    for _ in range(4):
        report = ways.crawl().report
        assert report is not None
        assert (report.held, report.hidden, report.gone) == (0, 0, 0)
        assert ways.found(*map(words, MANY)) == [{path} for path in MANY]
    assert ways.record().discarded


def test_a_discarded_text_outlasts_a_wall(ways: Ways) -> None:
    """Of a rewrite that nobody wants one page is left after the wall: no guard would hold it."""
    rewritten = {path: html(path, body=f"Quite new words that {path} has now.") for path in PATHS}
    ways.site.answers.update(rewritten)
    ways.set_table("guard_changed_min = 3\nguard_changed_ratio = 0.2\n")
    ways.crawl()
    ways.discard()
    for path in PATHS:
        ways.site.answers[path] = html(path, title="Oops", body=WALL)
    ways.crawl()
    ways.site.answers.update({path: html(path) for path in PATHS})
    ways.site.answers[PAGE] = rewritten[PAGE]
    ways.crawl()
    assert ways.found(words(PAGE)) == [{PAGE}]


def test_something_else_that_is_believed_ends_it(ways: Ways) -> None:
    refused(ways, DEAD)
    ways.site.answers[PAGE] = html(PAGE, body="Quite new words.")
    ways.crawl()
    assert not ways.record().discarded
    assert ways.record(MANY[1]).discarded
    assert ways.found("Quite new words.") == [{PAGE}]


def test_a_policy_that_keeps_the_pages_for_a_while_does_not_end_it(ways: Ways) -> None:
    refused(ways, DEAD)
    ways.set_table('not_found = "keep"\n')
    ways.crawl()
    ways.set_table("")
    for _ in range(4):
        report = ways.crawl().report
        assert report is not None
        assert report.held == 0
        assert ways.found(*map(words, MANY)) == [{path} for path in MANY]


@pytest.mark.parametrize("said", [DEAD, html(PAGE, head=NOINDEX)], ids=["404", "noindex"])
def test_nothing_is_reported_of_it(ways: Ways, said: Reply) -> None:
    refused(ways, said)
    report = ways.crawl().report
    assert report is not None
    assert (report.hidden, report.gone, report.excluded, report.held) == (0, 0, 0, 0)
    _, text = ways.explained()
    assert "kept by a person: removal discarded" in text
    assert "kept in the answers although" in text
    for wrong in ("is to leave", "until its removal is confirmed"):
        assert wrong not in text


def test_a_move_that_ends_nowhere_says_what_it_waits_for(ways: Ways) -> None:
    circle, dead_end = PATHS[:2], PATHS[2]
    ways.site.answers[circle[0]], ways.site.answers[circle[1]] = to(circle[1]), to(circle[0])
    ways.site.answers[dead_end] = to("/new")
    ways.site.answers["/new"] = Reply(500, b"sorry", {"Content-Type": "text/html"})
    ways.set_table("", pace="start_interval_secs = 86400\nmax_interval_secs = 8640000\n")
    for _ in range(6):
        ways.crawl(4.0)
    for path, place in ((circle[0], circle[1]), (dead_end, "/new")):
        _, text = ways.explained(path)
        assert f"waiting until http://{key_of(place)} is a page that can be read" in text
        assert "a later run publishes" not in text
        assert "halves" not in text
        assert ways.record(path).interval > 86_400
    assert ways.found(words(dead_end)) == [{dead_end}]
