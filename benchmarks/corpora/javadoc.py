"""Javadoc (JDK 17): Apache Commons Lang, from Debian's source package.

Needs a Debian machine and a JDK's `javadoc`. The gold is the page's own main element without
the headers, tabs and empty filler that the doclet puts in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Page
from benchmarks.gold_element import gold_of_elements
from benchmarks.sources import chosen, run
from benchmarks.tools import debian_source, need

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "javadoc"
UNSEEN = False
_DROP = (".table-tabs", "button", ".external-link-icon")
_SIGNATURES = ".member-signature, .type-signature"


def pages(work: Path) -> list[Page]:
    """Return the pages, built the first time."""
    need(javadoc="Debian: openjdk-17-jdk-headless")
    out = work / "out"
    if not out.is_dir():
        source = debian_source("libcommons-lang3-java", work) / "src" / "main" / "java"
        command = ["javadoc", "-quiet", "-Xdoclint:none", "-encoding", "UTF-8", "-d", work / "part"]
        run([*command, "-sourcepath", source, "-subpackages", "org.apache.commons.lang3"], work)
        (work / "part").rename(out)
    found = []
    for path in sorted((out / "org").rglob("[A-Z]*.html")):
        if "class-use" not in path.parts:
            html = path.read_bytes()
            gold = gold_of_elements(html, "main", drop=_DROP, signatures=_SIGNATURES)
            if gold is not None:
                found.append(Page(f"https://docs.test/{path.relative_to(out)}", html, gold))
    return chosen(found)
