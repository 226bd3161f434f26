"""Embeds for copies of a site, each in a process that kills itself at one seam.

``python -m tests.support.kill_embed STATE SITE FOLDER``: for each seam that is passed there is then
a copy of STATE below FOLDER, named after the seam, as SIGKILL left it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from freshcrawl.config import Config
from freshcrawl.embed_site import Embedded, SiteEmbedding
from tests.support.kill_repair import make_copies
from tests.support.project import HASH_EMBEDDER


def embed(state: Path, name: str, batch: int = 2) -> Embedded:
    """Embed for a site to the end."""
    config = Config(state_dir=str(state), embedder_class=HASH_EMBEDDER, embed_batch=batch)
    return SiteEmbedding(config, name, time.time, lambda _: None).run()


def main(state: Path, name: str, folder: Path) -> None:
    """Embed for each copy."""

    def work(copy: Path) -> None:
        embed(copy, name)

    make_copies(state, folder, work)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
