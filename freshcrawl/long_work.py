"""Commands that take long: their progress on stderr, and signals that end them in order."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from freshcrawl.console import StatusLine
from freshcrawl.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from freshcrawl.progress import Snapshot

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """Have the first SIGINT or SIGTERM call ``stop``, a second one end the process as ever."""
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(*_: Any) -> None:
        restore()
        stop()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in SIGNALS:
        # What a shell has its background jobs ignore stays ignored.
        if before[number] != signal.SIG_IGN:
            signal.signal(number, handle)
    try:
        yield
    finally:
        restore()


@contextmanager
def shown(read: Callable[[], Mapping[str, Snapshot]], log_every: float) -> Iterator[None]:
    """Show how far work is: a line that redraws in a terminal, else one now and then.

    ``read`` gives a snapshot by site; any thread may call it. ``log_every``: seconds, 0 for none.
    """
    stream = sys.stderr
    line = StatusLine(stream) if stream.isatty() else None
    if line:
        sys.stderr = line
    try:
        with Watch(read, log_every, line):
            yield
    finally:
        sys.stderr = stream
