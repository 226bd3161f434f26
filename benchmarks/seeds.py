"""Whether the same bytes give the same Markdown whatever the seed of Python's hashes is."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from freshcrawl.extract import extract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus import Page

SEEDS = ("0", "1", "42")


def digests(pages: Sequence[Page]) -> dict[str, str]:
    """Return the digest of all that is extracted from all pages, for each seed."""
    with tempfile.NamedTemporaryFile(suffix=".pages") as file:
        pickle.dump([(page.html, page.url) for page in pages], file)
        file.flush()
        return {seed: _digest_with(seed, file.name) for seed in SEEDS}


def _digest_with(seed: str, file: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-m", "benchmarks.seeds", file]
    folder = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def main() -> None:
    """Print the digest of what is extracted from the pages in a file."""
    pages = pickle.loads(Path(sys.argv[1]).read_bytes())
    digest = hashlib.sha256()
    for html, url in pages:
        digest.update(repr(extract(html, url)).encode("utf-8", "surrogatepass"))
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
