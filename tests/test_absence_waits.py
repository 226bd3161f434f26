"""Removals of unlisted pages that wait: what becomes of them, and of newer texts meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.cuts import Cut
from tests.support.decided_site import DecidedSite
from tests.support.site_model import key_of
from tests.support.site_server import Faults

if TYPE_CHECKING:
    from collections.abc import Iterator

AT_ONCE = 'absent = "hide"\nmissing_runs = 1\n'
KEEP = 'absent = "keep"\nmissing_runs = 1\n'
PATIENT = 'absent = "hide"\nmissing_runs = 5\n'
LONG = 24 * 61


@pytest.fixture
def site() -> Iterator[DecidedSite]:
    """A site that was crawled once; seven of its twenty pages are unlisted since."""
    site = DecidedSite(20)
    site.set_table(AT_ONCE)
    site.crawl()
    for path in site.paths[:7]:
        site.site.unlist(site.site.pages[path])
    yield site
    site.close()


def stale(site: DecidedSite) -> set[str]:
    records = site.view.records
    return {path for path in site.paths if records[key_of(path)].stale_reason}


@pytest.mark.parametrize("table", [KEEP, PATIENT])
@pytest.mark.parametrize("cut", [None, Cut("kill", where="staged")])
def test_a_policy_that_would_not_take_pages_away_any_more_ends_their_waiting(
    site: DecidedSite, table: str, cut: Cut | None
) -> None:
    """Also where a run that was killed left it; and texts come to the answers again."""
    if cut is None:
        site.crawl(LONG)
        assert site.held() == set(site.paths[:7])
    else:
        site.crawl(LONG, settings={"FRESHCRAWL_GUARD_REMOVED_RATIO": 1.0}, cut=cut)
        assert len(site.view.staged) == 7
    site.set_table(table)
    site.rewrite(site.paths[:7])
    assert site.crawl(1).held == 0
    assert not site.view.staged
    assert site.live() == set(site.paths)
    assert all(site.shows(path) for path in site.paths)
    assert stale(site) == set()


def test_a_text_of_a_page_that_waits_to_leave_is_known_to_be_out_of_date(
    site: DecidedSite,
) -> None:
    """Whether or not a run could find once more that nothing lists it."""
    site.crawl(LONG)
    site.rewrite(site.paths[:7])
    for faults in (Faults(), Faults(sitemap="500"), Faults()):
        site.crawl(1, faults=faults)
        assert site.held() == stale(site) == set(site.paths[:7])
        assert not any(site.shows(path) for path in site.paths[:7])
    for path in site.paths[:7]:
        site.site.relist(site.site.pages[path])
    for _ in range(2):
        site.crawl(1)
    assert (site.held(), stale(site)) == (set(), set())
    assert all(site.shows(path) for path in site.paths)


def test_a_page_that_a_person_keeps_is_read_on(site: DecidedSite) -> None:
    """That a text is another one does not list its page: a person's word stands."""
    site.crawl(LONG)
    site.rewrite(site.paths[:3])
    site.crawl(1)
    site.discard()
    site.crawl(1)
    assert all(site.shows(path) for path in site.paths), "what came while it was to leave too"
    for _ in range(2):
        site.rewrite(site.paths[3:5])
        assert site.crawl(LONG).held == 0
        assert site.live() == set(site.paths)
        assert all(site.shows(path) for path in site.paths)
