"""The convergence suite is tested itself: it finds each of the deliberate breaks."""

from __future__ import annotations

import pytest

from tests.support.convergence import EXAMPLES, explore
from tests.support.convergence_breaks import BREAKS

FAST = ("rows_dropped_under_readers", "storms_believed", "vectors_dropped_on_hide")
"""Found within seven examples; the others are looked for in as many as a part of a night has."""
MANY = 250


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in FAST else pytest.mark.nightly) for name in BREAKS],
)
def test_break_is_found(name: str) -> None:
    with BREAKS[name](), pytest.raises(AssertionError) as found:
        explore(EXAMPLES if name in FAST else MANY, shrink=False)
    print(f"{name}: {found.value}")
