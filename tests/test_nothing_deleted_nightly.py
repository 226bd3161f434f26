"""The suite of troubles in which nothing is deleted, over all kinds of sites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.nothing_deleted import ANY, Trials
from tests.support.trouble_cases import (
    ALL,
    BAD_DEPLOYS,
    SITEMAPS,
    WALLS,
    dripping,
    with_broken_page,
)
from tests.test_nothing_deleted import BY_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.nightly
EITHER = pytest.mark.parametrize("by_links", [False, True], ids=["sitemap", "links"])
POLICY = pytest.mark.parametrize("absent", ["hide", "delete"])


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    made = Trials()
    yield made
    made.close()


@EITHER
@POLICY
@pytest.mark.parametrize("name", ALL)
def test_either_kind_of_site(trials: Trials, name: str, absent: str, by_links: bool) -> None:
    trials.run(ALL[name], by_links=by_links, table={"absent": absent})


@POLICY
@pytest.mark.parametrize("name", SITEMAPS)
def test_broken_sitemaps(trials: Trials, name: str, absent: str) -> None:
    trials.run(SITEMAPS[name], by_links=False, table={"absent": absent})


@EITHER
@pytest.mark.parametrize("name", ALL)
def test_a_page_that_is_broken_anyway(trials: Trials, name: str, by_links: bool) -> None:
    case = replace(with_broken_page(ALL[name]), stale=ANY)
    trials.run(case, by_links=by_links, table={"absent": "delete"})


@EITHER
@pytest.mark.parametrize("name", WALLS | BAD_DEPLOYS)
def test_few_pages_come_due_in_each_run(trials: Trials, name: str, by_links: bool) -> None:
    trials.run(dripping(ALL[name]), by_links=by_links, table={"absent": "delete"})


@EITHER
@pytest.mark.parametrize("name", [name for name in ALL if name not in BY_COUNT])
def test_tiny_site(trials: Trials, name: str, by_links: bool) -> None:
    case = replace(ALL[name], stale=ANY)
    if case.cut is not None and case.cut.how == "pages":
        case = replace(case, cut=replace(case.cut, number=2))  # it has less pages than others
    trials.run(case, by_links=by_links, tiny=True, table={"absent": "delete"})
