"""What every kind of block is made with: the scope of the walk, and block builders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from freshcrawl.core.blocks import Block
from freshcrawl.extract import markup
from freshcrawl.extract.dom import HEADINGS, Element, tag_of
from freshcrawl.extract.inline import Style, content, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DEPTH_MAX = 60
"""Elements within elements that are told apart; what is deeper becomes one text."""
_HEADING_CLIMB = 4
_QUOTABLE = frozenset({"paragraph", "list", "quote", "admonition"})


@dataclass(frozen=True, slots=True)
class Scope:
    """What holds for all blocks at one place of the walk."""

    style: Style
    walk: Callable[[Element, Scope], list[Block]]
    """Makes the blocks of what is inside an element."""
    containers: frozenset[Element]
    """Elements that are inline by their tag but hold blocks."""
    signatures: int = 0
    """Signatures around this place."""
    depth: int = 0
    """Elements around this place."""

    def deeper(self, signatures: int = 0) -> Scope:
        """Return the scope one element down, and ``signatures`` further in."""
        inner = self.signatures + signatures
        return Scope(self.style, self.walk, self.containers, inner, self.depth + 1)


def finish(block: Block) -> Block:
    """Return the block with its marked Markdown made into the two texts."""
    text, bare = markup.display(block.text), markup.bare(block.text)
    return replace(block, text=text, bare="" if bare == text else bare)


def text_blocks(raw: str, kind: str = "paragraph") -> list[Block]:
    """Return the paragraphs of an inline run."""
    return [Block(kind, text) for text in markup.paragraphs(raw)]


def strong(raw: str, *, anchor: str = "", title: str = "") -> list[Block]:
    """Return one paragraph in bold, such as a term; none for white space."""
    text = markup.one_line(raw)
    if not text:
        return []
    text = text if "**" in text else f"**{text}**"
    return [Block("paragraph", text, anchor=anchor, title=title)]


def joined(blocks: Iterable[Block]) -> str:
    """Return blocks as one Markdown text; a list follows its paragraph closely."""
    text, last = "", ""
    for block in blocks:
        close = block.kind == "list" and last == "paragraph"
        text += ("\n" if close else "\n\n") * bool(text) + block.text
        last = block.kind
    return text


def quoted(blocks: Iterable[Block], kind: str, title: str = "") -> list[Block]:
    """Return blocks in blockquotes of ``kind``, ``title`` before them in bold.

    Only text is quoted: code, tables and signatures stay blocks of their own,
    verbatim, between the quotes.
    """
    done: list[Block] = []
    text = f"**{title}**" if title else ""
    for block in blocks:
        if block.kind in _QUOTABLE and not (block.anchor or "```" in block.text):
            text += "\n\n" * bool(text) + block.text
            continue
        if text:
            done.append(Block(kind, markup.quote(text)))
        done.append(block)
        text = ""
    return [*done, Block(kind, markup.quote(text))] if text else done


def own_anchor(el: Element) -> str:
    """Return the id of an element, or of an anchor inside of it, or ``""``."""
    if own := el.get("id"):
        return own
    for child in el.iter("a", "span"):
        if name := child.get("id") or (child.get("name") if child.tag == "a" else None):
            return name
    return ""


def anchor_of(el: Element) -> str:
    """Return the fragment that leads to a heading or signature, or ``""``.

    Its own id, else that of an anchor just before it, else that of the
    section that it opens.
    """
    if own := own_anchor(el):
        return own
    for _ in range(_HEADING_CLIMB):
        before = el.getprevious()
        while before is not None and tag_of(before) in {"a", "span"} and not plain(before):
            if name := before.get("id") or before.get("name"):
                return name
            before = before.getprevious()
        parent = el.getparent()
        if before is not None or parent is None or tag_of(parent) == "body":
            return ""
        if name := parent.get("id"):
            return name
        el = parent
    return ""


def heading(el: Element, scope: Scope) -> list[Block]:
    """Return a heading block, none for an empty heading."""
    title = plain(el)
    if not title:
        return []
    level = HEADINGS.index(tag_of(el)) + 1 if tag_of(el) in HEADINGS else 1
    text = markup.one_line(content(el, scope.style.unlinked()))
    return [
        Block("heading", f"{'#' * level} {text}", level=level, anchor=anchor_of(el), title=title)
    ]
