"""What a piece of Markdown holds, by markdown-it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import dedent

from markdown_it import MarkdownIt

_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(slots=True)
class Parts:
    """Parts of Markdown, in order."""

    headings: list[str] = field(default_factory=list)
    """Inline Markdown of the headings."""
    code: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    """Inline Markdown of the cells of tables."""


def parts_of(markdown: str) -> Parts:
    """Return the headings, code blocks and table rows of Markdown, also inside lists and quotes."""
    parts = Parts()
    tokens = _PARSER.parse(markdown)
    for before, token in pairwise(tokens):
        if token.type == "tr_open":
            parts.rows.append([])
        elif token.type == "inline" and before.type in {"td_open", "th_open"}:
            parts.rows[-1].append(token.content)
        elif token.type == "inline" and before.type == "heading_open":
            parts.headings.append(token.content)
    parts.code = [token.content for token in tokens if token.type in {"fence", "code_block"}]
    return parts


def code_lines(code: str) -> list[str]:
    """Return the lines of a code block that hold something, dedented and trimmed at the right."""
    lines = dedent(code.replace("\r\n", "\n").expandtabs(8)).split("\n")
    return [line.rstrip() for line in lines if line.strip()]
