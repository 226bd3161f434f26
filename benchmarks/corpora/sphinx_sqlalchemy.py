"""The documentation of SQLAlchemy and Mako as it is in their archives, in their own theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.sources import PAGES, chosen, sdist

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "Sphinx SQLAlchemy"
UNSEEN = False
_LEFT_OUT = frozenset({"build", "_modules", "genindex.html", "search.html"})
_ADDED = (".headerlink", ".viewcode-link", ".topic.contents", "nav", "#docs-body > .footer")
_OF_MAKO = 5


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    mako = _pages(sdist("Mako", "1.3.10", work) / "doc", "mako")
    return chosen(all_of_sqlalchemy(work), PAGES - _OF_MAKO) + chosen(mako, _OF_MAKO)


def all_of_sqlalchemy(work: Path) -> list[Page]:
    """Return all pages of SQLAlchemy's documentation; some are larger than 1 MB."""
    return _pages(sdist("SQLAlchemy", "2.0.44", work) / "doc", "sqlalchemy")


def _pages(folder: Path, name: str) -> list[Page]:
    found = []
    for path in sorted(folder.rglob("*.html")):
        inner = path.relative_to(folder)
        if _LEFT_OUT.isdisjoint(inner.parts):
            html = path.read_bytes()
            gold = gold_of_elements(html, "#docs-body", drop=_ADDED, signatures="dt.sig")
            if gold is not None:
                found.append(Page(f"https://docs.example/{name}/{inner.as_posix()}", html, gold))
    return found
