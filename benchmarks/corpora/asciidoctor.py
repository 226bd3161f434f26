"""Asciidoctor's own HTML, with its table of contents and section anchors: Git's manual pages.

Needs a Debian machine with the package `asciidoctor`. The AsciiDoc is that of Debian's source
package `git`; the gold is the DocBook that Asciidoctor makes of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_docbook import gold_of_docbook
from benchmarks.sources import chosen, run
from benchmarks.tools import debian_source, need

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "asciidoctor"
UNSEEN = False
_H1 = re.compile(r"<h1>(.*?)</h1>")


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    need(asciidoctor="Debian: asciidoctor")
    source = debian_source("git", work) / "Documentation"
    if not (work / "out").is_dir():
        names = [path.name for path in sorted(source.glob("git*-*.txt"))]
        for form, folder in (("docbook5", work / "docbook"), ("html5", work / "part")):
            command = [
                "asciidoctor",
                "-d",
                "manpage",
                "-b",
                form,
                "-a",
                "compat-mode",
                "-D",
                folder,
            ]
            command += ["-a", "toc", "-a", "sectanchors", "-I", source]
            run([*command, "-r", "asciidoctor-extensions.rb", *names], source)
        (work / "part").rename(work / "out")
    return chosen([_page(path, work) for path in sorted((work / "out").glob("*.html"))])


def _page(path: Path, work: Path) -> Page:
    html = path.read_bytes()
    docbook = (work / "docbook" / f"{path.stem}.xml").read_text(encoding="utf-8")
    title = _H1.search(html.decode())
    gold = gold_of_docbook(docbook, title=title[1] if title else "")
    return Page(f"https://docs.test/{path.name}", html, gold)
