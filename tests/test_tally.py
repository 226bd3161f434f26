"""The tally: which staged work is published, which is held, which canonical links are believed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from freshcrawl import tally
from freshcrawl.core.guards import PERSON
from freshcrawl.core.pages import Cause, Status, Verdict
from tests.support.runs import Bench, key_of, removal, stage, text

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

HOUR = 3_600.0
NAMES = [f"p{number}" for number in range(40)]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.publish(*NAMES)
    return bench


@pytest.mark.parametrize(
    ("entries", "held"),
    [
        ([removal(name) for name in NAMES[:5]], 0),
        ([removal(name) for name in NAMES[:6]], 6),
        ([removal(name, Status.HIDDEN) for name in NAMES[:6]], 6),
        ([removal(name, Status.EXCLUDED) for name in NAMES[:6]], 6),
        ([text(name) for name in NAMES[:20]], 0),
        ([text(name) for name in NAMES[:21]], 21),
        ([text(f"new{number}") for number in range(99)], 0),
        ([text("q", canonical=""), *(removal(name) for name in NAMES[:6])], 6),
        ([removal(name, Status.ALIAS, key_of("p39")) for name in NAMES[:6]], 6),
        ([removal(f"p{n}", Status.ALIAS, key_of(f"p{n + 20}")) for n in range(6)], 0),
    ],
    ids=[
        "few removals", "removals", "hidden", "excluded", "half changed", "more changed",
        "new pages", "other work passes", "all moved to one page", "each moved to its own",
    ],
)  # fmt: skip
def test_guards(bench: Bench, entries: list[Staged], held: int) -> None:
    run = bench.run()
    stage(run, entries)
    free = tally.release(run)
    assert run.report.held == held
    assert len(free) == len(entries) - held
    assert bool(run.report.held_reasons) == bool(held)


@pytest.mark.parametrize(
    ("live", "moved", "held"), [(3, 3, 3), (4, 3, 3), (3, 2, 2), (4, 2, 0), (6, 3, 0), (1, 1, 0)]
)
def test_most_of_a_small_site_does_not_move_to_one_page_without_a_person(
    live: int, moved: int, held: int
) -> None:
    bench = Bench()
    bench.publish(*NAMES[:live])
    run = bench.run()
    moves = [removal(name, Status.ALIAS, key_of("plans")) for name in NAMES[:moved]]
    stage(run, [*moves, text("plans")])
    assert len(tally.release(run)) == moved + 1 - held
    assert run.report.held == held
    assert (PERSON in "".join(run.report.held_reasons)) == bool(held)


def test_pages_that_the_table_leaves_out_need_no_site_that_is_well(bench: Bench) -> None:
    run = bench.run()
    for name in NAMES[10:20]:
        run.take(key_of(name), confirm=True)
        run.checked(key_of(name), Verdict.FAILED)
    out = replace(removal("p0", Status.EXCLUDED), cause=Cause.SCOPE)
    stage(run, [out, removal("p1")])
    assert tally.release(run) == [key_of("p0")]
    assert run.ledger.staged[key_of("p1")].held == "removals"


def test_held_work_survives_and_is_released_by_confirmations(bench: Bench) -> None:
    freed = []
    for hours in (0, 1, 13, 26):
        bench.clock.time = 2_000_000.0 + hours * HOUR
        run = bench.run()
        stage(run, [removal(name) for name in NAMES[:6]])
        freed.append(len(tally.release(run)))
        run.commit()
    assert freed == [0, 0, 0, 6]


def test_held_work_that_a_newer_fetch_refutes_is_dropped(bench: Bench) -> None:
    run = bench.run()
    stage(run, [removal(name) for name in NAMES[:6]])
    tally.release(run)
    run.commit()
    later = bench.run()
    assert len(later.ledger.staged) == 6
    later.ledger.unstage(key_of("p0"))
    assert tally.release(later) == [], "no newer evidence"
    stage(later, [removal(name) for name in NAMES[1:6]])
    assert tally.release(later) == [], "five are few enough, but not confirmed"
    assert later.report.held_reasons == ["5 pages left of too many removals at once"]


def test_removal_that_a_cut_off_run_found_is_looked_at_again(bench: Bench) -> None:
    run = bench.run()
    stage(run, [removal("p0")])
    run.commit()
    later = bench.run()
    assert later.is_due(key_of("p0"))
    assert tally.release(later) == []
    stage(later, [removal("p0")])
    assert tally.release(later) == [key_of("p0")]


def copies(run: Run, target: str, *names: str) -> None:
    """Stage pages that name one as canonical, as the pipelines do."""
    for name in names:
        key = run.sightings.see(f"https://docs.example.com/{name}")
        assert key is not None
        run.ledger.set(key, canonical=key_of(target))
        run.stage(text(name, canonical=key_of(target)))


def test_canonical_link_that_a_published_page_gets_counts_too(bench: Bench) -> None:
    run = bench.run()
    run.ledger.set(key_of("p1"), canonical=key_of("p0"))
    tally.resolve_canonicals(run)
    assert run.ledger.staged[key_of("p1")].alias_of == key_of("p0")


def test_canonical_page_takes_its_copy_out(bench: Bench) -> None:
    run = bench.run()
    copies(run, "p0", "copy", "p1")
    tally.resolve_canonicals(run)
    entry = run.ledger.staged[key_of("p1")]
    assert (entry.status, entry.alias_of) == (Status.ALIAS, key_of("p0"))
    # A copy that was in no answer has nothing to be taken out.
    record = run.ledger.pages[key_of("copy")]
    assert (record.status, record.alias_of) == (Status.ALIAS, key_of("p0"))
    assert key_of("copy") not in run.ledger.staged


@pytest.mark.parametrize("target", ["nowhere", "other"])
def test_canonical_page_that_is_not_there_takes_nothing_out(bench: Bench, target: str) -> None:
    run = bench.run()
    copies(run, target, "copy")
    copies(run, "copy", "other")
    tally.resolve_canonicals(run)
    assert run.ledger.staged[key_of("copy")].status == Status.LIVE


def test_many_pages_with_one_canonical_page_stay_pages(bench: Bench) -> None:
    run = bench.run()
    copies(run, "p0", *(f"v{number}" for number in range(9)))
    tally.resolve_canonicals(run)
    assert {entry.status for entry in run.ledger.staged.values()} == {Status.LIVE}


def test_removals_of_many_small_runs_are_one_large_one(bench: Bench) -> None:
    held = []
    for day in range(8):
        bench.clock.time += HOUR
        run = bench.run()
        stage(run, [removal(name) for name in NAMES[day * 3 : day * 3 + 3]])
        free = tally.release(run)
        bench.publish(*(key.rpartition("/")[2] for key in free), status=Status.GONE)
        for key in free:
            run.ledger.unstage(key)
        run.commit()
        held.append(run.report.held)
    assert held[0] == 0
    assert held[-1] > 0
    assert bench.run().ledger.live_count() >= 40 - 7


def test_move_to_a_page_that_could_not_be_read_waits(bench: Bench) -> None:
    run = bench.run()
    key = run.sightings.see("https://docs.example.com/new")
    stage(run, [removal("p0", Status.ALIAS, key_of("new"))])
    assert key == key_of("new")
    assert tally.release(run) == []
    assert run.report.held == 0
    run.ledger.set(key, status=Status.GONE)
    assert tally.release(run) == [key_of("p0")]


def test_a_discarded_copy_stays_a_page_when_it_is_edited(bench: Bench) -> None:
    run = bench.run()
    copies(run, "p0", "p1")
    tally.resolve_canonicals(run)
    run.ledger.discard(key_of("p1"), run.now)
    copies(run, "p0", "p1")
    tally.resolve_canonicals(run)
    assert run.ledger.staged[key_of("p1")].status == Status.LIVE
    assert run.ledger.pages[key_of("p1")].discarded["cause"] == Cause.COPY
    run.stage(text("p1"))
    assert run.ledger.pages[key_of("p1")].discarded, "not believed yet"
    assert key_of("p1") in tally.release(run)
    assert not run.ledger.pages[key_of("p1")].discarded, "it is no copy any more"
