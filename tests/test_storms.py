"""What was held together stays one class, whatever a person decides of a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl import forgetting
from tests.support.decided_site import DecidedSite
from tests.support.site_model import url_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FIRST = 24 * 61


@pytest.fixture
def made() -> Iterator[Callable[[int], DecidedSite]]:
    """Return what makes a site that was crawled once."""
    sites = []

    def make(size: int) -> DecidedSite:
        sites.append(DecidedSite(size))
        sites[-1].crawl()
        return sites[-1]

    yield make
    for site in sites:
        site.close()


def discard(site: DecidedSite, paths: list[str]) -> None:
    site.discard(paths=paths)


def approve(site: DecidedSite, paths: list[str]) -> None:
    site.approve(paths=paths)


def forget(site: DecidedSite, paths: list[str]) -> None:
    for path in paths:
        with site.writer() as state:
            forgetting.forget(state, site.config(), url_of(path), site.now)


WAYS = pytest.mark.parametrize("decide", [discard, approve, forget])


def waits(site: DecidedSite, rest: set[str], runs: int = 4) -> None:
    """Crawl every day and a half: the same pages wait for a person all the while."""
    for hours in (1, *[36] * (runs - 1)):
        report = site.crawl(hours)
        assert site.held() == rest
        assert "a person must decide" in "; ".join(report.held_reasons)
        assert site.live() >= rest
        assert site.check() == 3


@WAYS
def test_what_is_left_of_half_a_site_waits_for_a_person(
    made: Callable[[int], DecidedSite], decide: Callable[[DecidedSite, list[str]], None]
) -> None:
    site = made(9)
    gone = site.paths[:5]
    site.drop(gone, listed=True)
    site.crawl(FIRST)
    decide(site, gone[:1])
    assert site.status()["held_reasons"][-1] == "1 of the 5 decided since"
    waits(site, set(gone[1:]))
    decide(site, gone[1:4])
    waits(site, set(gone[4:]), runs=2)
    assert (
        "5 of 9 live pages would leave the answers; of these 4 " in site.status()["held_reasons"][0]
    )
    decide(site, gone[4:])
    site.drop(site.paths[5:6], listed=True)
    report = site.crawl(FIRST)
    assert site.paths[5] not in site.live(), "the storm is over"
    assert report.held == 0
    assert site.found_wrong() == []


@WAYS
def test_what_is_left_of_pages_marked_noindex_waits_for_a_person(
    made: Callable[[int], DecidedSite], decide: Callable[[DecidedSite, list[str]], None]
) -> None:
    site = made(25)
    hit = site.paths[:7]
    for path in hit:
        site.site.hide(site.site.pages[path])
    site.crawl(FIRST)
    decide(site, hit[:2])
    waits(site, set(hit[2:]))


@WAYS
def test_what_is_left_of_pages_that_move_to_one_waits_for_a_person(
    made: Callable[[int], DecidedSite], decide: Callable[[DecidedSite, list[str]], None]
) -> None:
    site = made(25)
    hit = site.paths[:6]
    for path in hit:
        site.site.pages[path].status, site.site.pages[path].target = 301, "/p24"
    site.crawl(FIRST)
    assert site.held() == set(hit)
    decide(site, hit[:4])
    waits(site, set(hit[4:]))


@WAYS
def test_what_is_left_of_changes_confirms_itself(
    made: Callable[[int], DecidedSite], decide: Callable[[DecidedSite, list[str]], None]
) -> None:
    site = made(24)
    site.rewrite(site.paths[:22])
    site.crawl(FIRST)
    decide(site, site.paths[:3])
    for hours in (1, 12):
        assert site.crawl(hours).held == 19
        assert not any(site.shows(path) for path in site.paths[3:22])
    assert site.crawl(13).released == 19
    assert all(site.shows(path) for path in site.paths[3:22])
    assert site.found_wrong() == []


def test_what_is_left_when_pages_are_back_confirms_itself_anew(
    made: Callable[[int], DecidedSite],
) -> None:
    site = made(9)
    gone = site.paths[:5]
    site.drop(gone, listed=True)
    site.crawl(FIRST)
    site.crawl(36)
    site.bring_back(gone[:3])
    for hours in (36, 1, 12):
        report = site.crawl(hours)
        assert site.held() == set(gone[3:]), report.held_reasons
        assert report.held_reasons == ["2 pages left of too many removals at once"]
    assert site.crawl(13).released == 2
    assert site.live() == set(site.paths) - set(gone[3:])


def test_pages_that_left_before_count_as_long_as_what_came_after_is_held(
    made: Callable[[int], DecidedSite],
) -> None:
    site = made(40)
    site.drop(site.paths[:4], listed=True)
    assert site.crawl(FIRST).held == 0
    hit = site.paths[4:7]
    for path in hit:
        site.site.hide(site.site.pages[path])
    site.crawl(1, full=True)
    waits(site, set(hit))


def test_pages_that_came_since_are_asked_about_with_the_others(
    made: Callable[[int], DecidedSite],
) -> None:
    site = made(20)
    site.drop(site.paths[:6], listed=True)
    site.crawl(FIRST)
    new = [f"/new{number:02}" for number in range(60)]
    for path in new:
        site.add(path)
    site.crawl(1)
    site.drop(new[:20], listed=True)
    report = site.crawl(1, full=True)
    assert report.held_reasons == [
        "too many removals at once (26 of 80 live pages would leave the answers)"
    ]
    site.crawl(13)
    assert site.crawl(13).released == 26


def test_a_page_that_goes_after_all_have_moved_leaves(
    made: Callable[[int], DecidedSite],
) -> None:
    site = made(12)
    for path in list(site.paths):
        old, new = site.site.pages[path], f"/v2{path}"
        site.add(new)
        site.site.pages[new].text = old.text
        old.status, old.target, old.listed = 301, new, False
    assert site.crawl(FIRST).held == 0
    site.drop([f"/v2{site.paths[0]}"], listed=True)
    assert site.crawl(6, full=True).held == 0
    assert site.live() == {f"/v2{path}" for path in site.paths[1:]}


YEAR = 24.0 * 365


def test_held_by_a_run_of_the_future_is_confirmed_all_the_same(
    made: Callable[[int], DecidedSite],
) -> None:
    site = made(40)
    site.drop(site.paths[:7], listed=True)
    site.rewrite(site.paths[7:])
    assert site.crawl(YEAR).held == 40
    report = site.crawl(24 - YEAR)
    assert report.held == 40
    site.crawl(13)
    assert site.crawl(13).released == 40
    site.drop(site.paths[7:10], listed=True)
    assert site.crawl(48, full=True).held == 0


def test_after_a_first_crawl_of_the_future_few_pages_leave() -> None:
    site = DecidedSite(12)
    try:
        site.crawl(YEAR)
        site.crawl(24 - YEAR)
        site.drop(site.paths[:2], listed=True)
        assert site.crawl(24, full=True).held == 0
        assert site.live() == set(site.paths[2:])
    finally:
        site.close()


def test_pages_that_left_in_the_future_do_not_count(
    made: Callable[[int], DecidedSite],
) -> None:
    site = made(40)
    site.drop(site.paths[:4], listed=True)
    assert site.crawl(YEAR, full=True).held == 0
    site.crawl(24 - YEAR)
    site.drop(site.paths[4:6], listed=True)
    assert site.crawl(24, full=True).held == 0
    assert site.live() == set(site.paths[6:])


@WAYS
def test_what_is_left_of_few_that_a_list_lost_waits_for_a_person(
    decide: Callable[[DecidedSite, list[str]], None],
) -> None:
    site = DecidedSite(8, table='absent = "hide"\nmissing_runs = 1\n')
    try:
        site.crawl()
        lost = site.paths[:4]
        for path in lost:
            site.site.unlist(site.site.pages[path])
        for hours in (FIRST, 36):
            [reason] = site.crawl(hours).held_reasons
            assert reason.startswith("4 pages no longer listed by a sitemap or page that lists")
        decide(site, lost[:2])
        waits(site, set(lost[2:]))
    finally:
        site.close()
