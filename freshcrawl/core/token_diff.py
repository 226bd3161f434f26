"""Which words of a page changed: small, bounded in time, for display only."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAIRS = 5
WIDTH = 40
"""Longest text of one side of a pair, in characters."""


def token_diff(old: Sequence[str], new: Sequence[str], limit: int = PAIRS) -> list[list[str]]:
    """Return up to ``limit`` pairs ``[old words, new words]`` that differ, in order, each once.

    ``old`` and ``new`` are the texts of a page's blocks. What was added or
    taken away has an empty other side. Takes n log n steps for n words.
    """
    pairs: list[list[str]] = []
    old, new = ([text for text in texts if text.strip()] for texts in (old, new))
    for before, after in _gaps(old, new):
        for gone, come in _gaps(" ".join(before).split(), " ".join(after).split()):
            pair = [_cut(gone), _cut(come)]
            if pair not in pairs:
                pairs.append(pair)
            if len(pairs) >= limit:
                return pairs
    return pairs


def _gaps(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the parts that differ between what both have exactly once, in the same order."""
    before, after = 0, 0
    for i, j in [*_anchors(old, new), (len(old), len(new))]:
        gap = _trimmed(old[before:i], new[after:j])
        if any(gap):
            yield gap
        before, after = i + 1, j + 1


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest rising chain of places of what both have exactly once."""
    in_old, in_new = Counter(old), Counter(new)
    place = {text: j for j, text in enumerate(new) if in_new[text] == in_old[text] == 1}
    common = [(i, place[text]) for i, text in enumerate(old) if text in place]
    lows: list[int] = []  # least place in new at which a chain of each length ends
    ends: list[int] = []  # the index in common of that end
    back: list[int] = []
    for number, (_, j) in enumerate(common):
        length = bisect_left(lows, j)
        back.append(ends[length - 1] if length else -1)
        lows[length : length + 1] = [j]
        ends[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(common[at])
        at = back[at]
    return chain[::-1]


def _trimmed(old: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return both without what they begin and end with alike."""
    shorter = min(len(old), len(new))
    start = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    room = shorter - start
    end = next((n for n in range(room) if old[-1 - n] != new[-1 - n]), room)
    return old[start : len(old) - end], new[start : len(new) - end]


def _cut(words: Sequence[str]) -> str:
    text = " ".join(words[:WIDTH])
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."
