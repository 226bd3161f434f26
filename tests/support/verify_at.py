"""Runs ``scrapy`` in a process that verifies its site, from outside, at every seam that it passes.

``python -m tests.support.verify_at LOG STATE ARGUMENTS...``: each seam is a line of LOG, with the
kinds of damage that were found there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.cmdline import execute

from freshcrawl.seams import listening
from freshcrawl.verify import damages, verify_folder
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from freshcrawl.seams import Seam


def main(log: Path, state: Path, *args: str) -> None:
    """Run the command."""
    model = HashEmbedder()

    def look(seam: Seam) -> None:
        [site] = state.glob("*/records.sqlite")
        found = damages(verify_folder(site.parent, model))
        with log.open("a") as file:
            print(seam, *(f"{finding.kind}({finding.where})" for finding in found), file=file)

    with listening(look):
        execute(["scrapy", *args])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
