"""Pages that move: on, back, in chains, to pages that die, and those that never say for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl.core.pages import Cause
from tests.support.site_model import url_of
from tests.support.site_server import Reply
from tests.support.ways_site import PAGE, PATHS, Ways, begun, first_state, html, to, words

if TYPE_CHECKING:
    from pathlib import Path

NEW, NEWER = "/guide/new", "/guide/newer"
SLOW = "start_interval_secs = 5184000\nmax_interval_secs = 5184000\nmax_age_secs = 5184000\n"
GONE = Reply(410, b"gone", {"Content-Type": "text/html"})


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    folder = tmp_path_factory.mktemp("states")
    return {by_links: first_state(folder / str(by_links), by_links) for by_links in (False, True)}


def text_at(ways: Ways, path: str) -> None:
    """Have the text of the page at another path."""
    ways.site.answers[path] = html(path, title=f"Page {PAGE}", body=words(PAGE))


def where(ways: Ways) -> set[str]:
    """Return where a question for the page's text is answered from."""
    return ways.found(words(PAGE))[0]


@pytest.mark.parametrize("by_links", [False, True])
def test_a_page_moves_and_moves_back(states: dict[bool, Path], by_links: bool) -> None:
    """Each time in the run that sees it, though its old place is an alias that is not due."""
    with begun(states[by_links], by_links=by_links) as ways:
        ways.set_table("", SLOW)
        text_at(ways, NEW)
        ways.site.answers[PAGE] = to(NEW)
        assert ways.crawl(60).embedded == []
        assert where(ways) == {NEW}
        assert (ways.record().status, ways.record().alias_of) == ("alias", ways.record(NEW).key)
        ways.site.answers[PAGE], ways.site.answers[NEW] = html(PAGE), to(PAGE)
        ways.site.listed.append(NEW)
        assert ways.crawl(60).embedded == []
        assert where(ways) == {PAGE}
        assert (ways.record().status, ways.record(NEW).status) == ("live", "alias")
        assert (ways.record().alias_of, ways.record(NEW).alias_of) == ("", ways.record().key)
        assert ways.record().proofs[-1]["over"]


def test_a_page_that_moves_back_is_asked_for_whether_due_or_not(states: dict[bool, Path]) -> None:
    with begun(states[False]) as ways:
        text_at(ways, NEW)
        ways.site.answers[PAGE] = to(NEW)
        ways.site.listed.append(NEW)
        ways.crawl()
        ways.set_table("", SLOW)
        ways.crawl()  # the interval of both has grown
        edited = words(PAGE) + " more"
        ways.site.answers[NEW] = html(NEW, title=f"Page {PAGE}", body=edited)
        ways.crawl(2)
        ways.site.answers[PAGE], ways.site.answers[NEW] = html(PAGE), to(PAGE)
        ways.crawl(0)
        while NEW not in ways.site.asked:
            ways.crawl(0.25)
        assert where(ways) == {PAGE}


def test_a_chain_ends_at_its_last_page(states: dict[bool, Path]) -> None:
    with begun(states[False]) as ways:
        ways.site.answers[PAGE], ways.site.answers[NEW] = to(NEW), to(NEWER)
        text_at(ways, NEWER)
        assert ways.crawl().embedded == []
        assert where(ways) == {NEWER}
        assert [ways.record(p).status for p in (PAGE, NEW, NEWER)] == ["alias", "alias", "live"]


def test_a_chain_that_grows(states: dict[bool, Path]) -> None:
    with begun(states[False]) as ways:
        for old, new in ((PAGE, NEW), (NEW, NEWER)):
            ways.site.answers[old] = to(new)
            text_at(ways, new)
            assert ways.crawl().embedded == []
            assert where(ways) == {new}


def test_a_move_whose_target_is_dead_takes_the_page_out(states: dict[bool, Path]) -> None:
    with begun(states[False]) as ways:
        ways.site.answers[PAGE], ways.site.answers[NEW] = to(NEW), GONE
        ways.crawl()
        assert where(ways) == set()
        assert ways.record(NEW).status == "gone"


def test_a_move_whose_target_fails_waits(states: dict[bool, Path]) -> None:
    with begun(states[False]) as ways:
        ways.site.answers[PAGE], ways.site.answers[NEW] = to(NEW), Reply(500, b"")
        for _ in range(3):
            ways.crawl()
            assert where(ways) == {PAGE}
        text_at(ways, NEW)
        assert ways.crawl().embedded == []
        assert where(ways) == {NEW}


def test_an_alias_whose_target_dies_may_be_a_page_again(states: dict[bool, Path]) -> None:
    with begun(states[False]) as ways:
        text_at(ways, NEW)
        ways.site.answers[PAGE] = to(NEW)
        ways.crawl()
        ways.site.answers[NEW] = GONE
        ways.crawl()
        assert where(ways) == set()
        assert (ways.record().status, ways.record(NEW).status) == ("alias", "gone")
        ways.site.answers[PAGE] = html(PAGE)
        assert ways.crawl().embedded == []
        assert where(ways) == {PAGE}


def test_a_page_that_redirects_for_the_time_being_for_long(states: dict[bool, Path]) -> None:
    """302 keeps the source: its text stays, stale, whatever the target does, for a month."""
    with begun(states[False]) as ways:
        ways.site.answers[PAGE] = to(PATHS[4], 302)
        for run in range(10):
            ways.crawl()
            assert where(ways) == {PAGE}
            assert ways.record().failures == run + 1
        ways.site.answers[PATHS[4]] = GONE
        ways.crawl()
        assert where(ways) == {PAGE}
        assert ways.explained()[0]["stale_reason"].endswith("/guide/e for now")
        ways.site.answers[PAGE] = html(PAGE)
        assert ways.crawl().embedded == []
        assert (ways.record().failures, ways.record().status) == (0, "live")


@pytest.mark.parametrize(("target", "status"), [(PATHS[4], "alias"), ("/", "hidden")])
def test_a_redirect_for_the_time_being_that_lasts(
    states: dict[bool, Path], target: str, status: str
) -> None:
    """For three runs and a month: by then it is a move, and 200 says at any time that it is not."""
    with begun(states[False]) as ways:
        ways.site.answers[PAGE] = to(target, 302)
        for day in range(30):
            ways.crawl()
            assert where(ways) == {PAGE}, f"day {day}"
        ways.site.answers[PAGE] = html(PAGE)
        ways.crawl()
        ways.site.answers[PAGE] = to(target, 302)
        ways.crawl(70)
        ways.crawl(29)
        ways.crawl(0.9)
        assert where(ways) == {PAGE}
        text = ways.explained()[1]
        assert "kept in the answers although it redirected for the time being" in text
        ways.crawl(0.5)
        assert where(ways) == set()
        assert ways.record().status == status
        assert "was kept in the answers until" in ways.explained()[1]
        ways.crawl()
        assert ways.record().status == ("gone" if status == "hidden" else status)
        ways.site.answers[PAGE] = html(PAGE)
        assert ways.crawl(70).embedded == []
        assert where(ways) == {PAGE}


def test_a_redirect_that_lasts_to_a_page_that_nothing_lists(states: dict[bool, Path]) -> None:
    """As in a first crawl, its text is read as that of the page that leads to it."""
    with begun(states[False]) as ways:
        text_at(ways, "/elsewhere")
        ways.site.answers[PAGE] = to("/elsewhere", 302)
        for _ in range(2):
            ways.crawl(15)
            assert (where(ways), ways.record().via) == ({PAGE}, "")
        ways.crawl(15)
        assert (where(ways), ways.record().via) == ({PAGE}, url_of("/elsewhere"))
        assert ways.record().stale_reason == ""
        ways.crawl(1)
        assert (ways.record().stale_reason, ways.record().last_verdict) == ("", "unchanged")


def test_a_login_that_lasts_takes_no_page(states: dict[bool, Path]) -> None:
    with begun(states[False]) as ways:
        form = '<form><input name="user"><input type="password"></form>'
        ways.site.answers["/login"] = html("/login", title="Sign in", body=form)
        ways.site.answers[PAGE] = to("/login", 302)
        for _ in range(6):
            ways.crawl(15)
            assert where(ways) == {PAGE}
            assert ways.record().stale_reason


def test_moves_in_a_circle_wait(states: dict[bool, Path]) -> None:
    with begun(states[False]) as ways:
        ways.site.answers[PAGE], ways.site.answers[NEW] = to(NEW), to(PAGE)
        ways.crawl()
        ways.crawl()
        assert where(ways) == {PAGE}
        assert ways.record().cause == Cause.MOVED
        assert ways.explained()[0]["stale_reason"]
