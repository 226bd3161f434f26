"""Outages, walls, broken lists and bad deploys take no page out of the answers, for ten runs.

Every case is tried here on one kind of site; ``test_nothing_deleted_nightly.py`` has the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.nothing_deleted import Trials
from tests.support.trouble_cases import (
    ALL,
    BAD_DEPLOYS,
    OUTAGES,
    SHRUNK,
    SITEMAPS,
    WALLS,
    dripping,
    with_broken_page,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

BY_COUNT = {
    "301 to a login without a mark",
    "all redirected home 301",
    "noindex by meta",
    "noindex by header",
    "robots disallow, hidden",
}
"""Held by a guard only if there are more than five pages."""
DRIPS = {
    "wall without a mark for pages": True,
    "wall for pages that names them": False,
    "301 of pages off the site": False,
    "all redirected home 301": True,
    "noindex by meta": True,
    "robots disallow, hidden": False,
    "404 of pages": False,
    "410 of all but the home page": True,
}
"""Whether they are tried by links."""


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    made = Trials()
    yield made
    made.close()


@pytest.mark.parametrize("name", SITEMAPS)
def test_broken_sitemaps(trials: Trials, name: str) -> None:
    trials.run(SITEMAPS[name], by_links=False, table={"absent": "delete"})


@pytest.mark.parametrize("name", OUTAGES)
def test_outages(trials: Trials, name: str) -> None:
    trials.run(OUTAGES[name], by_links=True, table={"absent": "hide"})


@pytest.mark.parametrize("name", WALLS)
def test_walls_and_a_page_that_is_broken_anyway(trials: Trials, name: str) -> None:
    case = with_broken_page(WALLS[name])
    trials.run(case, by_links=False, table={"absent": "delete"})


@pytest.mark.parametrize("name", BAD_DEPLOYS)
def test_bad_deploys(trials: Trials, name: str) -> None:
    trials.run(BAD_DEPLOYS[name], by_links=True, table={"absent": "delete"})


@pytest.mark.parametrize("name", DRIPS)
def test_few_pages_come_due_in_each_run(trials: Trials, name: str) -> None:
    trials.run(dripping(ALL[name]), by_links=DRIPS[name], table={"absent": "hide"})


@pytest.mark.parametrize("name", sorted(BY_COUNT))
def test_tiny_site_that_only_a_guard_can_keep(trials: Trials, name: str) -> None:
    trials.run(ALL[name], by_links=False, tiny=True, table={"absent": "delete"})


@pytest.mark.parametrize("name", ["maintenance page", "wall without a mark for pages"])
def test_tiny_site(trials: Trials, name: str) -> None:
    trials.run(ALL[name], by_links=True, tiny=True, table={"absent": "delete"})


@pytest.mark.parametrize("name", SHRUNK)
def test_lists_that_shrink_by_half(trials: Trials, name: str) -> None:
    trials.run(SHRUNK[name], by_links="hubs" in name, table={"absent": "delete"})
