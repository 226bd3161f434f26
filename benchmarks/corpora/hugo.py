"""Hugo: its own documentation and theme, as they come in Debian's source package `hugo`.

Needs a Debian machine with the package `hugo`. (The theme docsy is in no package registry that
was at hand; this theme is not known to the extractor.) Only pages without shortcodes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.gold_markdown import FRONT_MATTER, gold_of_markdown
from benchmarks.sources import chosen, run
from benchmarks.tools import debian_source, need

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.page_text import Element

FAMILY = "hugo"
UNSEEN = False
_FIELD = re.compile(r"^(title|description): *(.+)$", re.MULTILINE)
_SKIPPED = ("news", "showcase", "commands", "_")
_DROP = (".header-link", "button", ".copy", ".needs-js", ".lnt")
_MAIN = ".documentation-copy > header > h1, .documentation-copy > aside, .prose"


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    need(hugo="Debian: hugo")
    docs = debian_source("hugo", work) / "docs"
    if not (work / "out").is_dir():
        run(["hugo", "--quiet", "--enableGitInfo=false", "-d", work / "part"], docs)
        (work / "part").rename(work / "out")
    content = docs / "content" / "en"
    found = []
    for path in sorted(content.rglob("*.md")):
        name = path.relative_to(content).with_suffix("").as_posix()
        built = work / "out" / name.removesuffix("/index") / "index.html"
        if not name.startswith(_SKIPPED) and path.name != "_index.md" and built.is_file():
            found += _page(path, name.removesuffix("/index"), built)
    return chosen(found)


def _is_row(row: Element) -> bool:
    """Tell whether it is one of a table, not the layout of code with line numbers."""
    return row.find(".//pre") is None


def _page(path: Path, name: str, built: Path) -> list[Page]:
    source, html = path.read_text(encoding="utf-8"), built.read_bytes()
    front = FRONT_MATTER.match(source)
    gold = None
    if "{{" in source or front is None:
        gold = gold_of_elements(html, _MAIN, drop=_DROP, is_row=_is_row)
    else:
        fields = {key: value.strip("\"' ") for key, value in _FIELD.findall(front[1])}
        gold = gold_of_markdown(source, title=fields.get("title", ""))
        gold.text[1:1] = filter(None, [fields.get("description")])
    return [Page(f"https://docs.test/{name}/", html, gold)] if gold else []
