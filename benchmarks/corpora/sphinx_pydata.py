"""The documentation of jupyter_client and Click by Sphinx with pydata-sphinx-theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.sources import chosen
from benchmarks.sphinx_build import Project, built

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

FAMILY = "Sphinx pydata"
UNSEEN = False
THEME = "pydata_sphinx_theme"
PROJECTS = (Project("jupyter_client", "8.10.0", src="."), Project("click", "8.5.1"))


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    return chosen([page for project in PROJECTS for page in built(project, THEME, work)])
