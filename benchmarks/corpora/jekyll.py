"""Jekyll with the theme minima: undici's API reference, Markdown in the npm package.

Needs a Debian machine with the packages `jekyll` and `jekyll-theme-minima`, and npm. (The theme
just-the-docs is in no package registry that was at hand.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpora_markdown import Source, undici_docs, write_all
from benchmarks.corpus import Page
from benchmarks.gold_markdown import gold_of_markdown
from benchmarks.sources import chosen, run
from benchmarks.tools import need

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "jekyll"
UNSEEN = False
_CONFIG = """
title: undici
description: HTTP/1.1 client
theme: minima
markdown: kramdown
kramdown: {input: GFM}
defaults:
  - scope: {path: ""}
    values: {layout: page, render_with_liquid: false}
"""


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    need(jekyll="Debian: jekyll, jekyll-theme-minima", npm="Node.js 20 or later")
    sources = undici_docs(work)
    if not (work / "out").is_dir():
        site = work / "site"
        write_all(sources, site, Source.with_front_matter)
        (site / "_config.yml").write_text(_CONFIG, encoding="utf-8")
        run(["jekyll", "build", "--quiet", "--source", site, "--destination", work / "part"], work)
        (work / "part").rename(work / "out")
    return chosen([_page(source, work) for source in sources])


def _page(source: Source, work: Path) -> Page:
    name = source.path.removesuffix(".md") + ".html"
    html = (work / "out" / name).read_bytes()
    return Page(f"https://docs.test/{name}", html, gold_of_markdown(source.titled()))
