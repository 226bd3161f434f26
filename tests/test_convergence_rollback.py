"""Somebody goes back to kept generations, and releases them, whatever happens to site and runs."""

from __future__ import annotations

import pytest

from tests.support.convergence import explore
from tests.support.convergence_rollback import RolledBack

EXAMPLES = 150


@pytest.mark.nightly
def test_converges_after_each_release() -> None:
    happened = explore(EXAMPLES, of=RolledBack)
    assert happened["rollback"] >= EXAMPLES // 6, dict(happened)
    assert happened["run while pinned"] >= EXAMPLES // 4, dict(happened)
