"""From the HTML of a page to its document."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cssselect import SelectorError
from lxml.cssselect import CSSSelector

from freshcrawl.core.pages import Block, Document
from freshcrawl.extract.blocks import Scope, finish, heading
from freshcrawl.extract.dom import HEADINGS, Element, classes, climb, first, parse, remove, text_of
from freshcrawl.extract.head import base_url, page_links, read_head
from freshcrawl.extract.inline import Style, plain
from freshcrawl.extract.prune import is_page_chrome, prune
from freshcrawl.extract.selectors import Rule, find_main, find_title
from freshcrawl.extract.tabs import label_panels
from freshcrawl.extract.walker import blocks_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EXTRACTOR_VERSION = 1
"""Raised whenever the same HTML may give other blocks."""

_KEPT = Rule("keep", ())
_INDEX_CLASSES = frozenset({
    "genindextable", "genindex-jumpbox", "modindextable", "modindex-jumpbox", "genindex",
})  # fmt: skip
_INDEX_IDS = frozenset({"search-results"})
_INDEX_TITLES = frozenset({"All modules for which code is available"})
_BUILD_FACT = re.compile(
    r"[*_]*(?:page |this page was )?(?:last (?:updated|modified|edited|built|generated|changed)"
    r"|generated (?:on|by|at)|created using|built with|powered by|copyright\b|©|\(c\) ?\d{4}"
    r"|documentation (?:last )?(?:generated|built)).*",
    re.IGNORECASE | re.DOTALL,
)
_BUILD_FACT_MAX = 200


def extract(
    body: bytes | str, url: str, *, keep: Sequence[str] = (), drop: Sequence[str] = ()
) -> Document:
    """Return the main content and the head of an HTML page served at ``url``.

    ``keep`` and ``drop`` are a site's own CSS selectors: what is kept takes
    the place of the main element, what is dropped is left out. Never fails on
    odd input; a page with nothing in it gives an empty document.

    Raises:
        ValueError: a selector is not valid CSS.
    """
    document, root = Document(), parse(body)
    drops, keeps = list(map(_compiled, drop)), list(map(_compiled, keep))
    if root is None:
        return document
    base = base_url(root, url)
    read_head(root, base, document)
    document.links = page_links(root, base)
    for selector in drops:
        for el in selector(root):
            remove(el)
    mains, rule = _mains(root, keeps)
    document.generator = rule.name
    document.index_page = any(map(_is_index, mains))
    title = _title_outside(root, mains, rule, document.title)
    for main in mains:
        label_panels(main)
        prune(main, rule)
        document.blocks += blocks_of(main, base)
    _add_title(document, title, base)
    if rule.generic:
        _drop_build_facts(document.blocks)
    return document


@lru_cache(maxsize=1024)
def _compiled(selector: str) -> CSSSelector:
    try:
        return CSSSelector(selector, translator="html")
    except SelectorError as error:
        raise ValueError(f"not a CSS selector: {selector!r} ({error})") from error


def _mains(root: Element, keeps: Iterable[CSSSelector]) -> tuple[list[Element], Rule]:
    """Return the outermost kept elements in the order of the page, else the main element."""
    kept = {el for selector in keeps for el in selector(root)}
    if kept:
        outer = {el for el in kept if not any(around in kept for around in climb(el, 1000))}
        return [el for el in root.iter() if el in outer], _KEPT
    main, rule = find_main(root)
    return ([] if main is None else [main]), rule


def _is_index(main: Element) -> bool:
    """Tell whether main content is an index or a search form that the generator made."""
    title = first(main, "h1")
    if title is not None and text_of(title).rstrip("¶#") in _INDEX_TITLES:
        return True
    return any(
        el.get("id") in _INDEX_IDS or not _INDEX_CLASSES.isdisjoint(classes(el))
        for el in main.iter("div", "table", "ul", "main", "article", "section")
    )


def _title_outside(
    root: Element, mains: Sequence[Element], rule: Rule, name: str
) -> Element | None:
    """Return the page's title if it is outside of its main content.

    It is what the rule says, else the only H1 that is neither the site's (in
    its header, or a link) nor in the main content, unless that starts with the
    ``name`` that the head gives to the page.
    """
    openings = (first(main, *HEADINGS) for main in mains)
    if any(opening is not None and plain(opening).rstrip("¶#§ ") == name for opening in openings):
        return None
    if (named := find_title(root, rule)) is not None:
        return named
    titles = [el for el in root.iter("h1") if not is_page_chrome(el) and not _is_link(el)]
    if len(titles) != 1 or any(around in mains for around in climb(titles[0], 1000)):
        return None
    return titles[0]


def _is_link(el: Element) -> bool:
    inner = first(el, "a")
    away = inner is not None and not (inner.get("href") or "#").startswith("#")
    return away and inner is not None and text_of(inner) == text_of(el)


def _add_title(document: Document, title: Element | None, base: str) -> None:
    """Put the title from outside before the blocks if they have none; name the document."""
    first_title = next((b.title for b in document.blocks if b.level == 1 and b.title), "")
    if not first_title and title is not None and document.blocks:
        prune(title, _KEPT)
        scope = Scope(Style(base), walk, frozenset())
        document.blocks[:0] = [_top(block) for block in map(finish, heading(title, scope))]
        first_title = document.blocks[0].title
    document.title = first_title or document.title


def _top(block: Block) -> Block:
    block.text, block.level = f"# {block.text.lstrip('# ')}", 1
    return block


def _drop_build_facts(blocks: list[Block]) -> None:
    """Drop a line about the build from the ends of a page whose generator is not known."""
    while blocks and _is_build_fact(blocks[-1]):
        blocks.pop()
    while blocks and _is_build_fact(blocks[0]):
        del blocks[0]


def _is_build_fact(block: Block) -> bool:
    short = block.kind == "paragraph" and len(block.text) <= _BUILD_FACT_MAX
    return short and _BUILD_FACT.fullmatch(block.plain) is not None
