"""Where each documentation generator puts its main content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from freshcrawl.extract.dom import Element, classes, tag_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TAGS = ("html", "body", "main", "article", "section", "div", "td", "h1", "h2")
_PART = re.compile(r"([#.])([\w-]+)|\[([\w-]+)=([^\]]+)\]")
_GENERIC_MIN = 60
"""Characters that a generic selector must find; a generator's own is trusted."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How one generator marks its main content.

    Selectors are compound ones only (``tag#id.class[name=value]``, several
    parted by commas), so that one pass over the page answers all of them.
    """

    name: str
    main: tuple[str, ...]
    """Selectors of the main element, best first."""
    when: str = ""
    """The rule holds only if one of these is on the page, or ``generator`` fits."""
    generator: str = ""
    """Start of ``meta name=generator``, lower case."""
    also: str = ""
    """Further parts of the main content."""
    title: str = ""
    """Where the title is if not in the main element."""
    noise: frozenset[str] = frozenset()
    """Class tokens that are no content here, though they may be elsewhere."""
    generic: bool = False
    dated: bool = False
    """Lines about the build may begin or end the main content, without a mark of their own."""


_DOCBOOK = ", ".join(
    f"div.{name}"
    for name in (
        "sect1", "sect2", "section", "chapter", "refentry", "book", "part", "preface", "appendix",
        "article", "reference", "glossary", "bibliography", "index", "legalnotice", "set", "toc",
    )
)  # fmt: skip

RULES = (
    Rule("sphinx-docs-body", ("div#docs-body",)),  # SQLAlchemy, Mako
    Rule("sphinx-furo", ("article#furo-main-content",)),
    Rule("sphinx-pydata", ("article.bd-article", "div.bd-search-container", "main#main-content"),
         when="article.bd-article, main.bd-main, main.bd-content"),
    Rule("sphinx-rtd", ("div[itemprop=articleBody]", "div.document[role=main]"),
         when="div.rst-content"),
    Rule("sphinx-basic", ("div.body[role=main]", "div.body"),
         when="div.documentwrapper, div.bodywrapper, div.sphinxsidebar"),
    Rule("sphinx-django", ("div#yui-main", "article#docs-content"), when="div#bd, #docs-content"),
    Rule("mkdocs-material", ("article.md-content__inner, div.md-content__inner",)),
    Rule("mkdocs", ("div.col-md-9[role=main]",)),
    Rule("docusaurus", ("div.theme-doc-markdown", "article", "main"), generator="docusaurus"),
    Rule("docusaurus", ("div.theme-doc-markdown",)),
    Rule("vitepress", ("div.vp-doc", "div.VPContent", "div.VPHome"),
         when="div.vp-doc, div.VPContent"),
    Rule("vuepress", ("div.theme-default-content", "div.theme-hope-content", "main.vp-page")),
    Rule("starlight", ("div.sl-markdown-content",)),
    Rule("hugo-docsy", ("div.td-content",), dated=True),
    Rule("hugo", ("article.gdoc-markdown", "div#body-inner", "article.book-article"),
         generator="hugo"),
    Rule("mdbook", ("main",), when="div.page-wrapper, div#page-wrapper, div#mdbook-content"),
    Rule("rustdoc", ("section#main-content",), when="body.rustdoc"),
    Rule("rustdoc", ("section#main-content",), generator="rustdoc"),
    Rule("javadoc", ("div.contentContainer", "main"), generator="javadoc",
         when="div.flex-box, div.flex-content, div.contentContainer",
         title="h1.title, h2.title"),
    Rule("doxygen", ("div.contents",), generator="doxygen", when="div#doc-content",
         title="div.title", noise=frozenset({"arrow", "icona", "levels"})),
    Rule("antora", ("article.doc",)),
    Rule("asciidoctor", ("div#content",), generator="asciidoc", also="div#header, div#footnotes",
         noise=frozenset({"details"})),
    Rule("docbook", ("div#docContent", _DOCBOOK), generator="docbook",
         when="div.navheader, div.navfooter, div#docContent"),
    Rule("texinfo", ("body",), generator="gnu texinfo", noise=frozenset({"header", "nav-panel"})),
    Rule("texinfo", ("body",), generator="makeinfo", noise=frozenset({"header", "node"})),
    Rule("nodejs", ("div#apicontent",)),
    Rule("httpd", ("div#page-content",)),
    Rule("docutils", ("div.document", "main"), generator="docutils"),
    Rule("docutils", ("div.document",)),
    Rule("just-the-docs", ("div.main-content",), when="div.main-content-wrap, body.jtd"),
    Rule("jekyll", ("section.page__content", "div.post-content", "div.page-content article"),
         when="div.post-content, section.page__content"),
    Rule("exdoc", ("div.content-inner",)),
    Rule("typedoc", ("div.col-content",)),
    Rule("pkgsite", ("div.UnitDetails",)),
    Rule("mediawiki", ("div.mw-parser-output",)),
    Rule("markdown-body", ("article.markdown-body",)),
    Rule("html5", ("main", "[role=main]", "article", "div#main-content", "div#content"),
         generic=True, dated=True),
)  # fmt: skip
BODY = Rule("body", ("body",), generic=True, dated=True)


@dataclass(frozen=True, slots=True)
class _Compound:
    tag: str
    attributes: tuple[tuple[str, str], ...]
    tokens: frozenset[str]

    def matches(self, el: Element) -> bool:
        return (
            (not self.tag or el.tag == self.tag)
            and all(el.get(name) == value for name, value in self.attributes)
            and (not self.tokens or self.tokens.issubset(classes(el)))
        )


@lru_cache(maxsize=512)
def _compounds(selector: str) -> tuple[_Compound, ...]:
    found = []
    for part in filter(None, map(str.strip, selector.split(","))):
        marks = _PART.findall(part)
        attributes = [("id", name) for mark, name, _, _ in marks if mark == "#"]
        attributes += [(name, value) for _, _, name, value in marks if name]
        tokens = frozenset(name for mark, name, _, _ in marks if mark == ".")
        found.append(_Compound(re.split(r"[#.\[]", part)[0], tuple(attributes), tokens))
    return tuple(found)


def find_main(root: Element) -> tuple[Element | None, Rule]:
    """Return the main element of a page and the rule that found it."""
    places = list(root.iter(*_TAGS))
    generator = _generator(root)
    for rule in RULES:
        if _holds(rule, places, generator):
            for selector in rule.main:
                for el in _matches(selector, places):
                    if not rule.generic or _is_enough(el, selector, places):
                        return el, rule
    return next((el for el in places if el.tag == "body"), None), BODY


def find_also(root: Element, rule: Rule) -> list[Element]:
    """Return the elements that the rule names as further parts of the main content."""
    return list(_matches(rule.also, list(root.iter(*_TAGS)))) if rule.also else []


def find_title(root: Element, rule: Rule) -> Element | None:
    """Return the element that the rule names as title."""
    return next(_matches(rule.title, list(root.iter(*_TAGS))), None) if rule.title else None


def _generator(root: Element) -> str:
    metas = root.iter("meta")
    named = (
        el.get("content") or "" for el in metas if (el.get("name") or "").lower() == "generator"
    )
    return next(named, "").strip().lower()


def _holds(rule: Rule, places: Sequence[Element], generator: str) -> bool:
    if not (rule.when or rule.generator):
        return True
    if rule.generator and generator.startswith(rule.generator):
        return True
    return next(_matches(rule.when, places), None) is not None


def _matches(selector: str, places: Sequence[Element]) -> Iterator[Element]:
    wanted = _compounds(selector)
    return (el for el in places if any(compound.matches(el) for compound in wanted))


def _is_enough(el: Element, selector: str, places: Sequence[Element]) -> bool:
    """Tell whether a generic main element is one: enough text, and not one of many articles."""
    if selector == "article" and sum(tag_of(place) == "article" for place in places) > 1:
        return False
    return len(text_of(el)) >= _GENERIC_MIN
