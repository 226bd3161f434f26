"""The clock seam: the only place that asks what time it is."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], float]


def make_clock(offset_secs: float = 0.0) -> Clock:
    """Return a clock (epoch seconds) that runs ``offset_secs`` ahead of the machine's."""
    return lambda: time.time() + offset_secs
