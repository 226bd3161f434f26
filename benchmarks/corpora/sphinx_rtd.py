"""Sphinx's own documentation by Sphinx with sphinx-rtd-theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.sources import chosen
from benchmarks.sphinx_build import Project, built

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

FAMILY = "Sphinx rtd"
UNSEEN = False
THEME = "sphinx_rtd_theme"
PROJECTS = (Project("sphinx", "9.0.4", "doc", "."),)


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    return chosen([page for project in PROJECTS for page in built(project, THEME, work)])
