"""Removals that wait for a person while others of the same run confirm themselves; sick sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.decided_site import DecidedSite
from tests.support.site_server import Faults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZE = 30
FIRST = 24 * 61
Make = "Callable[..., DecidedSite]"


@pytest.fixture
def made() -> Iterator[Callable[..., DecidedSite]]:
    """Return what makes a site that was crawled once."""
    sites = []

    def make(size: int = SIZE, **how: object) -> DecidedSite:
        site = DecidedSite(size, **how)  # type: ignore[arg-type]
        sites.append(site)
        site.crawl()
        assert site.live() == set(site.paths)
        return site

    yield make
    for site in sites:
        site.close()


def marked_noindex(site: DecidedSite, paths: list[str]) -> str:
    for path in paths:
        site.site.hide(site.site.pages[path])
    return "marked noindex"


def moved_to_one(site: DecidedSite, paths: list[str]) -> str:
    for path in paths:
        site.site.pages[path].status, site.site.pages[path].target = 301, "/p29"
    return "redirected like many others to docs.test/p29"


def off_a_list_that_shrank(site: DecidedSite, paths: list[str]) -> str:
    for path in paths:
        site.site.unlist(site.site.pages[path])
    return "no longer listed by a sitemap or page that lists half as many pages as before, or fewer"


@pytest.mark.parametrize("mistake", [marked_noindex, moved_to_one])
def test_what_one_mistake_does_to_many_waits_for_a_person_and_the_rest_confirms_itself(
    made: Callable[..., DecidedSite], mistake: Callable[[DecidedSite, list[str]], str]
) -> None:
    site = made()
    hit, gone = site.paths[:7], site.paths[7:13]
    why = mistake(site, hit)
    site.drop(gone, 410)
    for hours in (FIRST, 13):
        report = site.crawl(hours)
        assert site.held() == {*hit, *gone}
        assert report.held_reasons == [
            "too many removals at once (13 of 30 live pages would leave the answers)",
            f"7 pages {why}: a person must decide",
        ]
    assert site.crawl(13).released == 6
    for _ in range(4):
        site.crawl(36)
        assert site.held() == set(hit)
    assert site.live() == set(site.paths) - set(gone)
    assert site.check() == 3
    [entry] = [e for e in site.view.staged.values() if e.key.endswith("p00")]
    assert entry.person == why
    site.approve(paths=hit[:1])
    assert site.live() == set(site.paths) - {*gone, hit[0]}
    site.approve("removals")
    assert not site.live() & set(hit)
    assert site.found_wrong() == []


@pytest.mark.parametrize("left", [10, 15])
def test_a_list_that_shrank_by_half_needs_a_person(
    made: Callable[..., DecidedSite], left: int
) -> None:
    site = made(table='absent = "hide"\nmissing_runs = 1\n')
    paths = site.paths[:left]
    why = off_a_list_that_shrank(site, paths)
    for _ in range(2):
        site.crawl(FIRST)
        assert site.held() == set(paths)
    report = site.crawl(13)
    assert site.held() == (set() if left < 15 else set(paths))
    assert (f"15 pages {why}: a person must decide" in report.held_reasons) == (left == 15)
    if left == 15:
        site.approve()
        assert site.live() == set(site.paths[15:])
        [source] = [s for s in site.sources() if s.keys]
        assert source.before == 0, "what it lists is what it should"


def test_a_list_that_grows_back_has_not_shrunk(made: Callable[..., DecidedSite]) -> None:
    site = made(table='absent = "hide"\nmissing_runs = 1\n')
    off_a_list_that_shrank(site, site.paths[:16])
    site.crawl(FIRST)
    [source] = [s for s in site.sources() if s.keys]
    assert (source.before, len(source.keys)) == (30, 14)
    for path in site.paths[:16]:
        site.site.relist(site.site.pages[path])
    assert site.crawl(13).held == 0
    [source] = [s for s in site.sources() if s.keys]
    assert (source.before, len(source.keys)) == (0, 30)


def test_a_site_that_is_not_well_loses_nothing(made: Callable[..., DecidedSite]) -> None:
    site = made()
    sick = Faults(pages="503", share=0.5, seed=3)
    gone = [p for p in site.paths if not site.server_fails(p, sick)][:3]
    site.drop(gone, 410)
    report = site.crawl(FIRST, faults=sick)
    assert site.held() == set(gone)
    assert report.held_reasons[0].startswith("the site is not well (")
    assert site.live() == set(site.paths)
    report = site.crawl(1, full=True)
    assert (report.held, report.released) == (0, 3), "found again while the site was well"
    assert site.live() == set(site.paths) - set(gone)


def test_a_run_over_a_sick_site_confirms_nothing(made: Callable[..., DecidedSite]) -> None:
    site = made()
    sick = Faults(pages="503", share=0.5, seed=3)
    gone = [p for p in site.paths if not site.server_fails(p, sick)][:7]
    site.drop(gone, 410)
    site.crawl(FIRST)
    for _ in range(3):
        site.crawl(13, full=True, faults=sick)
        assert site.held() == set(gone)
    site.crawl(13)
    assert site.held() == set(gone), "confirmed once"
    site.crawl(13)
    assert site.held() == set()


def test_pages_that_are_broken_for_good_do_not_make_a_site_sick(
    made: Callable[..., DecidedSite],
) -> None:
    site = made()
    broken = Faults(pages="503", share=0.5, seed=3)
    for _ in range(6):
        site.crawl(24, faults=broken)
    gone = [p for p in site.paths if not site.server_fails(p, broken)][:2]
    site.drop(gone, 410)
    assert site.crawl(24, full=True, faults=broken).held == 0
    assert site.live() == set(site.paths) - set(gone)


@pytest.mark.parametrize("size", [2, 3, 5, 6, 12])
@pytest.mark.parametrize("by_links", [False, True])
def test_a_storm_of_404_takes_nothing_away(
    made: Callable[..., DecidedSite], size: int, *, by_links: bool
) -> None:
    site = made(size, by_links=by_links)
    for _ in range(3):
        site.crawl(FIRST, full=True, faults=Faults(pages="404"))
        assert site.live() == set(site.paths)
        assert site.check() == 3
    assert site.crawl(1, full=True).held == 0
    assert site.check() == 0


@pytest.mark.parametrize("size", [6, 30])
def test_a_storm_of_403_proves_nothing(made: Callable[..., DecidedSite], size: int) -> None:
    site = made(size)
    report = site.crawl(FIRST, faults=Faults(pages="403"))
    assert site.live() == set(site.paths)
    assert (report.held, report.failed, site.check()) == (0, size, 4)


def test_a_storm_over_half_of_a_site_is_held_until_it_is_over(
    made: Callable[..., DecidedSite],
) -> None:
    site = made()
    storm = Faults(pages="404", share=0.5, seed=3)
    hit = {path for path in site.paths if site.server_fails(path, storm)}
    for hours in (FIRST, 1, 1):
        site.crawl(hours, faults=storm)
        assert site.held() == hit
    assert site.crawl(1).held == 0
    assert site.live() == set(site.paths)


def test_a_page_that_could_not_be_fetched_keeps_its_held_work(
    made: Callable[..., DecidedSite],
) -> None:
    site = made()
    gone = set(site.paths[:10])
    site.drop(gone, 410)
    site.crawl(FIRST)
    before = {key: entry.held_runs for key, entry in site.view.staged.items()}
    for _ in range(4):
        asked = site.server.asked
        report = site.crawl(13, faults=Faults(pages="503"))
        assert site.server.asked >= 10, f"all are due in every run ({asked})"
        assert site.held() == gone
        assert {key: e.held_runs for key, e in site.view.staged.items()} == before
        assert report.held_reasons
    site.crawl(13)
    assert site.held() == gone
    site.crawl(13)
    assert site.held() == set()
