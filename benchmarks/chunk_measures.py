"""What is counted of chunks, in one way for every chunker.

A chunk truly differs if its words do not stand in one row in the old page. A
chunk of the old page that lost some of its words, but not all, makes one too;
of these two numbers the larger counts for an edit. Where a page is cut plays no
part in that: a chunk that was only cut elsewhere is made of words that stand in
a row in the old page. White space and fence lines do not count, nor do the
heading line and the table head that a chunk repeats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.chunk_edits import Edit
    from benchmarks.chunk_peers import Piece

_FENCE = re.compile(r"(?:[\s>]|[-*+]\s|\d+[.)]\s)*(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)")
_SEPARATOR = re.compile(r"[\s|:-]*-[\s|:-]*")


@dataclass(slots=True)
class Reuse:
    """Sums over edits of one kind."""

    edits: int = 0
    chunks: int = 0
    """Of the pages after the edits."""
    differ: int = 0
    embedded: int = 0
    tokens: int = 0
    """Of the chunks embedded."""
    most: int = 0
    """Chunks embedded for one edit, at most."""

    @property
    def ratio(self) -> float:
        """Chunks embedded for one that truly differs."""
        return self.embedded / max(self.differ, 1)

    def add(
        self, edit: Edit, old: list[Piece], new: list[Piece], count: Callable[[str], int]
    ) -> None:
        """Add an edit, given the chunks of the page before and after it."""
        known = {piece.embedded for piece in old}
        fresh = {piece.embedded: piece for piece in new if piece.embedded not in known}
        kept = {piece.embedded for piece in new}
        gone = {piece.embedded: piece for piece in old if piece.embedded not in kept}
        before, after = words(edit.before.markdown), words(edit.after.markdown)
        self.edits += 1
        self.chunks += len(new)
        self.embedded += len(fresh)
        self.tokens += sum(map(count, fresh))
        self.differ += max(
            sum(not stands(piece.body, before) for piece in fresh.values()),
            sum(has_lost(piece.body, after) for piece in gone.values()),
        )
        self.most = max(self.most, len(fresh))


@dataclass(slots=True)
class Shape:
    """What the chunks of all pages are like."""

    chunks: int = 0
    tokens: int = 0
    over_limit: int = 0
    broken_fences: int = 0

    def add(self, pieces: Iterable[Piece], count: Callable[[str], int], room: int) -> None:
        """Add the chunks of a page; ``room`` is the limit without special tokens."""
        for piece in pieces:
            size = count(piece.embedded)
            self.chunks += 1
            self.tokens += size
            self.over_limit += size > room
            self.broken_fences += has_broken_fence(piece.body)


def words(text: str) -> str:
    """Return the words of a text with one space between them, without fence lines."""
    lines = [line for line in text.split("\n") if not _FENCE.fullmatch(line)]
    kept = "".join(c if c.isprintable() else " " for c in "\n".join(lines))
    return " ".join(kept.split())


def stands(body: str, page: str) -> bool:
    """Tell whether the words of a chunk stand in a row in a page; a repeated table head aside."""
    if words(body) in page:
        return True
    lines = body.split("\n", 2)
    headed = len(lines) == 3 and _SEPARATOR.fullmatch(lines[1])
    return bool(headed) and words(lines[2]) in page


def has_lost(body: str, page: str) -> bool:
    """Tell whether the page has lost a part of a chunk, but not the whole of it."""
    if stands(body, page):
        return False
    return any(line and line in page for line in map(words, body.split("\n")))


def has_broken_fence(text: str) -> bool:
    """Tell whether a code fence is open at the end of a text."""
    opened = ""
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        if not opened:
            opened = match["fence"]
        elif match["fence"].startswith(opened) and not match["info"].strip():
            opened = ""
    return bool(opened)
