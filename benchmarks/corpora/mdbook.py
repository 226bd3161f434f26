"""mdBook: the Rust book, reference, Nomicon and others, as Debian's package `rust-doc` has them.

Needs a Debian machine; the package is downloaded and not installed. The gold is the page's
`main`, without the play pen's buttons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.sources import chosen
from benchmarks.tools import debian

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "mdbook"
UNSEEN = False
_BOOKS = ("book", "reference", "nomicon", "cargo", "rustc", "rust-by-example", "edition-guide")


def pages(work: Path) -> list[Page]:
    """Return the pages, downloaded the first time."""
    root = debian("rust-doc", work) / "usr/share/doc/rust-doc/html"
    found = []
    for path in sorted(path for book in _BOOKS for path in (root / book).rglob("*.html")):
        html = path.read_bytes()
        gold = gold_of_elements(html, "#content main", drop=(".buttons", "nav"))
        if gold is not None and path.name not in {"print.html", "404.html", "toc.html"}:
            found.append(Page(f"https://docs.test/{path.relative_to(root)}", html, gold))
    return chosen(found)
