"""Starlette's documentation with the theme mkdocs, npm's with the theme readthedocs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.mkdocs_build import Site, pages_of_markdown
from benchmarks.sources import PAGES, chosen, npm_package, sdist

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

FAMILY = "MkDocs"
UNSEEN = False


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    own = sdist("starlette", "1.10.0", work) / "docs"
    npm = npm_package("npm", "11.6.0", work) / "docs" / "content"
    first = chosen(pages_of_markdown(Site("starlette", own, "mkdocs", work.resolve() / "own")), 10)
    second = pages_of_markdown(Site("npm", npm, "readthedocs", work.resolve() / "npm"))
    return first + chosen(second, PAGES - len(first))
