"""Text of HTML as a reader sees it, by nothing of the product."""

from __future__ import annotations

from lxml import etree, html

Element = html.HtmlElement
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head", "title"})
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u",
    "var", "wbr",
})  # fmt: skip


def parse(body: bytes) -> Element:
    """Return the root of a page in UTF-8."""
    return html.fromstring(body, parser=html.HTMLParser(encoding="utf-8", remove_comments=True))


def text_of(el: Element) -> str:
    """Return the text in an element; blocks and line breaks are apart, images are their alt."""
    parts: list[str] = []
    _collect(el, parts)
    return "".join(parts)


def _collect(root: Element, parts: list[str]) -> None:
    stack: list[tuple[bool, Element]] = [(True, root)]
    while stack:
        starts, el = stack.pop()
        apart = "" if el.tag in _INLINE else "\n"
        if not starts:
            parts.append(apart + (el.tail or "" if el is not root else ""))
            continue
        parts.append(apart)
        if not isinstance(el.tag, str) or el.tag in _SILENT:
            stack.append((False, el))
            continue
        parts.append(el.get("alt", "") if el.tag == "img" else el.text or "")
        stack.append((False, el))
        stack.extend((True, child) for child in reversed(el))


def page_text(body: bytes) -> str:
    """Return the text of the whole page, ``""`` if it cannot be parsed."""
    try:
        root = parse(body)
    except (etree.ParserError, ValueError):
        return ""
    found = root if root.tag == "body" else root.find(".//body")
    return text_of(found if found is not None else root)
