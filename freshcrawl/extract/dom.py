"""Parsing a page and reading its elements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from lxml import etree
from w3lib.encoding import html_to_unicode

if TYPE_CHECKING:
    from collections.abc import Iterator

Element: TypeAlias = "etree._Element"

# Controls that no parser agrees on, and the non-characters that `markup` marks links with.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufdd0-\ufdd7]")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def parse(body: bytes | str) -> Element | None:
    """Return the root of a page, or None if there is nothing to parse."""
    if isinstance(body, bytes):
        body = html_to_unicode(None, body, default_encoding="utf-8")[1]
    data = _UNWANTED.sub("", body).strip().encode("utf-8", "replace")
    if not data:
        return None
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:  # a lone doctype
        return None
    # A lone comment gives no root at all.
    return root if root is not None and isinstance(root.tag, str) else None


def tag_of(el: Element) -> str:
    """Return the tag, ``""`` for a comment, processing instruction or entity."""
    return el.tag if isinstance(el.tag, str) else ""


def classes(el: Element) -> list[str]:
    """Return the class tokens of an element."""
    return (el.get("class") or "").split()


def has_class(el: Element, names: frozenset[str]) -> bool:
    """Tell whether the element has one of the class tokens."""
    value = el.get("class")
    return value is not None and not names.isdisjoint(value.split())


def text_of(el: Element) -> str:
    """Return all text in the element with white space folded."""
    return " ".join("".join(el.itertext()).split())


def remove(el: Element) -> None:
    """Take an element out of its tree; the text after it stays."""
    parent = el.getparent()
    if parent is None:
        return
    if el.tail:
        before = el.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + el.tail
        else:
            parent.text = (parent.text or "") + el.tail
    parent.remove(el)


def first(el: Element, *tags: str) -> Element | None:
    """Return the first element of one of ``tags`` below ``el``."""
    return next((found for found in el.iter(*tags) if found is not el), None)


def climb(el: Element, steps: int) -> Iterator[Element]:
    """Yield up to ``steps`` ancestors, nearest first."""
    parent = el.getparent()
    while parent is not None and steps:
        yield parent
        parent, steps = parent.getparent(), steps - 1


def events(el: Element) -> Iterator[tuple[bool, Element]]:
    """Yield ``(True, element)`` at the start and ``(False, element)`` at the end of each.

    Like ``etree.iterwalk`` with start and end events, for ``el`` and all below.
    """
    stack = [(True, el)]
    while stack:
        starts, child = stack.pop()
        yield starts, child
        if starts:
            stack.append((False, child))
            stack.extend((True, inner) for inner in reversed(child))
