"""lxml's documentation in plain docutils HTML, with its own menu, as it is in its archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Gold, Page
from benchmarks.sources import chosen, sdist

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "docutils (lxml)"
UNSEEN = False


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    docs = sdist("lxml", "6.0.2", work) / "doc"
    found = []
    for path in sorted(docs.glob("*.txt")):
        html = docs / "html" / f"{path.stem}.html"
        if html.is_file():
            url = f"https://docs.example/lxml/{html.name}"
            found.append(Page(url, html.read_bytes(), _gold(path)))
    return chosen(found)


def _gold(path: Path) -> Gold:
    from docutils.core import publish_doctree

    from benchmarks.sphinx_gold import DoctreeGold

    settings = {"report_level": 5, "input_encoding": "utf-8", "file_insertion_enabled": True}
    source = path.read_text(encoding="utf-8")
    tree = publish_doctree(source, source_path=str(path), settings_overrides=settings)
    gold = DoctreeGold()
    gold.visit(tree)
    return Gold(**gold.__dict__, source="reST doctree")
