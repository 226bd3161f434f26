"""Forgets a page in copies of a site, each in a process that kills itself at one seam.

``python -m tests.support.kill_forget STATE SITE URL FOLDER``: for each seam that a forget passes
there is then a copy of STATE below FOLDER, named after the seam, as SIGKILL left it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from freshcrawl.config import Config
from freshcrawl.forgetting import forget
from freshcrawl.state import open_for_writing
from tests.support.kill_repair import make_copies


def main(state: Path, name: str, url: str, folder: Path) -> None:
    """Make the copies."""

    def work(copy: Path) -> None:
        config = Config(state_dir=str(copy))
        opened = open_for_writing(config, name, "forget", time.time())
        try:
            forget(opened, config, url, time.time())
        finally:
            opened.close()

    make_copies(state, folder, work)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]))
