"""Gold from a theme's own main element, by selectors that a corpus gives by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpus import Gold
from benchmarks.page_text import Element, parse, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from lxml import etree

_TITLES = ("h1", "h2", "h3", "h4", "h5", "h6")
_BOXES = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main",
    "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead",
    "tr", "ul", *_TITLES,
})  # fmt: skip


def gold_of_elements(
    body: bytes,
    main: str,
    *,
    drop: Iterable[str] = (),
    code: str = "pre",
    signatures: str = "",
    is_signature: Callable[[Element], bool] = lambda el: True,
    is_row: Callable[[Element], bool] = lambda row: row.find(".//table") is None,
) -> Gold | None:
    """Return the gold of a page in UTF-8, None if it has no main element.

    ``main`` are CSS selectors of the parts of the main content, ``drop`` of what
    in them the theme put there.
    """
    root = parse(body)
    for selector in drop:
        for el in root.cssselect(selector):
            el.drop_tree()
    parts = root.cssselect(main)
    if not parts:
        return None
    gold = Gold([])
    for part in parts:
        gold.text += block_texts(part)
        signed = set(filter(is_signature, part.cssselect(signatures))) if signatures else set()
        gold.headings += [line_of(el) for el in part.iter(*_TITLES) if el not in signed]
        gold.signatures += [line_of(el) for el in part.iter() if el in signed]
        blocks = set(part.cssselect(code)) - signed
        gold.code += [
            code_of(el)
            for el in part.iter()
            if el in blocks and blocks.isdisjoint(el.iterancestors())
        ]
        gold.rows += [
            [line_of(cell) for cell in row if cell.tag in {"td", "th"}]
            for row in part.iter("tr")
            if is_row(row)
        ]
    return gold


def code_of(el: Element) -> str:
    """Return the text of a code block verbatim."""
    for line_break in el.iter("br", "div"):  # rustdoc puts attributes into a div
        line_break.tail = "\n" + (line_break.tail or "")
    return str(el.text_content())


def line_of(el: Element) -> str:
    return " ".join(text_of(el).split())


def block_texts(part: etree._Element, boxes: Container[str] = _BOXES) -> list[str]:
    """Return the texts in an element, parted where one of the ``boxes`` starts or ends."""
    texts: list[list[str]] = [[]]
    stack: list[tuple[bool, etree._Element]] = [(True, part)]
    while stack:
        starts, el = stack.pop()
        if el.tag in boxes:
            texts.append([])
        elif el.tag == "br":
            texts[-1].append(" ")
        silent = not isinstance(el.tag, str) or el.tag in {"script", "style", "template", "svg"}
        if starts:
            texts[-1].append("" if silent else (el.get("alt") or el.text or ""))
            stack.append((False, el))
            stack.extend((True, child) for child in reversed(() if silent else el))
        elif el is not part:
            texts[-1].append(el.tail or "")
    return list(filter(None, (" ".join("".join(text).split()) for text in texts)))
