"""Runs ``scrapy`` in a process that interrupts itself when it reaches a named function.

``python -m tests.support.interrupt_at TIMES MODULE:CLASS.FUNCTION[:N] ARGUMENTS...``: it gets
SIGINT so often just before the N-th call (default: the first), and goes on with the call.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from scrapy.cmdline import execute

from tests.support.crash_at import arm

GAP_S = 0.1
"""Between two signals: the kernel makes one of two that wait for the same process."""


def interrupt(times: int) -> None:
    """Send SIGINT to this process, so that each is taken before the next."""
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(GAP_S)


if __name__ == "__main__":
    # A shell has what it runs in the background ignore Ctrl-C, the tests among it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    arm(sys.argv[2], lambda: interrupt(int(sys.argv[1])))
    execute(["scrapy", *sys.argv[3:]])
