"""The convergence suite is tested itself: it finds each of the deliberate breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import convergence_breaks as breaks
from tests.support.convergence import explore

if TYPE_CHECKING:
    from collections.abc import Callable

FEW, MANY = 12, 250
"""Examples in which a break is found in every run of the tests, and at night."""
UNLISTED = r"were shown a list without it|left the answers without evidence"
OTHERWISE = r"in (the|a) first crawl"
UNBOUND = r"in (the|a) first crawl|has the validators of a text that is not published"


@dataclass(frozen=True, slots=True)
class Case:
    """A break, and what the check says that must find it (a regular expression)."""

    broken: Callable[[], Any]
    words: str
    seed: int | None = None
    """Of examples that find it soon; those without are looked for at night, in the usual ones."""


CASES = (
    Case(breaks.records_before_the_switch, r"records ran ahead|neither published nor staged", 2),
    Case(breaks.index_after_the_switch, r"has no index file", 2),
    Case(breaks.validators_of_any_text, UNBOUND, 2),
    Case(breaks.absence_in_a_run_that_read_no_list, UNLISTED, 5),
    Case(breaks.vectors_dropped_on_hide, r"vectors were dropped", 1),
    Case(
        breaks.rows_dropped_under_readers,
        r"rows of (a generation that a reader holds|generation \d+) are lost",
        1,
    ),
    Case(breaks.one_generation_kept, r"of generation \d+ (is|are) lost"),
    Case(breaks.half_a_sitemap_believed, UNLISTED),
    Case(breaks.storms_believed, r"nobody was asked|not confirmed"),
    Case(breaks.staged_work_dropped_on_failure, r"neither published nor staged"),
    Case(
        breaks.pages_and_chunks_apart,
        r"live pages and pages with chunks differ|half of it|of another text than the page"
        r"|rows of generation \d+ are lost|index file and vectors of the corpus differ",
    ),
    Case(breaks.errors_mean_gone, r"left the answers without evidence"),
)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case.broken.__name__,
            marks=pytest.mark.nightly if case.seed is None else (),
        )
        for case in CASES
    ],
)
def test_break_is_found(case: Case) -> None:
    with case.broken(), pytest.raises(AssertionError, match=case.words) as found:
        explore(MANY if case.seed is None else FEW, seed=case.seed, shrink=False)
    print(f"{case.broken.__name__}: {found.value}")
