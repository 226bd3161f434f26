"""Every way out of the answers, and back: on exactly the run that the policy says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from freshcrawl.core.freshness import is_decided
from freshcrawl.core.pages import Cause
from tests.support.cuts import WatchedEmbedder
from tests.support.ways_site import (
    PAGE,
    PATHS,
    Change,
    Ways,
    answers,
    begun,
    first_state,
    html,
    status,
    to,
    unlisted,
    words,
)

if TYPE_CHECKING:
    from pathlib import Path

OTHER, NEW = "/guide/d", "/guide/new"
NEIGHBOURS = tuple(path for path in PATHS if path != PAGE)


def both(*changes: Change) -> Change:
    def change(ways: Ways) -> None:
        for one in changes:
            one(ways)

    return change


def says(value: str, name: str = "robots") -> Change:
    return answers(html(PAGE, head=f'<meta name="{name}" content="{value}">'))


def header(*values: str) -> Change:
    reply = html(PAGE)
    reply.headers["X-Robots-Tag"] = ", ".join(values)
    return answers(reply)


def disallowed(ways: Ways) -> None:
    ways.site.robots = f"User-agent: freshcrawl\nDisallow: {PAGE}$\n"


def denied(ways: Ways) -> None:
    ways.set_table(f"{ways.table}deny = ['{PAGE}$']\n")


def moved(code: int = 301) -> Change:
    def change(ways: Ways) -> None:
        ways.site.answers[NEW] = html(NEW, title=f"Page {PAGE}", body=words(PAGE))
        ways.site.answers[PAGE] = to(NEW, code)

    return change


def home_elsewhere(ways: Ways) -> None:
    ways.site.answers["/"] = to("/en/")
    ways.site.answers["/en/"] = html("/en/", links="".join(f'<a href="{p}"></a>' for p in PATHS))
    ways.site.answers[PAGE] = to("/en/")


def refreshes(ways: Ways) -> None:
    answers(html(PAGE, head=f'<meta http-equiv="refresh" content="0; url={OTHER}">'))(ways)


def names_canonical(ways: Ways) -> None:
    answers(html(PAGE, head=f'<link rel="canonical" href="{OTHER}">'))(ways)


def back(ways: Ways) -> None:
    """Have all be as it was."""
    ways.site.answers = {path: html(path) for path in PATHS}
    ways.site.listed, ways.site.robots = list(PATHS), ""
    ways.set_table(ways.table.partition("deny")[0])


@dataclass(frozen=True, slots=True)
class Case:
    """What happens to the page, and its status after each of the next runs, a day apart."""

    name: str
    change: Change
    statuses: str
    cause: str = ""
    table: str = ""
    stale: bool | None = None
    """Whether a page that stays is stale; None where it leaves."""


HOME_KEEP = 'to_home = "keep"'
NF_KEEP = 'not_found = "keep"'
NO_DROP = "drop_index = false"
NI_KEEP = 'noindex = "keep"'
OFF_KEEP = 'off_site = "keep"'
NF_DELETE = 'not_found = "delete"'
DELETE_AT_2 = 'absent = "delete"\nmissing_runs = 2'
OFF_302 = answers(to("http://else.test/x", 302))
OFF = answers(to("http://else.test/x"))
EXPIRED = header("unavailable_after: Sunday, 25-Jun-23 15:00:00 GMT")
NOT_YET = header("unavailable_after: 2999-01-01")
DEAD = both(unlisted, status(404))
CASES = [
    Case("410", status(410), "gone gone", Cause.GONE),
    Case("410 hide", status(410), "hidden hidden hidden", Cause.GONE, 'gone = "hide"'),
    Case("410 keep", status(410), "live live live", Cause.GONE, 'gone = "keep"', stale=True),
    Case("404 listed", status(404), "hidden gone gone", Cause.NOT_FOUND),
    Case("404 keep", status(404), "live live live", Cause.NOT_FOUND, NF_KEEP, stale=True),
    Case("absent, 404", DEAD, "gone gone", Cause.NOT_FOUND),
    Case("absent, 410", both(unlisted, status(410)), "gone gone", Cause.GONE),
    Case("absent, 404 keep", DEAD, "live live", Cause.NOT_FOUND, NF_KEEP, stale=True),
    Case("unlisted keep", unlisted, "live live live live", Cause.UNLISTED, stale=False),
    Case("unlisted hide", unlisted, "live live hidden hidden", Cause.UNLISTED, 'absent = "hide"'),
    Case("unlisted delete", unlisted, "live gone gone", Cause.UNLISTED, DELETE_AT_2),
    Case("301", moved(), "alias alias", Cause.MOVED),
    Case("301 keep", moved(), "live live", Cause.MOVED, 'moved = "keep"', stale=True),
    Case("302", moved(302), "live live live live live live", Cause.FOR_NOW, stale=True),
    Case("home", answers(to("/")), "hidden gone gone", Cause.HOME),
    Case("home elsewhere", home_elsewhere, "hidden gone", Cause.HOME),
    Case("home elsewhere keep", home_elsewhere, "live live", Cause.HOME, HOME_KEEP, stale=True),
    Case("home keep", answers(to("/")), "live live", Cause.HOME, HOME_KEEP, stale=True),
    Case("off site", OFF, "hidden hidden", Cause.OFF_SITE),
    Case("off site keep", OFF, "live live", Cause.OFF_SITE, OFF_KEEP, stale=True),
    Case("noindex", says("noindex"), "hidden hidden", Cause.NOINDEX),
    Case("header", header("noindex"), "hidden hidden", Cause.NOINDEX),
    Case("noindex keep", says("noindex"), "live live", Cause.NOINDEX, NI_KEEP, stale=False),
    Case("robots hide", disallowed, "hidden hidden", Cause.ROBOTS, 'robots = "hide"'),
    Case("robots keep", disallowed, "live live", Cause.ROBOTS, stale=True),
    Case("scope", denied, "hidden hidden", Cause.SCOPE),
    Case("scope keep", denied, "live live", Cause.SCOPE, 'out_of_scope = "keep"', stale=True),
]  # fmt: skip
ONCE = [
    Case("404 delete", status(404), "gone gone", Cause.NOT_FOUND, NF_DELETE),
    Case("308", moved(308), "alias", Cause.MOVED),
    Case("refresh", refreshes, "alias alias", Cause.MOVED),
    Case("canonical", names_canonical, "alias alias", Cause.COPY),
    Case("home index", answers(to("/index.html")), "hidden gone", Cause.HOME, NO_DROP),
    Case("home 302", answers(to("/", 302)), "live live live", Cause.FOR_NOW, stale=True),
    Case("off site 302", OFF_302, "live live", Cause.FOR_NOW, stale=True),
    Case("none", says("none"), "hidden hidden", Cause.NOINDEX),
    Case("noindex for us", says("noindex", "FreshCrawl"), "hidden", Cause.NOINDEX),
    Case("noindex for others", says("noindex", "googlebot"), "live live", stale=False),
    Case("header for us", header("freshcrawl: noindex"), "hidden", Cause.NOINDEX),
    Case("header for others", header("otherbot: noindex"), "live live", stale=False),
    Case("expired", EXPIRED, "hidden", Cause.NOINDEX),
    Case("not yet expired", NOT_YET, "live", stale=False),
]  # fmt: skip
"""Tried on a site with a sitemap only."""
TRIED = [(False, case) for case in [*CASES, *ONCE]] + [(True, case) for case in CASES]


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Return the state after a first crawl of a site, found by its links or its sitemap."""
    folder = tmp_path_factory.mktemp("states")
    return {by_links: first_state(folder / str(by_links), by_links) for by_links in (False, True)}


def answered(ways: Ways) -> bool:
    """Tell whether a question for what only the page says finds the page."""
    return PAGE in ways.found(words(PAGE))[0]


def neighbours_stand(ways: Ways) -> None:
    assert ways.found(*map(words, NEIGHBOURS)) == [{path} for path in NEIGHBOURS]


@pytest.mark.parametrize(
    ("by_links", "case"),
    TRIED,
    ids=[f"{case.name}{', links' if by_links else ''}" for by_links, case in TRIED],
)
def test_way(states: dict[bool, Path], by_links: bool, case: Case) -> None:
    with begun(states[by_links], case.table, by_links=by_links) as ways:
        assert answered(ways)
        case.change(ways)
        for number, expected in enumerate(case.statuses.split()):
            ended = ways.crawl()
            record = ways.record()
            assert (record.status, record.reason) == (expected, record.reason), f"run {number}"
            assert answered(ways) == (expected == "live"), f"run {number}"
            assert not [text for text in ended.embedded if words(PAGE) in text]
            assert record.cause == case.cause
        found, text = ways.explained()
        if case.stale is not None:
            assert bool(found["stale_reason"]) == case.stale
            assert is_decided(ways.record(), ways.now, 1e9) == (case.stale and "keep" in case.name)
            if "keep" in case.name:
                assert "; kept by " in found["reason"]
        if case.cause:
            assert (found["proofs"][-1]["cause"], found["proofs"][-1]["over_at"]) == (
                case.cause,
                None,
            )
            assert (found["proofs"][-1]["left_at"] is not None) == (expected != "live")
        neighbours_stand(ways)
        back(ways)
        embedded = len(WatchedEmbedder.texts)
        ways.crawl()
        assert (ways.record().status, ways.record().cause) == ("live", "")
        assert answered(ways)
        assert WatchedEmbedder.texts[embedded:] == [], "embedded anew"
        neighbours_stand(ways)
        found, text = ways.explained()
        assert not found["stale_reason"]
        if case.cause:
            assert found["proofs"][-1]["over_at"]
            assert ("was hidden from" in text or "was gone from" in text) == (
                "hidden" in case.statuses or "gone" in case.statuses
            )
