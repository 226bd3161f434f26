"""Gold from Markdown, read by markdown-it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree, html
from markdown_it import MarkdownIt

from benchmarks.corpus import Gold
from benchmarks.page_text import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_ID = re.compile(r"\s*\{#[\w.-]+\}$")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def gold_of_markdown(source: str, *, title: str = "") -> Gold:
    """Return the gold of a page made of Markdown; the generator puts ``title`` before it."""
    gold = Gold([], source="Markdown")
    if title:
        gold.text.append(title)
        gold.headings.append(title)
    before = ""
    for token in _PARSER.parse(FRONT_MATTER.sub("", source)):
        if token.type == "tr_open":
            gold.rows.append([])
        elif token.type in {"fence", "code_block"}:
            gold.code.append(token.content)
            gold.text.append(token.content)
        elif token.type == "html_block":
            gold.text += _texts_of_html(token.content)
        elif token.type == "inline":
            text = _ID.sub("", "".join(_pieces(token)))
            if before in {"th_open", "td_open"}:
                gold.rows[-1].append(text)
            elif before == "heading_open":
                gold.headings.append(text)
            gold.text.append(text)
        before = token.type
    return gold


def _pieces(token: Token) -> Iterator[str]:
    for child in token.children or ():
        if child.type in {"softbreak", "hardbreak"}:
            yield " "
        elif child.type == "image":
            yield "".join(_pieces(child))
        elif child.type == "html_inline":
            yield " " if _BREAK.fullmatch(child.content) else ""
        else:
            yield child.content


def _texts_of_html(source: str) -> list[str]:
    try:
        root = html.fragment_fromstring(source, create_parent="div")
    except etree.ParserError:
        return []
    for comment in root.iter(etree.Comment):
        comment.text = ""
    return list(filter(None, map(str.strip, text_of(root).split("\n"))))
