"""A few pages that change or leave as a whole site would are not believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl.collapsing import reject_collapsing
from freshcrawl.core.pages import Cause, Status, Verdict
from freshcrawl.sitewide import reject_sitewide
from freshcrawl.witnesses import to_ask
from tests.support.runs import Bench, key_of, removal, stage, text

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

OTHER = -1
"""A simhash that differs in all bits from those that are published."""
NAMES = ["guide/a", "guide/b", "guide/c", "p1", "p2", "p3", "p4"]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.publish(*NAMES)
    bench.clock.time += 3_600
    return bench


def wall(name: str, essence: str = "wall") -> Staged:
    entry = text(name, digest=f"wall of {name}")
    entry.simhash, entry.essence = OTHER, essence
    return entry


def leaves(name: str, cause: str, to: str = "") -> Staged:
    entry = removal(name, Status.ALIAS if to else Status.EXCLUDED, alias_of=to)
    entry.cause = cause
    return entry


def answer(run: Run, *entries: Staged) -> None:
    """Let pages answer with what is staged of them."""
    for entry in entries:
        run.take(entry.key, confirm=True)
        run.checked(entry.key, entry.verdict)
    stage(run, entries)


def stand(run: Run, *names: str) -> None:
    """Let pages answer that they have not changed."""
    for name in names:
        run.take(key_of(name), confirm=True)
        run.checked(key_of(name), Verdict.UNCHANGED)


def test_two_pages_near_to_one_that_says_another_thing_are_asked_once(bench: Bench) -> None:
    run = bench.run()
    answer(run, wall("guide/a"))
    assert to_ask(run) == [key_of("guide/b"), key_of("guide/c")]
    assert to_ask(run) == []


@pytest.mark.parametrize("cause", [Cause.NOINDEX, Cause.ROBOTS, Cause.OFF_SITE])
def test_so_they_are_for_one_that_leaves_as_whole_sites_do(bench: Bench, cause: str) -> None:
    run = bench.run()
    answer(run, leaves("guide/a", cause))
    assert len(to_ask(run)) == 2


def test_nobody_is_asked_where_pages_answer_as_themselves(bench: Bench) -> None:
    run = bench.run()
    answer(run, wall("guide/a"))
    stand(run, "p1", "p2")
    assert to_ask(run) == []


def test_nobody_is_asked_because_of_an_edit_or_a_page_that_is_dead_and_unlisted(
    bench: Bench,
) -> None:
    run = bench.run()
    answer(run, text("guide/a", digest="edited"), leaves("p1", Cause.NOT_FOUND))
    assert to_ask(run) == []


@pytest.mark.parametrize("cause", [Cause.NOT_FOUND, Cause.GONE])
def test_two_pages_far_from_one_that_is_dead_although_it_is_listed_are_asked(
    bench: Bench, cause: str
) -> None:
    run = listing(bench)
    answer(run, leaves("guide/a", cause))
    asked = to_ask(run)
    assert len(asked) == 2
    assert not any("guide" in key for key in asked)


@pytest.mark.parametrize("cause", [Cause.NOT_FOUND, Cause.GONE])
def test_dead_pages_stay_where_none_answers_as_itself(bench: Bench, cause: str) -> None:
    run = listing(bench)
    answer(run, leaves("guide/a", Cause.GONE))
    for key in to_ask(run):
        answer(run, leaves(key.partition("/")[2], cause))
    reject_sitewide(run)
    assert run.ledger.staged == {}
    record = run.ledger.pages[key_of("guide/a")]
    assert record.last_verdict == Verdict.REJECTED
    assert record.last_checked == bench.clock.time - 3_600
    assert record.next_due == bench.clock.time + run.schedule.minimum


def test_dead_pages_stay_while_what_is_asked_for_comparison_fails(bench: Bench) -> None:
    run = listing(bench)
    answer(run, leaves("guide/a", Cause.NOT_FOUND))
    for key in to_ask(run):
        run.take(key, confirm=True)
        run.checked(key, Verdict.FAILED)
    reject_sitewide(run)
    assert run.ledger.staged == {}


def test_dead_pages_leave_where_one_stands_that_is_not_the_home_page(bench: Bench) -> None:
    bench.publish("")
    for stands, left in (("", 0), ("p3", 2)):
        run = listing(bench)
        answer(run, leaves("guide/a", Cause.NOT_FOUND), leaves("p1", Cause.NOT_FOUND))
        stand(run, stands)
        run.witnesses = {key_of("p1")}
        reject_sitewide(run)
        assert len(run.ledger.staged) == left


def listing(bench: Bench) -> Run:
    """Begin a run that finds all pages on the sitemap."""
    run = bench.run()
    keys = [*map(key_of, NAMES)]
    run.ledger.listings.read("sitemap:1", "sitemap_root", keys, bench.clock.time)
    return run


def test_what_a_witness_says_too_is_rejected(bench: Bench) -> None:
    run = bench.run()
    answer(run, wall("guide/a"))
    answer(run, *(wall(key.partition("/")[2]) for key in to_ask(run)))
    reject_collapsing(run)
    assert run.ledger.staged == {}
    record = run.ledger.pages[key_of("guide/a")]
    assert (record.last_verdict, record.refused) == (Verdict.REJECTED, "wall")
    assert record.last_checked == bench.clock.time - 3_600


def test_what_no_witness_says_is_believed(bench: Bench) -> None:
    run = bench.run()
    answer(run, wall("guide/a"), wall("p1"))
    for key in to_ask(run):
        stand(run, key.partition("/")[2])
    reject_collapsing(run)
    assert run.ledger.staged.keys() == {key_of("guide/a"), key_of("p1")}


def test_all_pages_of_a_small_site_do_not_become_one() -> None:
    bench = Bench()
    bench.publish("a", "b", "c")
    run = bench.run(full=True)
    answer(run, wall("a"), wall("b"), wall("c"))
    assert to_ask(run) == []
    reject_collapsing(run)
    assert run.ledger.staged == {}


def test_a_text_that_was_refused_of_another_page_is_refused_again(bench: Bench) -> None:
    run = bench.run()
    run.checked(key_of("p1"), Verdict.REJECTED, refused="wall")
    run.commit()
    run = bench.run()
    stand(run, "p3", "p4")
    answer(run, wall("guide/a"), wall("p2", "of its own"))
    reject_collapsing(run)
    assert run.ledger.staged.keys() == {key_of("p2")}


def test_a_page_that_is_not_believed_lists_what_it_did(bench: Bench) -> None:
    run = bench.run()
    run.sightings.follows_links = True
    hub, listings = key_of("guide/a"), run.ledger.listings
    listings.read(f"page:{hub}", "page", [key_of("p1"), key_of("p2")], 1.0)
    run.listed_before[hub] = listings.of_page(hub)
    run.sightings.list_links(hub, ["https://docs.example.com/plans"])
    assert key_of("plans") in run.ledger.pages
    answer(run, wall("guide/a"), wall("guide/b"))
    run.witnesses = {key_of("guide/b")}
    reject_collapsing(run)
    assert listings.sources[f"page:{hub}"].keys == [key_of("p1"), key_of("p2")]
    assert key_of("plans") not in run.ledger.pages
    assert run.report.incomplete_reasons == ["pages whose links lead to others could not be read"]


@pytest.mark.parametrize(
    ("cause", "to"),
    [(Cause.NOINDEX, ""), (Cause.MOVED, key_of("login")), (Cause.HOME, key_of("home"))],
)
def test_pages_stay_that_leave_as_a_witness_does(bench: Bench, cause: str, to: str) -> None:
    run = bench.run()
    answer(run, leaves("guide/a", cause, to))
    answer(run, *(leaves(key.partition("/")[2], cause, to) for key in to_ask(run)))
    reject_sitewide(run)
    assert run.ledger.staged == {}
    assert run.ledger.pages[key_of("guide/a")].stale_reason.endswith("not believed")


def test_pages_leave_that_no_witness_leaves_with(bench: Bench) -> None:
    run = bench.run()
    answer(run, leaves("guide/a", Cause.NOINDEX), leaves("guide/b", Cause.NOINDEX))
    answer(run, *(leaves(k.partition("/")[2], Cause.MOVED, key_of("x")) for k in to_ask(run)[:1]))
    reject_sitewide(run)
    assert len(run.ledger.staged) == 3


def test_as_many_as_a_guard_holds_are_left_to_it(bench: Bench) -> None:
    run = bench.run()
    answer(run, *(leaves(name, Cause.NOINDEX) for name in NAMES[:6]))
    run.witnesses = {key_of("guide/b")}
    reject_sitewide(run)
    assert len(run.ledger.staged) == 6
