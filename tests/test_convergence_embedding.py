"""Embedding that comes late, in parts or from elsewhere ends in the same answers."""

from __future__ import annotations

import secrets

import pytest

from tests.support.convergence import explore
from tests.support.convergence_embedding import EmbeddedLate, check_late

EXAMPLES = 15
NIGHTLY = 150


@pytest.mark.slow
def test_late_embedding_converges() -> None:
    check_late(explore(EXAMPLES, of=EmbeddedLate), EXAMPLES // 10)


@pytest.mark.nightly
def test_late_embedding_converges_whatever_happens() -> None:
    number = secrets.randbelow(2**32)
    try:
        check_late(explore(NIGHTLY, seed=number, of=EmbeddedLate), NIGHTLY // 10)
    except AssertionError as error:
        error.add_note(f"explore({NIGHTLY}, seed={number}, of=EmbeddedLate)")
        raise
