"""Ctrl-C that lets a command end in order; the second one ends it at once."""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)


class Interruptible:
    """Takes SIGINT while the ``with`` block runs, unless this process was told to ignore it.

    The first one calls what is under way (``calling``), and ends a block that has nothing under
    way by ``KeyboardInterrupt``, as does the second.
    """

    def __init__(self) -> None:
        self.asked = False
        """Whether a signal came."""
        self._stop: Callable[[], None] | None = None
        self._before: Any = None

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Iterator[None]:
        """Have the first signal call ``stop`` while the block runs."""
        self._stop = stop
        try:
            yield
        finally:
            self._stop = None

    def _handle(self, signum: int, frame: object) -> None:
        if self.asked or self._stop is None:
            raise KeyboardInterrupt
        self.asked = True
        self._stop()
        logger.info("stopping: finishing the passages being embedded; Ctrl-C again to stop at once")
