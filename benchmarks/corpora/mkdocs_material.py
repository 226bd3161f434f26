"""The documentation of Hatch and Starlette by MkDocs with mkdocs-material, their own theme."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.mkdocs_build import Site, pages_of_markdown
from benchmarks.sources import chosen, sdist

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.corpus import Page

_HOOKED = re.compile(r'^( *```\w+) (?:config-example|tab="[^"\n]*")', re.MULTILINE)
FAMILY = "mkdocs-material"
UNSEEN = False
PROJECTS = {"hatch": "1.18.2", "starlette": "1.10.0"}
OPTIONS: dict[str, object] = {
    "features": [
        "content.code.copy", "content.action.edit", "navigation.footer", "navigation.path",
        "navigation.tabs", "navigation.top",
    ],
}  # fmt: skip


def pages(work: Path) -> list[Page]:
    """Return the pages; see `benchmarks.corpus`."""
    found = []
    for name, version in PROJECTS.items():
        docs = sdist(name, version, work) / "docs"
        for path in docs.rglob("*.md"):  # a hook of Hatch's own would make tabs of these
            source = path.read_text(encoding="utf-8")
            path.write_text(_HOOKED.sub(r"\1", source), encoding="utf-8")
        site = Site(name, docs, "material", work.resolve() / f"{name}-site", theme_options=OPTIONS)
        found += pages_of_markdown(site)
    return chosen(found)
