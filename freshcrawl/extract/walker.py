"""The walk over the main content: which element makes which block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.extract import admonitions, signatures, tables
from freshcrawl.extract.blocks import DEPTH_MAX, Scope, finish, heading, strong, text_blocks
from freshcrawl.extract.code import code
from freshcrawl.extract.dom import HEADINGS, Element, classes, tag_of
from freshcrawl.extract.inline import Style, content, node
from freshcrawl.extract.lists import definitions, list_block

if TYPE_CHECKING:
    from collections.abc import Callable

    from freshcrawl.core.blocks import Block

    Handler = Callable[[Element, Scope], list[Block]]

_CARD_MAX = 300
_LAYOUT = frozenset({"div", "main", "article", "section", "body", "td"})


def blocks_of(main: Element, base: str) -> list[Block]:
    """Return the blocks of pruned main content; targets are resolved against ``base``."""
    scope = Scope(Style(base), walk, _containers(main))
    # What a theme calls its main element (sidebar, note, ...) makes no box of it.
    found = walk(main, scope) if tag_of(main) in _LAYOUT else _handle(main, scope)
    return [finish(block) for block in found]


def walk(el: Element, scope: Scope) -> list[Block]:
    """Return the blocks inside an element; inline runs become paragraphs."""
    if scope.depth > DEPTH_MAX:
        return text_blocks("".join(el.itertext()))
    blocks: list[Block] = []
    run = [el.text or ""]
    for child in el:
        if tag_of(child) in _HANDLERS or child in scope.containers:
            blocks += text_blocks("".join(run))
            blocks += _handle(child, scope)
            run = [child.tail or ""]
        else:
            run += (node(child, scope.style), child.tail or "")
    return blocks + text_blocks("".join(run))


def _handle(el: Element, scope: Scope) -> list[Block]:
    return _HANDLERS.get(tag_of(el), _container)(el, scope)


def _containers(main: Element) -> frozenset[Element]:
    """Return the elements that are inline by their tag and have a block inside."""
    found: set[Element] = set()
    for el in main.iter(*_HANDLERS):
        around = el.getparent()
        while around is not None and tag_of(around) not in _HANDLERS and around not in found:
            found.add(around)
            around = around.getparent()
    return frozenset(found)


def _container(el: Element, scope: Scope) -> list[Block]:
    if tag_of(el) == "a" and _is_card(el):
        return text_blocks(node(el, scope.style))
    if el.get("class"):
        for token in classes(el):
            if token in _BY_CLASS:
                return _BY_CLASS[token](el, scope)
        if admonitions.is_version_note(el):
            return admonitions.version_note(el, scope)
        if admonitions.is_admonition(el):
            return admonitions.admonition(el, scope)
    return walk(el, scope.deeper())


def _is_card(el: Element) -> bool:
    """Tell whether a link around blocks is short enough to stay a link."""
    if next(el.iter("pre", "table", "ul", "ol", "dl"), None) is not None:
        return False
    return bool(el.get("href")) and len("".join(el.itertext())) <= _CARD_MAX


def _heading(el: Element, scope: Scope) -> list[Block]:
    if "code-header" in classes(el):
        return signatures.rust_header(el, scope)
    return heading(el, scope)


def _pre(el: Element, scope: Scope) -> list[Block]:
    tokens = classes(el)
    if "item-decl" in tokens:
        return signatures.rust_item(el, scope)
    if "methodSignature" in tokens:
        return signatures.signature(el, scope)
    return code(el, scope)


def _rubric(el: Element, scope: Scope) -> list[Block]:
    return strong(content(el, scope.style))


def _fragment(el: Element, scope: Scope) -> list[Block]:
    """Doxygen's code; elsewhere the class means nothing."""
    lined = any("line" in classes(child) for child in el)
    return code(el, scope) if lined else walk(el, scope.deeper())


def _nothing(el: Element, scope: Scope) -> list[Block]:
    return []


_BY_CLASS: dict[str, Handler] = {
    "rubric": _rubric,
    "member-signature": signatures.signature,
    "type-signature": signatures.signature,
    "memproto": signatures.signature,
    "summary-table": tables.summary_table,
    "fragment": _fragment,
    "mermaid": code,
    "tsd-signature": signatures.typedoc,
}
_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(HEADINGS, _heading),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), list_block),
    **dict.fromkeys(("p", "div", "section", "article", "main", "header", "footer"), _container),
    **dict.fromkeys(("aside", "figure", "figcaption", "details", "address", "center"), _container),
    **dict.fromkeys(("dt", "dd", "li", "tr", "td", "th", "tbody", "nav", "body"), _container),
    **dict.fromkeys(("fieldset", "legend", "form", "hgroup", "search", "caption"), _container),
    "pre": _pre,
    "listing": code,
    "xmp": code,
    "dl": definitions,
    "table": tables.table,
    "blockquote": admonitions.blockquote,
    "summary": admonitions.summary,
    "hr": _nothing,
}
