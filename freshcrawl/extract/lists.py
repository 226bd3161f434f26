"""Lists and definition lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.blocks import Block
from freshcrawl.extract import markup
from freshcrawl.extract.blocks import DEPTH_MAX, joined, own_anchor, strong
from freshcrawl.extract.dom import HEADINGS, Element, first, has_class, tag_of
from freshcrawl.extract.inline import content, plain
from freshcrawl.extract.signatures import is_signature_term, rejoin, signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.extract.blocks import Scope

_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_CLASSIFIER = frozenset({"classifier"})


def list_block(el: Element, scope: Scope) -> list[Block]:
    """Return a list with all that it holds as one block.

    A list that lays out sections (headings or signatures in its items) is
    walked through instead.
    """
    if scope.depth > DEPTH_MAX or _lays_out(el):
        return scope.walk(el, scope.deeper())
    number, lines = _start(el), list[str]()
    for child in filter(tag_of, el):
        if tag_of(child) in _LISTS:  # a list straight in a list belongs to the item before
            lines += ["  " + markup.indent(block.text, "  ") for block in _inner(child, scope)]
            continue
        marker = f"{number}. " if tag_of(el) == "ol" else "- "
        number += tag_of(child) == "li"
        if text := joined(scope.walk(child, scope.deeper())):
            lines.append(marker + markup.indent(text, " " * len(marker)))
    return [Block("list", "\n".join(lines))] if lines else []


def _inner(el: Element, scope: Scope) -> list[Block]:
    return list_block(el, scope.deeper())


def _lays_out(el: Element) -> bool:
    if first(el, *HEADINGS) is not None or "tsd-signatures" in (el.get("class") or ""):
        return True
    return any(map(is_signature_term, el.iter("dt")))


def _start(el: Element) -> int:
    start = el.get("start") or ""
    return int(start) if start.isdecimal() and len(start) < 8 else 1


def definitions(el: Element, scope: Scope) -> list[Block]:
    """Return a ``dl``: signatures or bold terms, each followed by its body's blocks."""
    blocks: list[Block] = []
    inner = 0  # 1 while bodies belong to a signature
    glossary = "glossary" in (el.get("class") or "")
    for term in list(filter(is_signature_term, el.iter("dt"))):
        rejoin(term)
    for child in _entries(el):
        if tag_of(child) != "dt":
            blocks += scope.walk(child, scope.deeper(signatures=inner))
        elif is_signature_term(child):
            inner = 1
            blocks += signature(child, scope)
        else:
            inner = 0
            blocks += _term(child, scope, glossary=glossary)
    return blocks


def _entries(el: Element) -> Iterator[Element]:
    """Yield terms and bodies, also those grouped by a ``div``."""
    for child in filter(tag_of, el):
        if tag_of(child) == "div" and any(tag_of(inner) == "dt" for inner in child):
            yield from filter(tag_of, child)
        else:
            yield child


def _term(el: Element, scope: Scope, *, glossary: bool) -> list[Block]:
    if first(el, "p", "div", "pre", "ul", "table", *HEADINGS) is not None:
        return scope.walk(el, scope.deeper())
    for child in el.iter("span"):
        if has_class(child, _CLASSIFIER):  # the colon before a type is made by CSS
            child.text = f" : {child.text or ''}"
    anchor = own_anchor(el)
    title = plain(el) if glossary else ""
    return strong(content(el, scope.style), anchor=anchor, title=title)
