"""Docusaurus, preset classic: Fastify's guides and reference, Markdown in the npm package.

Needs Node.js 20 or later with npm, and about 3 GB of memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpora_markdown import Source, fastify_docs, write_all
from benchmarks.corpus import Page
from benchmarks.gold_markdown import gold_of_markdown
from benchmarks.sources import chosen, run
from benchmarks.tools import node_modules

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "docusaurus"
UNSEEN = False
_PACKAGES = (
    "@docusaurus/core@3.10.2", "@docusaurus/preset-classic@3.10.2", "react@19", "react-dom@19",
)  # fmt: skip
_CONFIG = """module.exports = {
  title: 'Fastify', url: 'https://docs.test', baseUrl: '/', trailingSlash: true,
  onBrokenLinks: 'ignore', onBrokenAnchors: 'ignore',
  markdown: {
    format: 'md', hooks: { onBrokenMarkdownLinks: 'ignore', onBrokenMarkdownImages: 'ignore' },
  },
  presets: [['@docusaurus/preset-classic', {
    docs: { routeBasePath: '/', editUrl: 'https://docs.test/edit/' }, blog: false, pages: false,
  }]],
  themeConfig: {
    navbar: { title: 'Fastify', items: [
      { type: 'docsVersionDropdown' }, { to: '/Guides/Getting-Started', label: 'Guides' },
    ] },
    footer: { copyright: 'Copyright Fastify', links: [
      { title: 'Docs', items: [{ label: 'Server', to: '/Reference/Server' }] },
    ] },
  },
}
"""


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    sources = [s for s in fastify_docs(work) if not s.path.lower().endswith("index.md")]
    if not (work / "out").is_dir():
        node = node_modules(work, *_PACKAGES)
        site = node / "site"
        write_all(sources, site / "docs", Source.titled)
        (site / "docusaurus.config.js").write_text(_CONFIG, encoding="utf-8")
        (site / "package.json").write_text("{}\n", encoding="utf-8")
        run(["npx", "docusaurus", "build", "site", "--out-dir", "../out"], node)
        (node / "out").rename(work / "out")
    return chosen([_page(source, work) for source in sources])


def _page(source: Source, work: Path) -> Page:
    name = source.path.removesuffix(".md")
    html = (work / "out" / name / "index.html").read_bytes()
    return Page(f"https://docs.test/{name}/", html, gold_of_markdown(source.titled()))
