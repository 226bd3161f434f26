"""VitePress: npm's own documentation, Markdown that comes inside the npm package.

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

FAMILY = "vitepress"
UNSEEN = False
_CONFIG = """export default {
  title: 'npm', description: 'npm', ignoreDeadLinks: true,
  themeConfig: {
    nav: [{ text: 'Commands', link: '/commands/npm' }],
    sidebar: [{ text: 'Commands', items: [
      { text: 'install', link: '/commands/npm-install' }, { text: 'ci', link: '/commands/npm-ci' },
    ] }],
    editLink: { pattern: 'https://docs.test/edit/:path' },
    footer: { message: 'Released under the Artistic License.', copyright: 'Copyright npm' },
  },
}
"""


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    sources = npm_docs(work)
    if not (work / "out").is_dir():
        node = node_modules(work, "vitepress@1.6.4")
        write_all(sources, node / "site", Source.titled)
        (node / "site" / ".vitepress").mkdir()
        (node / "site" / ".vitepress" / "config.mjs").write_text(_CONFIG, encoding="utf-8")
        run(["npx", "vitepress", "build", "site", "--outDir", "out"], node)
        (node / "out").rename(work / "out")
    return chosen([_page(source, work) for source in sources])


def _page(source: Source, work: Path) -> Page:
    html = (work / "out" / source.path).with_suffix(".html").read_bytes()
    url = f"https://docs.test/{source.path.removesuffix('.md')}.html"
    return Page(url, html, gold_of_markdown(source.titled()))
