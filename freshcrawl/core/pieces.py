"""Blocks that are too long for one chunk, cut where it hurts least."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from freshcrawl.core.cuts import GLUED, TELLING, Part, divide, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from freshcrawl.core.blocks import Block

    Offsets = Callable[[str], list[tuple[int, int]]]

_FENCE = re.compile(
    r"(?P<prefix>(?:[\s>]|[-*+]\s|\d+[.)]\s)*)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$"
)
_SEPARATOR_ROW = re.compile(r"[\s|:-]*-[\s|:-]*")
_WORD_END = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"[.!?][\"')\]*_`]*\s+|[\u3002\uff01\uff1f]\s*")


_CLOSING = frozenset(")]}")


class Tokens:
    """Token counts of texts, each counted once."""

    def __init__(self, offsets: Offsets) -> None:
        self.offsets = offsets
        self._counts: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Return the number of tokens of ``text``, without special tokens."""
        if text not in self._counts:
            self._counts[text] = len(self.offsets(text)) if text else 0
        return self._counts[text]


def split_block(block: Block, budget: int, tokens: Tokens) -> list[Block]:
    """Return ``block`` as parts of at most ``budget`` tokens of plain text, in order.

    The cuts are between lines, else sentences, else words, else tokens. A fence
    that is cut is closed and opened again, and the head of a table is repeated.
    """
    if tokens.count(block.plain) <= budget:
        return [block]
    atoms = [
        atom
        for line in _lines(block, budget, tokens)
        for atom in _atoms(block.plain, line, budget, tokens)
    ]
    groups = list(_groups(block.plain, atoms, budget, tokens))
    ends = _text_positions(block, [group[-1].end for group in groups])
    parts = zip(groups, [0, *ends], ends, strict=False)
    return [part for group, start, end in parts if (part := _part(block, group, start, end))]


class _Wrap(NamedTuple):
    """What is put around a part that starts or ends inside of a fence or a table."""

    head: str = ""
    tail: str = ""
    fence: str = ""


@dataclass(frozen=True, slots=True)
class _Span:
    """A stretch of the plain text, with the wraps that hold at its start and end."""

    start: int
    end: int
    before: _Wrap
    after: _Wrap

    @property
    def opens(self) -> bool:
        return bool(self.after.fence and not self.before.fence)

    @property
    def closes(self) -> bool:
        return bool(self.before.fence and not self.after.fence)


def _lines(block: Block, budget: int, tokens: Tokens) -> Iterator[_Span]:
    """Yield the lines with their line ends; the two lines of a table's head as one."""
    lines = block.plain.splitlines(keepends=True)
    at, wrap, head = 0, _Wrap(), ""
    if block.kind == "table" and len(lines) > 2 and _SEPARATOR_ROW.fullmatch(lines[1]):
        head = lines[0] + lines[1]
        lines[:2] = [head]
    for line in lines:
        before = wrap
        wrap = _Wrap(head) if head else _next_wrap(wrap, line)
        if tokens.count(wrap.head) + tokens.count(wrap.tail) > budget // 2:
            wrap = _Wrap() if head else _Wrap(_bare_head(wrap), wrap.tail, wrap.fence)
        yield _Span(at, at + len(line), before, wrap)
        at += len(line)


def _next_wrap(wrap: _Wrap, line: str) -> _Wrap:
    """Return the wrap that holds after ``line``."""
    match = _FENCE.match(line.rstrip())
    if match is None:
        return wrap
    fence, info = match["fence"], match["info"].strip()
    if wrap.fence:
        return _Wrap() if fence.startswith(wrap.fence) and not info else wrap
    prefix = re.sub(r"[^\s>]", " ", match["prefix"])
    return _Wrap(f"{prefix}{fence}{info}\n", f"\n{prefix}{fence}", fence)


def _bare_head(wrap: _Wrap) -> str:
    """Return the opening line of a fence without its language."""
    return wrap.tail.removeprefix("\n") + "\n"


def _atoms(plain: str, line: _Span, budget: int, tokens: Tokens) -> Iterator[_Span]:
    """Yield a line, or where it is too long its sentences, or pieces of these."""
    around = tokens.count(line.before.head) + tokens.count(line.after.tail)
    room = max(budget - around, 1)
    start = line.start
    for end in _cuts(plain, line, room, tokens):
        yield _Span(start, end, line.before, line.before if end < line.end else line.after)
        start = end


def _cuts(plain: str, line: _Span, room: int, tokens: Tokens) -> Iterator[int]:
    """Yield the ends of the stretches that the line is cut into."""
    if tokens.count(plain[line.start : line.end]) <= room:
        yield line.end
        return
    start = line.start
    for sentence in _ends(_SENTENCE_END, plain, line.start, line.end):
        whole = line.before.head or tokens.count(plain[start:sentence]) > room
        for end in _ends(_WORD_END, plain, start, sentence) if whole else [sentence]:
            yield from _hard_cuts(plain, start, end, room, tokens)
            start = end


def _ends(pattern: re.Pattern[str], plain: str, start: int, end: int) -> list[int]:
    """Return where the pattern's matches end, and the end."""
    found = pattern.finditer(plain, start, end)
    return [*(match.end() for match in found if match.end() < end), end]


def _hard_cuts(plain: str, start: int, end: int, room: int, tokens: Tokens) -> Iterator[int]:
    """Yield ends so that no stretch has more than ``room`` tokens, between words if possible."""
    if tokens.count(plain[start:end]) <= room:
        yield end
        return
    spans = tokens.offsets(plain[start:end])
    ends = [*sorted({start + at for at, _ in spans if at}), end]
    while ends:
        cut = _fitting_end(plain, start, ends[:room], last=end, room=room, tokens=tokens)
        yield cut
        del ends[: bisect_right(ends, cut)]
        start = cut


def _fitting_end(
    plain: str, start: int, ends: list[int], *, last: int, room: int, tokens: Tokens
) -> int:
    """Return the best of ``ends``: the last that fits, or a word's end not far before it."""
    for size in range(len(ends), 1, -1):
        cut = ends[size - 1]
        if cut < last:
            words = [at for at in ends[size // 2 : size] if plain[at - 1].isspace()]
            cut = words[-1] if words else cut
        if tokens.count(plain[start:cut]) <= room:  # a word cut in two may have grown
            return cut
    return ends[0]


def _groups(plain: str, atoms: list[_Span], budget: int, tokens: Tokens) -> Iterator[list[_Span]]:
    """Yield runs of atoms that make one part each."""
    parts = [
        Part(
            tokens.count(plain[atom.start : atom.end]),
            _rank(plain, atom, atoms[at - 1] if at else None),
            tokens.count(atom.before.head),
            tokens.count(atom.after.tail),
        )
        for at, atom in enumerate(atoms)
    ]
    for start, end in divide(parts, budget):
        yield atoms[start:end]


def _rank(plain: str, atom: _Span, last: _Span | None) -> tuple[int, int]:
    """Return how well a part starts with ``atom``: outside of fences, and not indented, best."""
    text = plain[atom.start : atom.end]
    # an opening fence goes with what it opens, a closing one with what it closes
    if atom.closes or (last is not None and last.opens):
        return GLUED, 0
    inner = not text.strip() or text[0].isspace() or text[0] in _CLOSING
    # the first lines of many items are the same, so that a short one is told by what follows
    told = plain[atom.start : max(atom.end, atom.start + TELLING)]
    return 2 * bool(atom.before.fence) + inner, mark(told)


def _part(block: Block, group: list[_Span], start: int, end: int) -> Block | None:
    """Return one part; ``start`` and ``end`` are places in the displayed text."""
    head, tail = group[0].before.head, group[-1].after.tail
    plain = block.plain[group[0].start : group[-1].end].strip("\n").rstrip()
    text = block.text[start:end].strip("\n").rstrip()
    if not (plain or text):
        return None
    return replace(block, text=head + text + tail, bare=head + plain + tail)


def _text_positions(block: Block, ends: list[int]) -> list[int]:
    """Return where in the displayed text the places ``ends`` of the plain text are."""
    if not block.bare or block.bare == block.text:
        return ends
    after = _alignment(block.bare, block.text)
    return [*(after[end] for end in ends[:-1]), len(block.text)]


def _alignment(plain: str, text: str) -> list[int]:
    """Return for each length of ``plain`` the length of ``text`` that it stands for.

    Plain text is the displayed one with parts left out, so each character is
    looked for from where the last was; where that fails, lengths are in proportion.
    """
    after = [0]
    for character in plain:
        found = text.find(character, after[-1])
        if found < 0:
            return [at * len(text) // len(plain) for at in range(len(plain) + 1)]
        after.append(found + 1)
    return after
