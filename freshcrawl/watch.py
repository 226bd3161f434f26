"""Watches long work from a thread: draws a line in a terminal, else logs one now and then."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Self

from freshcrawl.progress import Estimator, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from freshcrawl.console import StatusLine

logger = logging.getLogger(__name__)

TICK_SECS = 0.5


class Watch:
    """Shows how far work is while the ``with`` block runs.

    ``read`` gives a snapshot by name and is called from a thread of its own, since the work may
    keep the others busy. ``every``: seconds between log lines where there is no ``line``; 0: none.
    """

    def __init__(
        self, read: Callable[[], Mapping[str, Snapshot]], every: float, line: StatusLine | None
    ) -> None:
        self._read = read
        self._every = every
        self._line = line
        self._tick_secs = TICK_SECS if line else min(TICK_SECS, every)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="progress", daemon=True)
        self._together = Estimator()
        self._each: defaultdict[str, Estimator] = defaultdict(Estimator)
        self._logged: dict[str, Snapshot] = {}
        self._next = 0.0

    def __enter__(self) -> Self:
        self._next = time.monotonic() + self._every
        if self._tick_secs:
            self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._line:
            self._line.clear()

    def _work(self) -> None:
        while not self._over.wait(self._tick_secs):
            now, snapshots = time.monotonic(), self._read()
            if self._line:
                self._draw(self._line, now, snapshots)
            else:
                self._log(now, snapshots)

    def _draw(self, line: StatusLine, now: float, snapshots: Mapping[str, Snapshot]) -> None:
        """Draw one line for all; several are summed up."""
        if snapshots:
            self._together.add(now, sum(snapshots.values(), Snapshot()))
            name = f"{len(snapshots)} sites" if len(snapshots) > 1 else next(iter(snapshots))
            line.draw(self._together.words(name))

    def _log(self, now: float, snapshots: Mapping[str, Snapshot]) -> None:
        """Log a line for each that moved since its last one, when it is time."""
        for name, snapshot in snapshots.items():
            self._each[name].add(now, snapshot)
        if now < self._next:
            return
        self._next = now + self._every
        for name, snapshot in snapshots.items():
            if snapshot != self._logged.get(name, Snapshot()):
                self._logged[name] = snapshot
                logger.info("%(progress)s", {"progress": self._each[name].words(name)})
