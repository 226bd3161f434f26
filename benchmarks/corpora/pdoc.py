"""The API of Werkzeug and markdown-it-py by pdoc; nobody looked at it while tuning."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.sources import chosen, run

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "pdoc"
UNSEEN = True
PACKAGES = ("markdown_it", "werkzeug")
# What pdoc's templates put around the text; the source of each member is in the main element.
_ADDED = (".headerlink", ".view-source-button", ".view-source-toggle-state", ".linenos", "nav")


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    out = work.resolve() / "out"
    if not (out / "index.html").is_file():
        work.mkdir(parents=True, exist_ok=True)
        run([sys.executable, "-m", "pdoc", "--output-directory", str(out), *PACKAGES], work)
    found = []
    for path in sorted(out.rglob("*.html")):
        html = path.read_bytes()
        gold = gold_of_elements(html, "main.pdoc", drop=_ADDED, signatures=".attr.function")
        if gold is not None and gold.headings:
            url = f"https://docs.example/pdoc/{path.relative_to(out).as_posix()}"
            found.append(Page(url, html, gold))
    return chosen(found)
