"""Werkzeug's documentation by Sphinx with sphinx-book-theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.sources import chosen
from benchmarks.sphinx_build import Project, built

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

FAMILY = "Sphinx book"
UNSEEN = False
THEME = "sphinx_book_theme"
PROJECTS = (Project("werkzeug", "3.1.9"),)


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    return chosen([page for project in PROJECTS for page in built(project, THEME, work)])
