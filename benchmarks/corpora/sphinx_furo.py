"""The documentation of attrs and urllib3 by Sphinx with furo, their own theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.sources import chosen
from benchmarks.sphinx_build import Project, built

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

FAMILY = "Sphinx furo"
UNSEEN = False
PROJECTS = (Project("attrs", "26.1.0"), Project("urllib3", "2.8.0"))


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    return chosen([page for project in PROJECTS for page in built(project, "furo", work)])
