"""The clock seam: the only place that asks what time it is; and ids that begin with a time."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]


def make_clock(offset_secs: float = 0.0) -> Clock:
    """Return a clock (epoch seconds) that runs ``offset_secs`` ahead of the machine's."""
    return lambda: time.time() + offset_secs


def new_run_id(now: float) -> str:
    """Return an id that no other run has; ids sort by ``now`` (epoch seconds)."""
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    return f"{stamp}-{secrets.token_hex(2)}"
