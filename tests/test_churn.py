"""Checks in a row that found another text: what counts, what does not, and what ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl import collapsing
from freshcrawl.core.differences import Difference
from freshcrawl.core.evidence import Finding
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.items import Outcome, PageItem
from freshcrawl.outcomes import ANSWERED, conclude
from tests.support.runs import ROOT, Bench, key_of, stage, text

if TYPE_CHECKING:
    from freshcrawl.run import Run

KNOWN = {"verdict": "changed", "tokens": [["a", "b"]]}
TOKENS = [["12:31", "12:33"]]


@pytest.fixture
def run() -> Run:
    bench = Bench()
    bench.publish(*(f"p{number}" for number in range(9)))
    run = bench.run()
    run.ledger.set(key_of("p0"), churn=2, difference=KNOWN, size=70)
    return run


def conclude_with(run: Run, **values: Any) -> None:
    values = {
        "outcome": Outcome.FETCHED,
        "size": 99,
        "difference": Difference(tokens=TOKENS),
        **values,
    }
    item = PageItem(key_of("p0"), f"{ROOT}p0", fetched_at=run.now, **values)
    conclude(run, item, Finding(Status.LIVE), None)


@pytest.mark.parametrize(
    ("values", "churn", "size"),
    [
        ({"verdict": Verdict.CHANGED, "digest": "d"}, 3, 99),
        ({"verdict": Verdict.CHANGED, "digest": "held"}, 3, 99),
        ({"verdict": Verdict.UNCHANGED}, 0, 99),
        ({"verdict": Verdict.LINKS_ONLY}, 0, 99),
        ({"verdict": Verdict.UNCHANGED, "outcome": Outcome.NOT_MODIFIED, "size": 0}, 0, 70),
        ({"verdict": Verdict.GONE, "outcome": Outcome.GONE, "size": 3}, 0, 3),
        ({"verdict": Verdict.REJECTED}, 2, 99),
        ({"verdict": Verdict.FAILED, "outcome": Outcome.FAILED}, 2, 70),
        ({"verdict": Verdict.EXCLUDED, "outcome": Outcome.DISALLOWED, "size": 0}, 2, 70),
    ],
)
def test_what_an_outcome_says(run: Run, values: dict[str, Any], churn: int, size: int) -> None:
    conclude_with(run, **values)
    record = run.ledger.pages[key_of("p0")]
    assert (record.churn, record.size) == (churn, size)
    answered = values["verdict"] in ANSWERED
    assert record.difference_tokens == (TOKENS if answered else [["a", "b"]])
    assert run.report.asked == (values.get("outcome") != Outcome.DISALLOWED)


def test_text_that_waits_since_the_last_check_is_no_new_change(run: Run) -> None:
    stage(run, [text("p0", digest="held")])
    conclude_with(run, verdict=Verdict.CHANGED, digest="held")
    assert run.ledger.pages[key_of("p0")].churn == 0


def test_pages_that_become_one_and_the_same_do_not_change_on_every_run(run: Run) -> None:
    stage(run, [text(f"p{number}", digest="login") for number in range(5)])
    collapsing.reject_collapsing(run)
    assert run.ledger.pages[key_of("p0")].churn == 0


def test_a_page_is_counted_once_a_run_as_what_was_found_last(run: Run) -> None:
    run.count_page(key_of("p0"), "unchanged")
    run.count_page(key_of("p0"), "moved")
    run.count_page(key_of("p1"), "")
    assert (run.report.unchanged, run.report.moved) == (0, 1)
    run.finish("finished")
    assert run.report.urls == {"moved": [f"{ROOT}p0"]}


def test_held_changes_that_collapse_later_take_no_count_back_twice() -> None:
    """Found again while held, a page is not counted as changed: there is nothing to take back."""
    bench = Bench()
    bench.publish(*(f"p{number}" for number in range(9)))
    before = bench.run()
    stage(before, [text(f"p{number}", digest="login") for number in range(5)])
    for number in range(5):
        before.ledger.mark_held(key_of(f"p{number}"), "changes")
    before.commit()
    run = bench.run()
    stage(run, [text(f"p{number}", digest="login") for number in range(5)])
    collapsing.reject_collapsing(run)
    assert (run.report.changed, run.report.rejected) == (0, 5)
