"""Whatever happens to site and runs: once the site holds still, it is as if crawled at once.

What is done and what must hold is in ``tests/support/convergence.py``; the examples are the same
at each run. ``make nightly`` tries many more.
"""

from __future__ import annotations

import pytest

from tests.support.convergence import EXAMPLES, explore
from tests.support.convergence_checks import check_struck


@pytest.mark.slow
def test_converges_whatever_happens() -> None:
    check_struck(explore(EXAMPLES))
