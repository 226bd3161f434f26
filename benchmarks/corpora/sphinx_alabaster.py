"""Invoke's documentation by Sphinx with alabaster, its own theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.sources import chosen
from benchmarks.sphinx_build import Project, built

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

FAMILY = "Sphinx alabaster"
UNSEEN = False
PROJECT = Project("invoke", "3.0.3", "sites/docs", ".")


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    return chosen(built(PROJECT, "alabaster", work))
