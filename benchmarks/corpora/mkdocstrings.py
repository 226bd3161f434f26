"""Griffe's API reference by mkdocstrings with mkdocs-material, its own theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.mkdocs_build import Site, build, place
from benchmarks.sources import chosen, sdist

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "mkdocstrings"
UNSEEN = False
_ADDED = (
    ".headerlink", ".md-content__button", ".md-source-file", ".md-feedback", "td.linenos",
    "button", "nav", ".md-code__nav",
)  # fmt: skip
OPTIONS: dict[str, object] = {"features": ["content.code.copy", "navigation.footer"]}


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    docs = sdist("griffe", "2.4.1", work) / "docs"
    plugins = ["search", {"mkdocstrings": {"handlers": {"python": {"options": _options()}}}}]
    out = work.resolve() / "griffe-site"
    site = Site(
        "griffe",
        docs,
        "material",
        out,
        plugins,
        OPTIONS,
        "/guide\n/*.md\n!/index.md\n/reference/api/cli.md",
    )
    build(site)
    found = []
    for path in sorted(docs.glob("reference/api/**/*.md")):
        url, inner = place(site, path)
        if not (out / inner).is_file():
            continue  # of a package that is not installed
        html = (out / inner).read_bytes()
        gold = gold_of_elements(
            html,
            "article.md-content__inner",
            drop=_ADDED,
            signatures=".doc-heading > code",
            is_row=lambda row: row.find(".//pre") is None,
        )
        if gold is not None:
            found.append(Page(url, html, gold))
    return chosen(found)


def _options() -> dict[str, object]:
    return {"show_root_heading": True, "summary": True, "merge_init_into_class": True}
