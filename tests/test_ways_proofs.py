"""Stories of pages that leave and come back: what explain says of them, and what is special."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl.core.pages import Cause
from freshcrawl.core.proofs import all_of
from freshcrawl.witnesses import WITNESSES
from tests.support.site_server import Reply
from tests.support.ways_site import PAGE, PATHS, Ways, begun, first_state, html, to, words

if TYPE_CHECKING:
    from pathlib import Path

GONE = Reply(410, b"gone", {"Content-Type": "text/html"})
MISSING = Reply(404, b"no", {"Content-Type": "text/html"})
SLOW = "start_interval_secs = 2592000\nmax_interval_secs = 2592000\nmax_age_secs = 8640000\n"
"""A page is due after 30 days."""
ERROR_PAGE = "<p>We looked everywhere, and there is nothing of that name in this house.</p>"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return first_state(tmp_path_factory.mktemp("states") / "state", by_links=False)


def test_explain_tells_the_story_of_a_page(state: Path) -> None:
    """Hidden by noindex, back, dead, back: in words, with dates, and in JSON."""
    with begun(state) as ways:
        steps = [
            html(PAGE, head='<meta name="robots" content="noindex">'),
            html(PAGE),
            MISSING,
            MISSING,
            html(PAGE),
        ]
        for reply in steps:
            ways.site.answers[PAGE] = reply
            ways.crawl()
        found, text = ways.explained()
        first, second = found["proofs"]
        assert (first["cause"], first["http_status"], first["said"], first["status"]) == (
            "noindex",
            200,
            "meta robots: noindex",
            "hidden",
        )
        assert (second["cause"], second["http_status"], second["status"], second["runs"]) == (
            "not_found",
            404,
            "gone",
            2,
        )
        for proof in (first, second):
            assert proof["url"].endswith(PAGE)
            assert proof["first_found"] == proof["left_at"] < proof["over_at"]
        lines = [line for line in text.splitlines() if "because" in line]
        assert "  was gone from " in lines[0]
        assert "it was not found" in lines[0]
        assert "  was hidden from " in lines[1]
        assert "asked not to be indexed" in lines[1]
        assert len(str(ways.record().to_json())) < 2_000


def test_a_removal_that_a_guard_holds_is_yet_to_come(state: Path) -> None:
    """Seven of twelve pages: more than the guard lets go, so that none leaves and all are stale."""
    with begun(state) as ways:
        for path in PATHS[:7]:
            ways.site.answers[path] = MISSING
        ways.crawl()
        found, text = ways.explained()
        assert (found["status"], found["proofs"][0]["left_at"]) == ("live", None)
        assert found["stale_reason"] == "404 although a source still lists it"
        assert "is to leave the answers because it was not found" in text
        assert ways.found(words(PAGE)) == [{PAGE}]
        ways.site.answers = {path: html(path) for path in PATHS}
        assert ways.crawl().embedded == []
        found, text = ways.explained()
        assert found["stale_reason"] == ""
        assert "was to leave the answers from" in text


@pytest.mark.parametrize("head", ["", '<meta name="robots" content="noindex">'])
def test_a_soft_404_that_says_noindex_is_rejected_where_the_page_was_live(
    state: Path, head: str
) -> None:
    with begun(state) as ways:
        unknown = html("/x", title="Not here", head=head, body=ERROR_PAGE)
        ways.site.unknown = unknown
        ways.site.answers[PAGE] = unknown
        ended = ways.crawl()
        assert ended.report is not None
        assert (ended.report.rejected, ended.report.hidden) == (1, 0)
        assert ways.found(words(PAGE)) == [{PAGE}]
        record = ways.record()
        assert (record.status, record.cause, record.proofs) == ("live", "", [])
        assert "pages that do not exist" in ways.explained()[0]["stale_reason"]


NOINDEX = html(PAGE, head='<meta name="robots" content="noindex">')
BY_HEADER = html(PAGE)
BY_HEADER.headers["X-Robots-Tag"] = "noindex"


@pytest.mark.parametrize("reply", [NOINDEX, BY_HEADER], ids=["meta", "header"])
@pytest.mark.parametrize("policy", ["hide", "keep"])
def test_noindex_of_a_page_with_validators(reply: Reply, policy: str) -> None:
    """A 304 says once more what the body said, and may say by a header what no body did."""
    with Ways(table=f'noindex = "{policy}"\n') as ways:
        ways.site.etags = True
        ways.crawl()
        ways.site.answers[PAGE] = reply
        for run in range(4):
            ended = ways.crawl()
            assert ended.report is not None
            record = ways.record()
            assert record.status == ("hidden" if policy == "hide" else "live"), f"run {run}"
            assert record.cause == Cause.NOINDEX
            assert len(record.proofs) == 1
            assert record.proofs[0]["runs"] == run + 1
            if policy == "keep":
                assert record.reason == 'noindex; kept by noindex = "keep"'
                assert not ways.explained()[0]["stale_reason"]
            if reply is NOINDEX and run > 1:  # of a header alone, only a whole answer tells
                assert ended.report.not_modified == len(PATHS)
        ways.site.answers[PAGE] = html(PAGE)
        assert ways.crawl().embedded == []
        assert (ways.record().status, ways.record().cause) == ("live", "")


@pytest.mark.parametrize("words_left", [12, 150])
def test_a_noindex_with_another_text_leaves(state: Path, words_left: int) -> None:
    """Also with a text that is suddenly short, which else were not believed yet."""
    text = " ".join(f"word{number}" for number in range(150))
    with begun(state) as ways:
        ways.site.answers[PAGE] = html(PAGE, body=text)
        ways.crawl()
        head = '<meta name="robots" content="noindex">'
        body = " ".join(text.split()[:words_left]) + " and more"
        ways.site.answers[PAGE] = html(PAGE, head=head, body=body)
        assert ways.crawl().embedded == []
        assert ways.record().status == "hidden"


@pytest.mark.parametrize("way", ["noindex", "off site", "home", "robots", "unlisted", "404"])
def test_what_is_hidden_is_looked_at_each_day_however_rarely_it_was(way: str) -> None:
    with Ways() as ways:
        ways.set_table('absent = "hide"\nmissing_runs = 1\nrobots = "hide"\n', SLOW)
        ways.crawl()
        ways.site.answers[PAGE] = {
            "noindex": html(PAGE, head='<meta name="robots" content="noindex">'),
            "off site": to("http://else.test/"),
            "home": to("/"),
            "404": MISSING,
        }.get(way, html(PAGE))
        if way == "robots":
            ways.site.robots = f"User-agent: *\nDisallow: {PAGE}\n"
        if way == "unlisted":
            ways.site.listed.remove(PAGE)
        ways.crawl(60)
        assert ways.record().status == "hidden"
        ways.site.answers[PAGE], ways.site.robots = html(PAGE), ""
        ways.site.listed = list(PATHS)
        ways.crawl(1.01)
        assert ways.found(words(PAGE)) == [{PAGE}]
        others = set(PATHS).intersection(ways.site.asked) - {PAGE}
        assert len(others) <= WITNESSES, "asked for comparison"


def test_a_page_that_is_gone_is_back_when_it_is_next_probed(state: Path) -> None:
    """Rarely, unless it is listed anew; not before, and not later."""
    with begun(state) as ways:
        ways.site.answers[PAGE] = GONE
        ways.site.listed.remove(PAGE)
        ways.crawl()
        ways.set_table("", SLOW)
        ways.crawl()
        ways.site.answers[PAGE] = html(PAGE)
        days = 0
        while not ways.found(words(PAGE))[0]:
            ways.crawl(10)
            days += 10
            assert (PAGE in ways.site.asked) == bool(ways.found(words(PAGE))[0])
            assert days <= 60
        assert days == 30
        ways.site.answers[PAGE] = GONE
        ways.crawl(70)
        ways.site.answers[PAGE] = html(PAGE)
        ways.site.listed.append(PAGE)
        assert ways.crawl(1).embedded == []
        assert ways.found(words(PAGE)) == [{PAGE}]


@pytest.mark.parametrize("first", ["home first", "page first"])
def test_a_home_page_that_moves_is_no_death(state: Path, first: str) -> None:
    """Neither of itself, nor of its twin; and pages that then lead there are dead all the same."""
    with begun(state) as ways:
        ways.site.answers["/"] = to("/en/")
        ways.site.answers["/en/"] = html("/en/", title="Page /", body=words("/"))
        if first == "page first":
            ways.site.answers[PAGE] = to("/en/")
        ways.crawl()
        assert ways.found(words("/")) == [{"/en/"}]
        assert ways.record("/").status == "alias"
        ways.site.answers[PAGE] = to("/en/")
        ways.crawl()
        assert (ways.record().status, ways.record().cause) == (
            "gone" if first == "page first" else "hidden",
            Cause.HOME,
        )
        assert all_of(ways.record())[-1].cause == Cause.HOME


def test_what_was_the_home_page_once_is_a_page_like_others(state: Path) -> None:
    with begun(state) as ways:
        ways.site.answers["/"] = to("/en/")
        ways.site.answers["/en/"] = html("/en/")
        ways.crawl()
        assert ways.record("/").alias_of == ways.record("/en/").key
        del ways.site.answers["/"]
        ways.crawl()
        ways.site.answers[PAGE] = to("/en/")
        ways.crawl()
        assert (ways.record().status, ways.record().cause) == ("alias", Cause.MOVED)


def test_a_home_page_that_is_read_through_a_redirect_is_the_home_page() -> None:
    with Ways() as ways:
        ways.site.answers["/"] = to("/welcome", 302)
        ways.site.answers["/welcome"] = html("/welcome")
        ways.crawl()
        ways.site.answers[PAGE] = to("/welcome")
        ways.crawl()
        assert (ways.record().status, ways.record().cause) == ("hidden", Cause.HOME)


def test_a_second_address_of_the_home_page_is_its_alias(state: Path) -> None:
    with begun(state) as ways:
        ways.site.answers[PAGE] = html(PAGE, title="Page /", body=words("/"))
        ways.crawl()
        ways.site.answers[PAGE] = to("/")
        ways.crawl()
        assert (ways.record().status, ways.record().cause) == ("alias", Cause.MOVED)


def test_many_pages_that_redirect_to_the_home_page_wait(state: Path) -> None:
    with begun(state) as ways:
        for path in PATHS:
            ways.site.answers[path] = to("/")
        for _ in range(4):
            ways.crawl()
            assert ways.found(*map(words, PATHS)) == [{path} for path in PATHS]
        assert ways.record().cause == Cause.HOME


def test_a_policy_that_is_changed_holds_for_what_left_and_for_what_stays(state: Path) -> None:
    with begun(state, 'not_found = "keep"') as ways:
        ways.site.answers[PAGE] = MISSING
        ways.crawl()
        assert ways.record().status == "live"
        ways.set_table("")
        ways.crawl()
        assert ways.record().status == "hidden"
        ways.set_table('not_found = "keep"\n')
        ways.crawl()
        assert ways.record().status == "gone"
        assert ways.found(words(PAGE)) == [set()]
