"""VuePress 2 with its default theme: npm's own documentation, Markdown in the npm package.

Needs Node.js 20 or later with npm.
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

FAMILY = "vuepress"
UNSEEN = False
_PACKAGES = (
    "vuepress@2.0.0-rc.20", "@vuepress/bundler-vite@2.0.0-rc.20",
    "@vuepress/theme-default@2.0.0-rc.79", "vue@3", "sass-embedded@1",
)  # fmt: skip
_CONFIG = """import { viteBundler } from '@vuepress/bundler-vite'
import { defaultTheme } from '@vuepress/theme-default'
export default { lang: 'en-US', title: 'npm', bundler: viteBundler(), theme: defaultTheme({
  repo: 'npm/cli', docsRepo: 'https://docs.test/npm', navbar: ['/commands/npm-ci.html'],
  sidebar: ['/commands/npm-access.md', '/commands/npm-audit.md'],
}) }
"""


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    sources = npm_docs(work)
    if not (work / "out").is_dir():
        node = node_modules(work, *_PACKAGES)
        write_all(sources, node / "site", Source.titled)
        (node / "site" / ".vuepress").mkdir()
        (node / "site" / ".vuepress" / "config.js").write_text(_CONFIG, encoding="utf-8")
        run(["npx", "vuepress", "build", "site", "--dest", "out"], node)
        (node / "out").rename(work / "out")
    return chosen([_page(source, work) for source in sources])


def _page(source: Source, work: Path) -> Page:
    html = (work / "out" / source.path).with_suffix(".html").read_bytes()
    url = f"https://docs.test/{source.path.removesuffix('.md')}.html"
    return Page(url, html, gold_of_markdown(source.titled()))
