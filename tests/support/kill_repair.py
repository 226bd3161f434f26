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
from pathlib import Path

from freshcrawl.config import Config
from freshcrawl.seams import Seam, listening
from freshcrawl.state import open_for_writing
from freshcrawl.verify.repair import Repair
from tests.support.embedder import HashEmbedder


def repair(state: Path, name: str, model: HashEmbedder) -> None:
    """Repair a site to the end."""
    config = Config(state_dir=str(state))
    opened = open_for_writing(config, name, "test", 0.0)
    try:
        Repair(opened, config, model, time.time).heal()
    finally:
        opened.close()


def killed_at(seam: Seam, state: Path, name: str, model: HashEmbedder) -> bool:
    """Repair in a child that is killed at a seam; tell whether it came to it."""
    child = os.fork()
    if not child:

        def kill(reached: Seam) -> None:
            if reached == seam:
                os.kill(os.getpid(), signal.SIGKILL)

        with listening(kill):
            repair(state, name, model)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def main(state: Path, name: str, folder: Path) -> None:
    """Make the copies."""
    model = HashEmbedder()
    for seam in Seam:
        copy = folder / seam
        shutil.copytree(state, copy)
        if not killed_at(seam, copy, name, model):
            shutil.rmtree(copy)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
