"""Pages that are off the list that had them: what was not read since may have them by now."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from freshcrawl.absence import count_absent, to_confirm
from freshcrawl.core.pages import Verdict
from freshcrawl.ledger import Ledger
from freshcrawl.state import open_for_writing
from tests.support.in_process import NAME
from tests.support.origin import urlset
from tests.support.runs import Bench
from tests.support.runs import key_of as bench_key
from tests.support.site_model import key_of, url_of
from tests.support.site_server import Reply
from tests.support.ways_site import PAGE, PATHS, Ways, WaysSite, html, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy import Request

    from freshcrawl.core.report import RunReport

DAY = 86_400.0
ONE, TWO, INDEX = "/sitemap-1.xml", "/sitemap-2.xml", "/sitemap.xml"
OTHERS = [path for path in PATHS if path != PAGE]
INDEXED = "<sitemapindex>{}</sitemapindex>"
DEAD = Reply(404, b"no", {"Content-Type": "text/html"})
HIDE = 'absent = "hide"\n'
SELDOM = "min_interval_secs = 4e6\nstart_interval_secs = 4e6\n"


class Mapped(WaysSite):
    """A site with several sitemaps: the paths, URLs or sitemaps of each, or a status."""

    def __init__(self) -> None:
        super().__init__(by_links=False)
        self.maps: dict[str, list[str] | int] = {}

    def respond(self, request: Request) -> Reply:
        """Answer a request."""
        path = urlsplit(request.url).path
        if path not in self.maps:
            return super().respond(request)
        listed = self.maps[path]
        if isinstance(listed, int):
            return Reply(listed)
        urls = [place if "://" in place else url_of(place) for place in listed]
        kind = "sitemap" if path == INDEX and ONE in listed else "url"
        body = "".join(f"<{kind}><loc>{url}</loc></{kind}>" for url in urls)
        body = INDEXED.format(body) if kind == "sitemap" else urlset(body)
        return Reply(200, body.encode(), {"Content-Type": "application/xml"})


@pytest.fixture
def ways() -> Iterator[Ways]:
    """A site with two sitemaps, of which the first lists the page; it was crawled once."""
    with Ways(table=HIDE) as ways:
        ways.site = site = Mapped()
        site.maps = {INDEX: [ONE, TWO], ONE: ["/", *PATHS[:6]], TWO: [*PATHS[6:]]}
        ways.crawl()
        yield ways


def maps(ways: Ways) -> dict[str, list[str] | int]:
    assert isinstance(ways.site, Mapped)
    return ways.site.maps


def statuses(ways: Ways, runs: int, *, days: float = 1.0) -> str:
    """Crawl; return the statuses of the page, by run."""
    return " ".join((ways.crawl(days), str(ways.record().status))[1] for _ in range(runs))


def report_of(ways: Ways, *, days: float = 1.0) -> RunReport:
    """Crawl."""
    report = ways.crawl(days).report
    assert report is not None
    return report


def drop(ways: Ways) -> None:
    """Take the page off its sitemap."""
    maps(ways)[ONE] = ["/", *(path for path in PATHS[:6] if path != PAGE)]


@pytest.mark.parametrize("moved", [True, False])
def test_a_sitemap_that_could_not_be_read_since_may_list_the_page(ways: Ways, moved: bool) -> None:
    drop(ways)
    maps(ways)[TWO] = 503
    assert statuses(ways, 5) == "live live live live live"
    assert not ways.record().missing_runs
    maps(ways)[TWO] = [*PATHS[6:], *([PAGE] if moved else [])]
    assert statuses(ways, 3) == ("live live live" if moved else "live live hidden")
    assert (ways.record().unlisted_since == 0.0) == moved


def test_a_sitemap_that_was_read_since_and_fails_later_does_not_matter(ways: Ways) -> None:
    drop(ways)
    assert statuses(ways, 1) == "live"
    maps(ways)[TWO] = 503
    assert statuses(ways, 2) == "live hidden"


def test_a_page_whose_sitemap_is_split_in_parts_that_fail_is_only_hidden_by_a_404(
    ways: Ways,
) -> None:
    """Not gone as one that nothing lists: it is back as soon as its part can be read."""
    maps(ways).update({INDEX: [ONE, TWO, "/sitemap-3.xml"], "/sitemap-3.xml": 503})
    drop(ways)
    ways.site.answers[PAGE] = DEAD
    assert statuses(ways, 1) == "hidden"
    ways.site.answers[PAGE] = html(PAGE)
    maps(ways)["/sitemap-3.xml"] = [PAGE]
    assert statuses(ways, 4) == "live live live live"


@pytest.mark.parametrize("answer", [404, 503, []])
def test_a_list_that_dropped_a_page_and_died_keeps_it_for_a_month_only(
    ways: Ways, answer: int | list[str]
) -> None:
    """The last that it said is that it does not list the page."""
    drop(ways)
    assert statuses(ways, 1) == "live"
    maps(ways)[ONE] = answer
    assert statuses(ways, 4, days=7) == "live live live live"
    assert ways.record().missing_runs == 1
    assert statuses(ways, 2, days=7) == "live hidden"
    assert ways.found(words(PATHS[0])) == [{PATHS[0]}]


def test_a_sitemap_that_fails_for_long_does_not_keep_pages_for_ever(ways: Ways) -> None:
    drop(ways)
    maps(ways)[TWO] = 503
    assert statuses(ways, 6, days=7) == "live live live live live live"
    assert ways.record().missing_runs == 1
    assert statuses(ways, 2, days=7) == "live hidden"


@pytest.mark.parametrize("fails", [ONE, TWO])
def test_one_failure_after_a_long_pause_proves_nothing(ways: Ways, fails: str) -> None:
    drop(ways)
    assert statuses(ways, 1) == "live"
    counted = ways.record().missing_runs
    maps(ways).update({fails: 503, INDEX: [ONE, TWO, "/sitemap-3.xml"], "/sitemap-3.xml": 503})
    assert statuses(ways, 2, days=70) == "live live"
    assert ways.record().missing_runs == counted == 1
    maps(ways).update({ONE: ["/", *PATHS[:5]], TWO: [*PATHS[6:]], "/sitemap-3.xml": [PAGE]})
    assert statuses(ways, 2) == "live live"
    assert (ways.record().missing_runs, ways.record().unheard_runs) == (0, 0)


def test_a_sitemap_with_pages_of_another_host_only_was_not_read(ways: Ways) -> None:
    """As one has that is made with a wrong base URL; what it is for long, it is."""
    maps(ways)[ONE] = [f"http://localhost:4000{path}" for path in PATHS[:6]]
    for _ in range(4):
        [problem] = report_of(ways, days=7).incomplete_reasons
        assert "none of the 6 pages that it lists is the site's" in problem
        assert not ways.record().unlisted_since
    assert report_of(ways, days=7).incomplete_reasons == []
    assert statuses(ways, 1) == "live"
    report = report_of(ways)
    assert report.held == 7
    assert any("a person must decide" in reason for reason in report.held_reasons)


def test_a_sitemap_of_which_the_table_leaves_out_all_was_read(ways: Ways) -> None:
    maps(ways)[TWO] = ["/blog/a", "/blog/b"]
    ways.site.answers |= {path: html(path) for path in ("/blog/a", "/blog/b")}
    maps(ways)[ONE] = ["/", *PATHS]
    ways.crawl()
    ways.set_table(HIDE + 'deny = ["/blog/"]\n')
    assert report_of(ways).incomplete_reasons == []


# -- links ---------------------------------------------------------------------


@pytest.fixture
def linked() -> Iterator[Ways]:
    """A site of two hubs; the first, which is about to be due, does not link to the page now."""
    with Ways(by_links=True) as ways:
        ways.set_table(HIDE, pace=SELDOM)
        ways.site.listed = ["/one/", "/two/"]
        link(ways, "/one/", PATHS[:6])
        link(ways, "/two/", PATHS[6:])
        ways.crawl()
        link(ways, "/one/", [path for path in PATHS[:6] if path != PAGE])
        with closing(open_for_writing(ways.config, NAME, "test", ways.now)) as state:
            ledger = Ledger(state, ways.now)
            ledger.make_due(key_of("/one/"))
            ledger.commit_records()
        yield ways


def link(ways: Ways, hub: str, paths: Sequence[str]) -> None:
    links = "".join(f'<a href="{path}">{path}</a>' for path in paths)
    ways.site.answers[hub] = html(hub, links=links)


@pytest.mark.parametrize("moved", [True, False])
def test_a_hub_that_was_not_asked_since_is_asked_whether_it_links_to_the_page(
    linked: Ways, moved: bool
) -> None:
    link(linked, "/two/", [*PATHS[6:], *([PAGE] if moved else [])])
    assert statuses(linked, 1) == "live"
    assert {"/one/", "/two/", "/"} <= set(linked.site.asked)
    assert linked.record().missing_runs == (0 if moved else 1)
    assert statuses(linked, 2) == ("live live" if moved else "live hidden")
    assert "/two/" not in linked.site.asked, "once"


def test_a_hub_that_fails_is_waited_for_but_not_for_ever(linked: Ways) -> None:
    linked.site.answers["/two/"] = Reply(503)
    assert statuses(linked, 5, days=7) == "live live live live live"
    assert linked.record().missing_runs == 0
    assert statuses(linked, 3, days=7) == "live live hidden"


def test_a_site_that_keeps_unlisted_pages_asks_no_hub(linked: Ways) -> None:
    linked.set_table("", pace=SELDOM)
    link(linked, "/two/", [*PATHS[6:], PAGE])
    assert statuses(linked, 2) == "live live"
    assert "/two/" not in linked.site.asked
    assert linked.record().missing_runs == 0, "nobody knows yet"


def test_few_hubs_are_asked_in_a_run() -> None:
    bench = Bench(site={"absent": "hide"})
    names = [f"p{number:03}" for number in range(250)]
    bench.publish(*names)
    run = bench.run()
    run.sightings.listing_read("start", "start", [bench_key("p000")])
    run.sightings.listing_read(f"page:{bench_key('p000')}", "page", map(bench_key, names[1:]))
    for name in names[1:]:
        run.sightings.listing_read(f"page:{bench_key(name)}", "page", [bench_key("p000")])
    run.commit()
    asked = []
    for _ in range(12):
        bench.clock.time += DAY
        run = bench.run()
        links = map(bench_key, names[1:-1])
        run.sightings.listing_read(f"page:{bench_key('p000')}", "page", links)
        found = to_confirm(run)
        hubs = [key for key in found if key in run.hubs]
        for key in found:
            run.take(key, confirm=True)
            run.checked(key, Verdict.UNCHANGED)
        assert not run.hubs.intersection(to_confirm(run)), "no more in one run"
        count_absent(run, whole=True)
        run.commit()
        asked.append(len(hubs))
    assert asked == [24] * 10 + [9, 0]


def test_a_hub_that_is_broken_for_good_keeps_no_page_of_one_that_is_gone() -> None:
    """Who listed it is no more, so all of discovery would have to be whole: for a month only."""
    with Ways(by_links=True, table='absent = "delete"\nmissing_runs = 2\n') as ways:
        answers, listed = ways.site.answers, ways.site.listed
        answers["/h"] = html("/h", links='<a href="/child">child</a>')
        answers["/k"] = html("/k", links='<a href="/other">other</a>')
        answers |= {path: html(path) for path in ("/child", "/other")}
        listed += ["/h", "/k"]
        ways.crawl()
        answers["/h"], answers["/k"] = DEAD, Reply(500, b"sorry", {"Content-Type": "text/html"})
        listed.remove("/h")
        for _ in range(15):
            ways.crawl(2.0)
            assert ways.found(words("/child")) == [{"/child"}]
        for _ in range(2):
            ways.crawl(2.0)
        assert ways.found(words("/child"), words("/other")) == [set(), {"/other"}]


def test_a_clock_that_was_ahead_does_not_keep_an_unlisted_page() -> None:
    with Ways(by_links=True, table='absent = "delete"\nmissing_runs = 2\n') as ways:
        ways.crawl()
        ways.site.listed.remove(PAGE)
        ways.crawl(400.0)
        ways.offset -= 400 * DAY
        for _ in range(3):
            ways.crawl()
        assert ways.found(words(PAGE)) == [set()]
