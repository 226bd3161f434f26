"""Runs ``scrapy`` in a process that kills itself (SIGKILL) at a seam or a named function.

``python -m tests.support.crash_at WHERE ARGUMENTS...``. WHERE is a ``Seam`` by its value
(``switched``) or ``MODULE:CLASS.FUNCTION``, with ``:N`` for the N-th time (default: the first).
The process dies when the seam's step is done, or just before the function is called.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from scrapy.cmdline import execute

from freshcrawl.seams import Seam, listening

if TYPE_CHECKING:
    from collections.abc import Callable

_listening = ExitStack()


def kill() -> None:
    """End the process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def arm(where: str, action: Callable[[], None]) -> None:
    """Have ``action`` done when a seam is reached, or a function about to be called."""
    name, _, nth = where.partition(":")
    if name in set(Seam):
        count_seams(Seam(name), int(nth or 1), action)
    else:
        wrap_function(where, action)


def count_seams(seam: Seam, nth: int, action: Callable[[], None]) -> None:
    """Have ``action`` done at the N-th time that a seam is reached."""
    left = nth

    def listener(reached: Seam) -> None:
        nonlocal left
        left -= reached is seam
        if left == 0 and reached is seam:
            action()

    _listening.enter_context(listening(listener))


def wrap_function(where: str, action: Callable[[], None]) -> None:
    """Replace a function by one that does ``action`` first at its N-th call."""
    module, path, *rest = where.split(":")
    left = int(rest[0]) if rest else 1
    *owners, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    original = getattr(owner, name)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            action()
        return original(*args, **kwargs)

    setattr(owner, name, wrapper)


if __name__ == "__main__":
    arm(sys.argv[1], kill)
    execute(["scrapy", *sys.argv[2:]])
