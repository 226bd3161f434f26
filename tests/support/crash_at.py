"""Runs ``scrapy`` in a process that kills itself (SIGKILL) when it reaches a named function.

``python -m tests.support.crash_at MODULE:CLASS.FUNCTION[:N] ARGUMENTS...``: the process dies
just before the N-th call (default: the first).
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from scrapy.cmdline import execute

if TYPE_CHECKING:
    from collections.abc import Callable


def kill() -> None:
    """End the process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def arm(seam: str, action: Callable[[], None]) -> None:
    """Replace a function by one that does ``action`` first at its N-th call."""
    module, path, *rest = seam.split(":")
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
