"""Pages that become one and the same in a run, or nearly so, are not believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl import collapsing, tally
from freshcrawl.core.pages import Verdict
from tests.support.runs import Bench, key_of, stage, text

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged

NAMES = [f"p{number}" for number in range(40)]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.publish(*NAMES)
    return bench


def test_pages_that_become_one_and_the_same_keep_their_text(bench: Bench) -> None:
    run = bench.run()
    stage(run, [*(text(f"p{number}", digest="login") for number in range(5)), text("p9", "own")])
    collapsing.reject_collapsing(run)
    assert run.ledger.staged.keys() == {key_of("p9")}
    assert run.report.rejected == 5
    record = run.ledger.pages[key_of("p0")]
    assert (record.last_verdict, record.failures) == ("rejected", 1)
    assert record.failing_since == run.report.started_at


def test_record_says_no_more_than_before_of_a_text_that_was_not_believed(bench: Bench) -> None:
    """A wall that names another page as canonical would else make aliases of what it hides."""
    bench.clock.time += 3_600
    run = bench.run(full=True)
    names = [f"p{number}" for number in range(5)]
    stage(run, [text(name, digest="login", canonical=key_of("p20")) for name in names])
    for name in names:
        run.checked(key_of(name), Verdict.CHANGED, canonical=key_of(f"p2{name[1:]}"))
    collapsing.reject_collapsing(run)
    tally.resolve_canonicals(run)
    record = run.ledger.pages[key_of("p0")]
    assert (record.canonical, record.last_checked) == ("", bench.clock.time - 3_600)
    assert run.ledger.staged == {}


def test_pages_that_were_the_same_before_may_change_together(bench: Bench) -> None:
    run = bench.run()
    stage(run, [text(f"p{number}", digest="twins") for number in range(3)])
    collapsing.reject_collapsing(run)
    assert len(run.ledger.staged) == 3


def test_many_pages_of_one_text_may_change_together(bench: Bench) -> None:
    run = bench.run()
    for number in range(6):
        run.ledger.published[key_of(f"p{number}")].digest = "one text"
    stage(run, [text(f"p{number}", digest="another") for number in range(6)])
    collapsing.reject_collapsing(run)
    assert len(run.ledger.staged) == 6


def nearly(*names: str) -> list[Staged]:
    """Return changes to texts that differ in what is masked only."""
    entries = [text(name, digest=f"closed, request {name}") for name in names]
    for entry in entries:
        entry.gist = "closed"
    return entries


def test_pages_that_become_nearly_the_same_keep_their_text(bench: Bench) -> None:
    run = bench.run()
    stage(run, [*nearly("p0", "p1", "p2", "p3"), text("p9", "own"), *nearly("new")])
    collapsing.reject_collapsing(run)
    assert run.ledger.staged.keys() == {key_of("p9"), key_of("new")}
    assert (run.report.rejected, set(run.rejections.values())) == (4, {"one text for many"})
    assert run.ledger.pages[key_of("p0")].etag == ""


def test_few_pages_may_become_nearly_the_same(bench: Bench) -> None:
    run = bench.run()
    stage(run, nearly("p0", "p1", "p2"))
    collapsing.reject_collapsing(run)
    assert len(run.ledger.staged) == 3


def test_pages_without_words_to_be_known_by_are_not_compared(bench: Bench) -> None:
    run = bench.run()
    stage(run, [text(name, digest=name) for name in NAMES[:6]])
    collapsing.reject_collapsing(run)
    assert len(run.ledger.staged) == 6
