"""Starlight, Astro's theme for documentation: npm's own documentation, Markdown in its package.

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

FAMILY = "starlight"
UNSEEN = False
_PACKAGES = ("astro@4.16.19", "@astrojs/starlight@0.28.6")
_CONFIG = """import { defineConfig } from 'astro/config'
import starlight from '@astrojs/starlight'
export default defineConfig({ integrations: [starlight({
  title: 'npm', pagefind: false, editLink: { baseUrl: 'https://docs.test/edit/' },
  sidebar: [{ label: 'Commands', autogenerate: { directory: 'commands' } }],
})] })
"""
_COLLECTION = """import { defineCollection } from 'astro:content'
import { docsSchema } from '@astrojs/starlight/schema'
export const collections = { docs: defineCollection({ schema: docsSchema() }) }
"""


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    sources = npm_docs(work)
    if not (work / "out").is_dir():
        site = node_modules(work, *_PACKAGES)
        content = site / "src" / "content"
        write_all(sources, content / "docs", Source.with_front_matter)
        (content / "config.ts").write_text(_COLLECTION, encoding="utf-8")
        (site / "astro.config.mjs").write_text(_CONFIG, encoding="utf-8")
        run(["npx", "astro", "telemetry", "disable"], site)
        run(["npx", "astro", "build"], site)
        (site / "dist").rename(work / "out")
    return chosen([_page(source, work) for source in sources])


def _page(source: Source, work: Path) -> Page:
    name = source.path.removesuffix(".md").lower()
    html = (work / "out" / name / "index.html").read_bytes()
    return Page(f"https://docs.test/{name}/", html, gold_of_markdown(source.titled()))
