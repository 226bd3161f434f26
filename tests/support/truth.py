"""What is true of a docs tree, read from its files without freshcrawl's own code."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import lxml.html

if TYPE_CHECKING:
    from collections.abc import Iterable

MAIN = "#docs-body, div.document, [role=main], main, article"
NOT_TEXT = ".headerlink, .viewcode-link, script, style"
GENERATED = frozenset({"genindex.html", "search.html", "py-modindex.html"})
"""Pages that Sphinx makes of links or of nothing: no content of their own."""


def main_text(page: Path) -> str:
    """Return the words of a page's main element, joined by single spaces."""
    tree = lxml.html.document_fromstring(page.read_bytes())
    found = tree.cssselect(MAIN)
    if not found:
        return ""
    for element in found[0].cssselect(NOT_TEXT):
        element.drop_tree()
    return " ".join(found[0].text_content().split())


def texts(tree: Path) -> dict[str, str]:
    """Return main text by relative path for every page with content."""
    pages = {path.relative_to(tree).as_posix(): path for path in sorted(tree.rglob("*.html"))}
    found = {name: main_text(path) for name, path in pages.items() if name not in GENERATED}
    return {name: text for name, text in found.items() if text}


def differences(before: Path, after: Path) -> tuple[set[str], set[str], set[str]]:
    """Return the pages that are new, changed and removed from one tree to the next."""
    old, new = texts(before), texts(after)
    changed = {name for name in old.keys() & new.keys() if old[name] != new[name]}
    return new.keys() - old.keys(), changed, old.keys() - new.keys()


def without(tree: Path, to: Path, names: Iterable[str]) -> Path:
    """Copy a tree, leaving out some pages or folders."""
    left_out = {tree / name for name in names}
    assert all(path.exists() for path in left_out), "named what is not there"

    def ignored(folder: str, entries: list[str]) -> list[str]:
        return [entry for entry in entries if Path(folder) / entry in left_out]

    return Path(shutil.copytree(tree, to, ignore=ignored))
