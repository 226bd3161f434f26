"""Themes of real documentation: where their main text is, by hand and by other code than ours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selectolax.lexbor import LexborNode

TOKEN = re.compile(r"\w+|[^\w\s]")
BUILD_FACT = re.compile(
    r"last (?:updated|generated|modified|built)|generated on|created using|copyright|©", re.I
)
"""A line of the main element that tells of the build; only its digits may differ unseen."""
PERMALINKS = ("a.headerlink", "a.paramlink", "a.viewcode-link", "a.viewcode-back")


@dataclass(frozen=True, slots=True)
class Theme:
    """One theme, with CSS selectors that were chosen by looking at its pages."""

    name: str
    main: str
    """The main element."""
    chrome: tuple[str, ...] = PERMALINKS
    """What in the main element is the theme's own."""
    facts: tuple[str, ...] = ()
    """Where the theme itself writes of version, build and copyright."""


THEMES = {
    "sqlalchemy": Theme(
        "Sphinx, zzzeeksphinx",
        "div#docs-body",
        facts=("#docs-version-header", "#docs-copyright", "#docs-header"),
    ),
    "mako": Theme(
        "Sphinx, zzzeeksphinx (old)", "div#docs-body", facts=("#docs-copyright", "#docs-header")
    ),
    "alembic": Theme(
        "Sphinx, book theme",
        "article.bd-article",
        facts=("p.copyright", "footer.bd-footer-content", ".navbar-brand"),
    ),
    "lxml": Theme(
        "docutils",
        "div.document",
        (*PERMALINKS, "div.sidemenu", "div.banner"),
        ("div.footer",),
    ),
    "npm": Theme(
        "npm's own",
        "section#content",
        ("section#table_of_contents", "footer#edit", "header .version"),
        ("header .version",),
    ),
    "python": Theme(
        "Sphinx, python-docs-theme", "div.body[role=main]", facts=("div.footer", "div.related")
    ),
    "postgresql": Theme(
        "DocBook",
        "div.sect1, div.refentry, div.chapter, div.part, div.book, div.appendix, div.preface, "
        "div.bibliography, div.index, div.reference",
        facts=("div.navfooter", "div.navheader"),
    ),
    "git": Theme("AsciiDoc", "div#content", facts=("div#footer",)),
}


@dataclass(frozen=True, slots=True)
class Truth:
    """Digests of what a page says: its words and punctuation."""

    exact: str
    masked: str
    """The same with digits masked on lines that tell of the build."""
    unordered: str
    """The same in no order."""


def main_of(tree: LexborHTMLParser, theme: Theme) -> LexborNode | None:
    """Return the main element without what is the theme's own; changes ``tree``."""
    main = tree.css_first(theme.main)
    if main is not None:
        for selector in ("script", "style", "button", *theme.chrome):
            for node in main.css(selector):
                node.decompose()
    return main


def truth(html: str, theme: Theme) -> Truth | None:
    """Return the words and punctuation of the main text, None where there is no main element."""
    main = main_of(LexborHTMLParser(html), theme)
    if main is None:
        return None
    lines = main.text(separator="").splitlines()
    masked = (re.sub(r"\d+", "0", line) if BUILD_FACT.search(line) else line for line in lines)
    exact = TOKEN.findall("\n".join(lines))
    return Truth(digest(exact), digest(TOKEN.findall("\n".join(masked))), digest(sorted(exact)))


def digest(tokens: Iterable[str]) -> str:
    """Return the sha256 (hex) of a sequence of tokens."""
    return sha256("\n".join(tokens).encode("utf-8", "replace")).hexdigest()


def full_text(html: str) -> str:
    """Return the words of the whole page, navigation and all."""
    body = LexborHTMLParser(html).body
    if body is None:
        return ""
    for selector in ("script", "style"):
        for node in body.css(selector):
            node.decompose()
    return " ".join(body.text(separator=" ").split())
