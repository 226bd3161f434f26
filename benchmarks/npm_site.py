"""npm's own documentation, built by a generator that makes one HTML file of each Markdown file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpora_markdown import Source, npm_docs, write_all
from benchmarks.corpus import Page
from benchmarks.gold_markdown import gold_of_markdown
from benchmarks.sources import chosen, run
from benchmarks.tools import node_modules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def npm_pages(
    work: Path, packages: Sequence[str], config: tuple[str, str], build: Sequence[str]
) -> list[Page]:
    """Return the pages, built the first time.

    ``config`` is the path (below ``site``, where the Markdown is) and the text of the
    generator's configuration; ``build`` is the command that makes ``out`` of ``site``.
    """
    sources = npm_docs(work)
    if not (work / "out").is_dir():
        node = node_modules(work, *packages)
        write_all(sources, node / "site", Source.titled)
        place = node / "site" / config[0]
        place.parent.mkdir()
        place.write_text(config[1], encoding="utf-8")
        run(build, node)
        (node / "out").rename(work / "out")
    return chosen([_page(source, work) for source in sources])


def _page(source: Source, work: Path) -> Page:
    html = (work / "out" / source.path).with_suffix(".html").read_bytes()
    url = f"https://docs.test/{source.path.removesuffix('.md')}.html"
    return Page(url, html, gold_of_markdown(source.titled()))
