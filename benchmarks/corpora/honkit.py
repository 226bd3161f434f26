"""HonKit (GitBook's successor): npm's own documentation, Markdown inside the npm package.

Needs Node.js 20 or later with npm. Nobody looked at its pages or scores while tuning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpora_markdown import Source, npm_docs, write_all
from benchmarks.corpus import Page
from benchmarks.gold_markdown import gold_of_markdown
from benchmarks.sources import chosen, run
from benchmarks.tools import node_modules

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "honkit"
UNSEEN = True
_TEMPLATE = ("{{", "{%", "{#")


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    sources = [s for s in npm_docs(work) if not any(mark in s.text for mark in _TEMPLATE)]
    if not (work / "out").is_dir():
        node = node_modules(work, "honkit@6.1.7")
        site = node / "site"
        write_all(sources, site, Source.titled)
        entries = "".join(f"* [{source.title}]({source.path})\n" for source in sources)
        (site / "SUMMARY.md").write_text(f"# Summary\n\n{entries}", encoding="utf-8")
        (site / "README.md").write_text("# npm\n\nDocumentation of npm.\n", encoding="utf-8")
        run(["npx", "honkit", "build", "site", "out"], node)
        (site / "out").rename(work / "out")
    return chosen([_page(source, work) for source in sources])


def _page(source: Source, work: Path) -> Page:
    html = (work / "out" / source.path).with_suffix(".html").read_bytes()
    url = f"https://docs.test/{source.path.removesuffix('.md')}.html"
    return Page(url, html, gold_of_markdown(source.titled()))
