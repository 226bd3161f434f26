"""A thousand examples of the convergence suite, others each night: too many for every run."""

from __future__ import annotations

import secrets

import pytest

from tests.support.convergence import explore
from tests.support.convergence_checks import check_struck

PARTS = 4
EXAMPLES = 250

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("part", range(PARTS))
def test_converges_whatever_happens(part: int) -> None:
    number = secrets.randbelow(2**32)
    try:
        check_struck(explore(EXAMPLES, seed=number))
    except AssertionError as error:
        error.add_note(f"part {part + 1} of {PARTS}: explore({EXAMPLES}, seed={number})")
        raise
