"""Absence: which runs count for a page that nothing lists any more, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl import tally
from freshcrawl.absence import count_absent, to_confirm
from freshcrawl.core.pages import Status, Verdict
from tests.support.runs import Bench, key_of, removal, stage, text

if TYPE_CHECKING:
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.run import Run

HOUR = 3_600.0
DAY = 24 * HOUR
NAMES = [f"p{number}" for number in range(40)]
ONE, TWO = "sitemap:one", "sitemap:two"
ABSENT = key_of("p1")


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.publish(*NAMES)
    with_lists(bench, NAMES)
    return bench


def with_lists(bench: Bench, one: list[str], two: tuple[str, ...] = ()) -> None:
    """Have a run read what two sitemaps list."""
    run = bench.run()
    read(run, ONE, one)
    read(run, TWO, two)
    run.commit()


def read(run: Run, source: str, names: list[str] | tuple[str, ...]) -> None:
    kind = "sitemap_root" if source.startswith("sitemap:") else source.partition(":")[0]
    run.sightings.listing_read(source, kind, [key_of(name) for name in names])


def answers(run: Run, key: str, verdict: str = Verdict.UNCHANGED) -> None:
    run.take(key, confirm=True)
    run.checked(key, verdict)


def after(run: Run, *, whole: bool = True) -> PageRecord:
    """End a run; return the record of the page that this is about."""
    count_absent(run, whole=whole)
    run.commit()
    return run.ledger.pages[ABSENT]


def others(*left: str) -> list[str]:
    return [name for name in NAMES if name not in left]


def absent_run(bench: Bench) -> Run:
    """Begin a run that reads the sitemap without the page, which answers."""
    bench.clock.time += DAY
    run = bench.run()
    read(run, ONE, others("p1"))
    answers(run, ABSENT)
    return run


def test_runs_that_find_a_page_unlisted_are_counted_in_a_row(bench: Bench) -> None:
    """Also where a run that sees it listed again has no need to fetch it, or cannot."""
    counts = []
    for listed in (False, True, False):
        bench.clock.time += HOUR
        run = bench.run()
        read(run, ONE, NAMES if listed else others("p1"))
        if not listed:
            answers(run, ABSENT)
        counts.append(after(run).missing_runs)
    assert counts == [1, 0, 1]


def test_a_page_that_was_fetched_before_its_sitemap_dropped_it_counts(bench: Bench) -> None:
    bench.clock.time += HOUR
    run = bench.run()
    answers(run, ABSENT)
    read(run, ONE, others("p1"))
    assert after(run).missing_runs == 1
    assert run.report.missing == 1


def test_a_run_that_was_cut_off_counts_for_nothing(bench: Bench) -> None:
    record = after(absent_run(bench), whole=False)
    assert (record.missing_runs, record.unlisted_by) == (0, [ONE])


def test_an_outcome_alone_does_not_count(bench: Bench) -> None:
    """What a run found is kept before its end, but not that it found a page unlisted."""
    run = absent_run(bench)
    run.commit()
    assert bench.run().ledger.pages[ABSENT].missing_runs == 0


@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.REJECTED])
def test_a_page_that_does_not_answer_does_not_count(bench: Bench, verdict: str) -> None:
    bench.clock.time += HOUR
    run = bench.run()
    read(run, ONE, others("p1"))
    answers(run, ABSENT, verdict)
    assert after(run).missing_runs == 0


@pytest.mark.parametrize("since", [0, 1])
def test_a_source_that_fails_may_list_a_page_unless_it_was_read_since(
    bench: Bench, since: int
) -> None:
    """A sitemap that was read when the page was off its own takes no part in what follows."""
    counts = []
    for number in range(2):
        run = absent_run(bench)
        if number < since:
            read(run, TWO, ())
        else:
            run.ledger.listings.unread(TWO)
        counts.append(after(run).missing_runs)
    assert counts == ([1, 2] if since else [0, 0])


def test_a_run_that_could_not_read_the_source_does_not_count(bench: Bench) -> None:
    after(absent_run(bench))
    bench.clock.time += DAY
    run = bench.run()
    run.report.incomplete("sitemap one: HTTP 500")
    read(run, TWO, ())
    assert ABSENT not in to_confirm(run)
    answers(run, ABSENT)
    assert after(run).missing_runs == 1


@pytest.mark.parametrize("whole", [True, False])
def test_a_source_that_is_no_more_asks_for_a_whole_discovery(bench: Bench, whole: bool) -> None:
    bench.clock.time += DAY
    run = bench.run()
    run.ledger.listings.drop(ONE)
    read(run, TWO, others("p1"))
    if not whole:
        run.report.incomplete("sitemap three: HTTP 500")
    assert (ABSENT in to_confirm(run)) == whole
    answers(run, ABSENT)
    assert after(run).missing_runs == whole


def test_stored_links_of_a_page_that_is_not_due_stand_unless_it_fails(bench: Bench) -> None:
    run = bench.run()
    run.ledger.listings.drop(ONE)
    read(run, "start:", ["p0"])
    read(run, "page:" + key_of("p0"), NAMES)
    after(run)
    counts = []
    for hub in (Verdict.CHANGED, None, Verdict.FAILED, None):
        bench.clock.time += DAY
        run = bench.run()
        if hub == Verdict.CHANGED:
            read(run, "page:" + key_of("p0"), others("p1"))
        if hub is not None:
            answers(run, key_of("p0"), hub)
        answers(run, ABSENT)
        counts.append(after(run).missing_runs)
    assert counts == [1, 2, 2, 2]


def test_pages_that_only_list_each_other_are_absent(bench: Bench) -> None:
    run = bench.run()
    run.ledger.listings.drop(ONE)
    read(run, "start:", ["p0"])
    read(run, "page:" + key_of("p0"), NAMES)
    read(run, "page:" + key_of("p1"), ["p2"])
    read(run, "page:" + key_of("p2"), ["p1", "p0"])
    after(run)
    bench.clock.time += DAY
    run = bench.run()
    read(run, "page:" + key_of("p0"), others("p1", "p2"))
    assert {ABSENT, key_of("p2")} <= set(to_confirm(run))
    answers(run, key_of("p0"), Verdict.CHANGED)
    answers(run, ABSENT)
    assert after(run).missing_runs == 1


@pytest.mark.parametrize(
    ("policy", "status"), [("keep", None), ("hide", Status.HIDDEN), ("delete", Status.GONE)]
)
def test_the_policy_decides_after_as_many_runs(
    bench: Bench, policy: str, status: Status | None
) -> None:
    bench.site = {"absent": policy}
    staged = []
    for _ in range(3):
        run = absent_run(bench)
        after(run)
        staged.append(run.ledger.staged.get(ABSENT))
    assert staged[:2] == [None, None]
    assert (staged[2] and staged[2].status) == status
    if status is not None:
        assert tally.release(run) == [ABSENT]
        assert run.report.as_contract()[status.value] == 1


def test_a_removal_goes_before_a_change_that_the_same_run_found(bench: Bench) -> None:
    bench.site = {"absent": "hide", "missing_runs": 1}
    run = absent_run(bench)
    stage(run, [text("p1")])
    after(run)
    assert run.ledger.staged[ABSENT].status == Status.HIDDEN


def test_a_new_page_that_is_unlisted_at_once_does_not_enter(bench: Bench) -> None:
    bench.site = {"absent": "hide", "missing_runs": 1}
    run = bench.run()
    run.sightings.see("https://docs.example.com/new")
    stage(run, [text("new")])
    run.report.incomplete_reasons.clear()
    answers(run, key_of("new"), Verdict.NEW)
    after(run)
    assert key_of("new") not in run.ledger.staged
    assert run.ledger.pages[key_of("new")].status == Status.HIDDEN


def test_a_removal_that_is_held_ends_when_the_page_is_listed_again(bench: Bench) -> None:
    bench.site = {"absent": "hide", "missing_runs": 1}
    run = absent_run(bench)
    for name in NAMES[2:9]:
        stage(run, [removal(name)])
    after(run)
    assert tally.release(run) == []
    run.commit()
    bench.clock.time += DAY
    run = bench.run()
    assert run.ledger.staged[ABSENT].held
    read(run, ONE, NAMES)
    record = after(run)
    assert ABSENT not in run.ledger.staged
    assert (record.missing_runs, record.unlisted_by, record.next_due) == (0, [], 0.0)
