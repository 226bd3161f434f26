"""Doxygen: the headers of SDL 2, TinyXML-2 and Assimp, with the sources' own comments.

Needs a Debian machine with the package `doxygen`; the headers are those of Debian's -dev
packages, which are downloaded and not installed. The gold is the page's title and contents
without the header links, collapse marks and list of directories that Doxygen puts in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.sources import chosen, run
from benchmarks.tools import debian, need

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.page_text import Element

FAMILY = "doxygen"
UNSEEN = False
_PACKAGES = ("libsdl2-dev", "libtinyxml2-dev", "libassimp-dev")
_CONFIG = """
PROJECT_NAME = Headers
PROJECT_NUMBER = 2.0
OUTPUT_DIRECTORY = {out}
INPUT = {inputs}
FILE_PATTERNS = *.h
RECURSIVE = YES
EXTRACT_ALL = YES
GENERATE_LATEX = NO
GENERATE_TREEVIEW = YES
SOURCE_BROWSER = NO
HAVE_DOT = NO
QUIET = YES
WARNINGS = NO
PREDEFINED = SDLCALL= DECLSPEC= SDL_FORCE_INLINE=
"""
_DROP = (
    ".dynheader", ".dyncontent", ".ttc", ".lineno", ".permalink", ".copyright",
    "div.summary", "img", ".arrow",
    ".icona", ".levels",
)  # fmt: skip


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    need(doxygen="Debian: doxygen")
    inputs = [debian(package, work) / "usr" / "include" for package in _PACKAGES]
    out = work / "out"
    if not out.is_dir():
        (work / "part").mkdir(exist_ok=True)
        config = _CONFIG.format(out=work / "part", inputs=" ".join(map(str, inputs)))
        (work / "Doxyfile").write_text(config, encoding="utf-8")
        run(["doxygen", work / "Doxyfile"], work)
        (work / "part").rename(out)
    found = []
    for path in sorted((out / "html").glob("*.html")):
        if path.name.startswith(("class", "struct", "SDL", "group__", "namespacea", "union")):
            html = path.read_bytes()
            gold = gold_of_elements(
                html, "div.header div.title, div.contents", drop=_DROP,
                code="div.fragment, pre.fragment", signatures="div.memproto", is_row=_is_row,
            )  # fmt: skip
            if gold is not None and "_source" not in path.name and "-members" not in path.name:
                found.append(Page(f"https://docs.test/{path.name}", html, gold))
    return chosen(found)


def _is_row(row: Element) -> bool:
    return row.xpath("boolean(ancestor::table[contains(@class, 'doxtable')])") is True
