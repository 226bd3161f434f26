"""Code blocks: verbatim text and the language that the theme names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from freshcrawl.core.blocks import Block
from freshcrawl.extract import markup
from freshcrawl.extract.dom import Element, classes, climb, events, tag_of

if TYPE_CHECKING:
    from freshcrawl.extract.blocks import Scope

_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|highlight)-([\w+#.-]+)")
_UNNAMED = frozenset({"default", "none", "source", "plain", "plaintext", "text-plain"})
_AROUND = frozenset({"div", "td", "tr", "tbody", "table", "figure", "pre", "code", "span"})
_LINES = frozenset({"div", "p", "li", "tr", "table", "ol", "ul", "tbody"})


def code(el: Element, scope: Scope) -> list[Block]:
    """Return a ``pre`` (or what a theme uses for it) as a fenced block."""
    variants = [child for child in el if tag_of(child) == "code" and _language_named(child)]
    # Node.js puts the same example for two module systems in one `pre`.
    parts = variants if len(variants) > 1 else [el]
    codes = [(code_text(part), language_of(part)) for part in parts]
    return [Block("code", markup.fence(text, language)) for text, language in codes if text]


def code_text(el: Element) -> str:
    """Return code verbatim, without blank lines around it and spaces at line ends."""
    if any(child.tag == "br" or child.tag in _LINES for child in el.iter() if child is not el):
        text = "".join(_lines(el))
    else:
        text = "".join(el.itertext())
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    start = next((i for i, line in enumerate(lines) if line), 0)
    return "\n".join(lines[start:])


def _lines(el: Element) -> list[str]:
    """Return the pieces of code whose lines are elements or end in ``br``."""
    parts = [el.text or ""]
    for starts, child in events(el):
        if child is el:
            continue
        if tag_of(child) in _LINES and parts[-1] and not parts[-1].endswith("\n"):
            parts.append("\n")
        piece = ("\n" if child.tag == "br" else child.text) if starts else child.tail
        if piece:
            parts.append(piece)
    return parts


def language_of(el: Element) -> str:
    """Return the language of a code block, ``""`` where the theme does not say."""
    inner = next(el.iter("code"), None)
    for place in [el, *([inner] if inner is not None else []), *climb(el, 8)]:
        if tag_of(place) not in _AROUND:
            break
        if name := _language_named(place):
            return "" if name in _UNNAMED else name
    return ""


def _language_named(el: Element) -> str:
    if name := el.get("data-lang") or el.get("data-language"):
        return name if re.fullmatch(r"[\w+#.-]+", name) else ""
    tokens = classes(el)
    for token in tokens:
        if match := _LANGUAGE.fullmatch(token):
            return match[1].lower()
    if "mermaid" in tokens:
        return "mermaid"
    for marker in ("sourceCode", "brush:", "rust"):  # pandoc, SyntaxHighlighter, rustdoc
        if marker in tokens:
            after = tokens[tokens.index(marker) + 1 :]
            return "rust" if marker == "rust" else (after[0].strip(";") if after else "")
    return ""
