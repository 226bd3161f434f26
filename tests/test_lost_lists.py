"""Pages whose sitemap or hub is no more: many wait for a person, as of a list that shrank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl import tally
from freshcrawl.absence import count_absent
from freshcrawl.core.pages import Status, Verdict
from tests.support.runs import Bench, key_of, removal, stage

if TYPE_CHECKING:
    from freshcrawl.run import Run

DAY = 86_400.0
NAMES = [f"p{number}" for number in range(40)]
LOST = NAMES[35:]
ONE, TWO = "sitemap:one", "sitemap:two"
WHY = "no longer listed by a sitemap or page that lists half as many pages as before, or fewer"


@pytest.fixture
def bench() -> Bench:
    """A site with two sitemaps of an index; the second lists five of its forty pages."""
    bench = Bench(site={"absent": "hide", "missing_runs": 1})
    bench.publish(*NAMES)
    run = bench.run()
    read(run, ONE, NAMES[:35])
    read(run, TWO, LOST)
    run.commit()
    return bench


def read(run: Run, source: str, names: list[str]) -> None:
    kind = "page" if source.startswith("page:") else "sitemap"
    run.sightings.listing_read(source, kind, [key_of(name) for name in names])


def ended(bench: Bench, run: Run, *names: str) -> set[str]:
    """End a run in which pages answered; return those that leave."""
    for name in names:
        run.take(key_of(name), confirm=True)
        run.checked(key_of(name), Verdict.UNCHANGED)
    count_absent(run, whole=True)
    left = set(tally.release(run))
    run.ledger.believe_listings()
    run.commit()
    bench.clock.time += DAY
    return left


def without_the_second(bench: Bench) -> Run:
    run = bench.run()
    read(run, ONE, NAMES[:35])
    run.ledger.listings.drop(TWO)
    return run


def test_pages_of_a_sitemap_that_is_no_more_wait_for_a_person(bench: Bench) -> None:
    """However few of them a run finds, and also when a person has let some go."""
    assert ended(bench, without_the_second(bench), LOST[0]) == set()
    for _ in range(3):
        run = without_the_second(bench)
        assert ended(bench, run, *LOST) == set()
        assert {entry.person for entry in run.ledger.staged.values()} == {WHY}
    run = bench.run()
    for name in LOST[1:]:
        run.ledger.unstage(key_of(name))
        run.ledger.set(key_of(name), status=Status.HIDDEN)
    bench.publish(*LOST[1:], status=Status.HIDDEN)
    run.commit()
    assert ended(bench, without_the_second(bench), LOST[0]) == set()


@pytest.mark.parametrize("elsewhere", [3, 5])
def test_pages_that_another_list_has_are_not_lost(bench: Bench, elsewhere: int) -> None:
    run = bench.run()
    read(run, ONE, [*NAMES[:35], *LOST[:elsewhere]])
    run.ledger.listings.drop(TWO)
    assert ended(bench, run, *LOST) == set(map(key_of, LOST[elsewhere:]))


def test_a_site_that_lifts_its_guard_lets_them_leave(bench: Bench) -> None:
    bench.site["guard_removed_ratio"] = 1.0
    assert ended(bench, without_the_second(bench), *LOST) == set(map(key_of, LOST))


def test_pages_that_are_dead_are_not_held_by_it(bench: Bench) -> None:
    run = without_the_second(bench)
    stage(run, [removal(name) for name in LOST])
    assert set(tally.release(run)) == set(map(key_of, LOST))


def test_pages_of_a_hub_that_is_no_more_wait_for_a_person(bench: Bench) -> None:
    run = bench.run()
    for source in (ONE, TWO):
        run.ledger.listings.drop(source)
    run.sightings.listing_read("start", "start", [key_of("p0")])
    hub = f"page:{key_of('p1')}"
    read(run, f"page:{key_of('p0')}", NAMES[:35])
    read(run, hub, LOST)
    ended(bench, run)
    run = bench.run()
    run.ledger.listings.drop(hub)
    assert ended(bench, run, *NAMES) == set()
    assert {key for key, entry in run.ledger.staged.items() if entry.person} == set(
        map(key_of, LOST)
    )
