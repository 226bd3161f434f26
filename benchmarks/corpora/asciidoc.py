"""HTML of the older AsciiDoc in Python: Git's manual pages and guides as Debian serves them.

Needs a Debian machine (package `git-doc`, which is downloaded and not installed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.sources import chosen
from benchmarks.tools import debian

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.page_text import Element

FAMILY = "asciidoc"
UNSEEN = False
_MAIN = "#header > h1, #header > h2, #header > .sectionbody, #content, #footnotes"
_CODE = ".listingblock pre, .literalblock pre"


def pages(work: Path) -> list[Page]:
    """Return the pages, downloaded the first time."""
    found = []
    for path in sorted((debian("git-doc", work) / "usr/share/doc/git-doc").glob("*.html")):
        html = path.read_bytes()
        gold = gold_of_elements(html, _MAIN, code=_CODE, is_row=_is_row)
        if gold is not None:
            found.append(Page(f"https://docs.test/{path.name}", html, gold))
    return chosen(found)


def _is_row(row: Element) -> bool:
    """Tell whether it is one of a table, not the layout of an admonition."""
    return not any("admonitionblock" in (el.get("class") or "") for el in row.iterancestors())
