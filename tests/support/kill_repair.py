"""Repairs copies of a damaged site, each in a process that kills itself at one seam.

``python -m tests.support.kill_repair STATE SITE FOLDER``: for each seam that a repair passes there
is then a copy of STATE below FOLDER, named after the seam, as SIGKILL left it.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from freshcrawl.config import Config
from freshcrawl.seams import Seam, listening
from freshcrawl.state import open_for_writing
from freshcrawl.verify.repair import Repair
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable


def repair(state: Path, name: str, model: HashEmbedder) -> None:
    """Repair a site to the end."""
    config = Config(state_dir=str(state))
    opened = open_for_writing(config, name, "test", 0.0)
    try:
        Repair(opened, config, model, time.time).heal()
    finally:
        opened.close()


def killed_at(seam: Seam, work: Callable[[], None]) -> bool:
    """Do something in a child that is killed at a seam; tell whether it came to it."""
    child = os.fork()
    if not child:

        def kill(reached: Seam) -> None:
            if reached == seam:
                os.kill(os.getpid(), signal.SIGKILL)

        with listening(kill):
            work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def make_copies(state: Path, folder: Path, work: Callable[[Path], None]) -> None:
    """Make the copies; ``work`` is done on each."""
    for seam in Seam:
        copy = folder / seam
        shutil.copytree(state, copy)
        if not killed_at(seam, partial(work, copy)):
            shutil.rmtree(copy)


def main(state: Path, name: str, folder: Path) -> None:
    """Repair each copy."""
    model = HashEmbedder()
    make_copies(state, folder, lambda copy: repair(copy, name, model))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
