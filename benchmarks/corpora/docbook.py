"""PostgreSQL's manual by the DocBook XSL stylesheets, as Debian packages it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.sources import chosen
from benchmarks.tools import debian

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "DocBook"
UNSEEN = False
PACKAGE = "postgresql-doc-15"
_ADDED = (".navheader", ".navfooter", ".toc")
_BOXES = frozenset({"Note", "Tip", "Important", "Warning", "Caution"})
_LEFT_OUT = frozenset({"bookindex.html", "index.html"})


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    folder = debian(PACKAGE, work) / "usr" / "share" / "doc" / PACKAGE / "html"
    found = []
    for path in sorted(folder.glob("*.html")):
        if path.name not in _LEFT_OUT:
            html = path.read_bytes()
            gold = gold_of_elements(html, "body", drop=_ADDED)
            if gold is not None:
                # Titles of boxes are `h3` here; they are no headings of the page.
                gold.headings = [title for title in gold.headings if title not in _BOXES]
                found.append(Page(f"https://docs.example/postgresql/{path.name}", html, gold))
    return chosen(found)
