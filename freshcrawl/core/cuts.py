"""Where a long run of parts is cut: by the parts' own text, so that an edit stays local."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TELLING = 80
"""Characters that tell a part from others; a shorter one is marked with what follows it."""
GLUED = 9
"""Class of a part that should not start a chunk."""


@dataclass(frozen=True, slots=True)
class Part:
    """What stays in one piece. Sizes are tokens."""

    size: int
    rank: tuple[int, int]
    """Class (lower starts a chunk rather) and ``mark`` of the text."""
    head: int = 0
    """What a chunk that starts here has in front of it."""
    tail: int = 0
    """What a chunk that ends here has behind it."""


def mark(text: str) -> int:
    """Return the number by which parts of one class are ranked."""
    return zlib.crc32(text.encode("utf-8", "replace"))


def divide(parts: Sequence[Part], budget: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of runs of at most ``budget`` tokens, in order.

    A run that is too long is cut before the part of the lowest rank in its
    middle three quarters, and so are its two sides. Since the text of the parts
    decides and not what was filled before them, an edit moves the cuts next to it
    and leaves those of the rest of a long run. A wider middle would leave more of
    them and smaller sides. A part that alone is too long is a run of its own.
    """
    sums = [0, *accumulate(part.size for part in parts)]

    def runs(start: int, end: int) -> Iterator[tuple[int, int]]:
        size = sums[end] - sums[start]
        if end - start < 2 or parts[start].head + size + parts[end - 1].tail <= budget:
            yield start, end
            return
        cut = _best(parts, sums, start, end)
        yield from runs(start, cut)
        yield from runs(cut, end)

    if parts:
        yield from runs(0, len(parts))


def _best(parts: Sequence[Part], sums: Sequence[int], start: int, end: int) -> int:
    """Return the place between ``start`` and ``end`` where a run is cut."""
    middle = (sums[start] + sums[end]) / 2
    reach = (sums[end] - sums[start]) * 3 / 8
    inner = [at for at in range(start + 1, end) if abs(sums[at] - middle) <= reach]
    best = min(inner, key=lambda at: (parts[at].rank, abs(sums[at] - middle)), default=0)
    if best and parts[best].rank[0] != GLUED:
        return best
    return min(
        range(start + 1, end),
        key=lambda at: (parts[at].rank[0] == GLUED, abs(sums[at] - middle)),
    )
