"""Guards over many runs of one site: what is held, for how long, and what goes on meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.decided_site import DecidedSite
from tests.support.in_process import NAME
from tests.support.receiver import Receiver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.core.report import RunReport
SIZE, THIRD = 36, 12


@pytest.fixture(params=[False, True], ids=["sitemap", "links"])
def site(request: pytest.FixtureRequest) -> Iterator[DecidedSite]:
    """Return a site of 36 pages that was crawled once."""
    site = DecidedSite(SIZE, by_links=request.param)
    site.crawl()
    assert site.live() == set(site.paths)
    yield site
    site.close()


def look(site: DecidedSite, hours: float) -> RunReport:
    """Crawl, and have the start page looked at if it is what lists the others."""
    return site.crawl(hours, full=site.site.by_links)


def test_a_third_dropped_is_held_and_then_let_go(site: DecidedSite) -> None:
    third = set(site.paths[:THIRD])
    site.drop(third)
    for number, hours in enumerate((24 * 61, 1, 12, 6)):
        site.rewrite([site.paths[20]])
        site.add(f"/new{number}")
        report = site.crawl(hours, full=True)
        assert report.held == THIRD, report.held_reasons
        assert site.held() == third
        assert site.shows(site.paths[20]), "an edit elsewhere went through"
        assert f"/new{number}" in site.live()
        assert site.check() == 3
    report = site.crawl(6)
    assert (report.held, report.released) == (0, THIRD)
    assert not site.live() & third
    assert site.found_wrong() == []


def test_all_rewritten_is_held_and_then_let_go(site: DecidedSite) -> None:
    site.rewrite(site.paths)
    for number, hours in enumerate((24 * 61, 13)):
        site.add(f"/new{number}")
        report = look(site, hours)
        assert (report.held, report.held_classes) == (SIZE, ["changes"])
        assert f"/new{number}" in site.live()
        assert not any(site.shows(path) for path in site.paths)
    assert site.crawl(13).released == SIZE
    assert all(site.shows(path) for path in site.paths)
    assert site.found_wrong() == []


def test_both_at_once_are_let_go_each_by_itself(site: DecidedSite) -> None:
    site.drop(site.paths[:THIRD])
    site.rewrite(site.paths[THIRD:])
    report = site.crawl(24 * 61)
    assert (report.held, report.held_classes) == (SIZE, ["changes", "removals"])
    site.bring_back(site.paths[:1])
    report = site.crawl(13)
    assert report.held == SIZE - 1, "one came back"
    report = site.crawl(13)
    assert (report.held, report.released) == (0, SIZE - 1)
    assert site.live() == {site.paths[0], *site.paths[THIRD:]}
    assert all(site.shows(path) for path in site.paths[THIRD:])
    assert site.found_wrong() == []


def test_both_at_once_approved_at_once(site: DecidedSite) -> None:
    site.drop(site.paths[:THIRD])
    site.rewrite(site.paths[THIRD:])
    site.crawl(24 * 61)
    decided = site.approve("changes")
    assert len(decided.entries) == SIZE - THIRD
    assert site.held() == set(site.paths[:THIRD])
    assert all(site.shows(path) for path in site.paths[THIRD:])
    assert site.found_wrong() == []
    decided = site.approve()
    assert decided.result is not None
    assert (decided.result.generation, decided.result.embedded) == (3, 0)
    assert site.live() == set(site.paths[THIRD:])
    assert site.check() == 0
    assert site.found_wrong() == []
    assert site.crawl(1).held == 0
    assert site.live() == set(site.paths[THIRD:])


@pytest.mark.parametrize("by_links", [False, True])
def test_three_quarters_dropped_wait_for_a_person(*, by_links: bool) -> None:
    site = DecidedSite(12, by_links=by_links)
    try:
        with Receiver() as receiver:
            site.crawl()
            waits_for_a_person(site, receiver)
            receiver.check()
    finally:
        site.close()


def waits_for_a_person(site: DecidedSite, receiver: Receiver) -> None:
    """Drop three quarters of a site; the rest is edited, and grows to be more than was dropped."""
    dropped = set(site.paths[:9])
    site.drop(dropped)
    site.crawl(24 * 61)
    for number in range(20):
        site.rewrite([site.paths[10]])
        site.add(f"/new{number}")
        report = site.crawl(24 * 3, full=site.site.by_links, settings=receiver.settings)
        assert site.held() == dropped
        assert "more than half of the site: a person must decide" in report.held_reasons[0]
        told = receiver.events("run.held")
        assert len(told) == number + 1, "the webhook is told of each run that holds them"
        assert told[-1]["run"]["held_reasons"] == report.held_reasons
        assert f"scrapy approve --site {NAME}" in " ".join(told[-1]["remedies"])
        assert site.check() == 3
        assert f"/new{number}" in site.live()
    assert site.live() >= dropped
    site.approve()
    assert not site.live() & dropped
    assert site.check() == 0
    assert site.found_wrong() == []


def test_newer_fetches_supersede_page_by_page(site: DecidedSite) -> None:
    site.drop(site.paths[:10])
    site.crawl(24 * 61)
    site.bring_back(site.paths[:3])
    site.crawl(0.1)
    assert site.held() == set(site.paths[3:10]), "held pages are due in every run"
    site.drop(site.paths[10:12], 410)
    report = site.crawl(1, full=True)
    assert site.held() == set(site.paths[3:12])
    assert report.held == 9
    site.crawl(12)
    assert site.held() == set(site.paths[3:12])
    site.crawl(12)
    assert site.held() == set(), "7 confirmed and 2 that came a run later, no more than any 5"
