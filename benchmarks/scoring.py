"""How well Markdown made from a page agrees with what is known of the page."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from benchmarks.outputs import code_lines, parts_of
from benchmarks.page_text import page_text
from benchmarks.words import SIZE, Gram, block_grams, compact, grams, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.corpus import Gold, Page

T = TypeVar("T")
MEASURES = ("main", "code", "cells", "signatures", "headings")
_SELF_LINK = re.compile(r"\]\([^)\s]*#[^)]*\)")
_PERMALINK = re.compile("[¶§🔗]|⚓|Permalink|permanent link", re.IGNORECASE)


@dataclass(slots=True)
class Score:
    """Counts over one page or several."""

    hits: Counter[str] = field(default_factory=Counter)
    """Of each measure: what was found of the gold."""
    wanted: Counter[str] = field(default_factory=Counter)
    """Of each measure: what the gold has."""
    leaked: int = 0
    """Words of the output that are on the page only outside of the main content."""
    written: int = 0
    """Words of the output."""

    def add(self, other: Score) -> None:
        """Add the counts of another score."""
        self.hits.update(other.hits)
        self.wanted.update(other.wanted)
        self.leaked += other.leaked
        self.written += other.written

    def share(self, measure: str) -> float | None:
        """Return the share found, None if the gold has nothing of the kind."""
        wanted = self.wanted[measure]
        return self.hits[measure] / wanted if wanted else None

    @property
    def leak(self) -> float | None:
        """The share of the output that is not main content, None for an empty output."""
        return self.leaked / self.written if self.written else None


def score(page: Page, markdown: str) -> Score:
    """Return how well Markdown made of a page agrees with the page's gold."""
    gold, parts, result = page.gold, parts_of(markdown), Score()
    tokens = words(markdown)
    _count(result, "main", block_grams(gold.text), _all_grams(tokens))
    _count(result, "code", _lines(gold.code), _lines(parts.code))
    _count(result, "cells", _cells(gold.rows), _cells(parts.rows))
    _count(result, "headings", _titles(gold.headings), _clean_titles(parts.headings))
    lines = "\n".join(map(compact, markdown.split("\n")))
    for signature in filter(None, map(compact, gold.signatures)):
        result.wanted["signatures"] += 1
        result.hits["signatures"] += signature in lines
    result.written = len(tokens)
    result.leaked = len(leaked_at(tokens, gold, page.html))
    return result


def leaked_at(tokens: Sequence[str], gold: Gold, body: bytes) -> list[int]:
    """Return the positions of the output's words that come from outside of the gold.

    They are covered by a gram of the page that the gold does not have, and by
    none that it has.
    """
    inside = set(grams(words("\n".join(gold.text)))) | set(block_grams(gold.text))
    outside = set(grams(words(page_text(body)))) - inside
    good, bad = set[int](), set[int]()
    for at, gram in enumerate(grams(tokens)):
        if gram in outside:
            bad.update(range(at, at + SIZE))
        elif gram in inside:
            good.update(range(at, at + SIZE))
    return sorted(bad - good)


def _count(result: Score, measure: str, gold: Counter[T], found: Counter[T]) -> None:
    result.wanted[measure] += gold.total()
    result.hits[measure] += (gold & found).total()


def _all_grams(tokens: Sequence[str]) -> Counter[Gram]:
    counts: Counter[Gram] = Counter()
    for size in range(1, SIZE + 1):
        counts.update(grams(tokens, size))
    return counts


def _lines(blocks: Iterable[str]) -> Counter[str]:
    return Counter(line for block in blocks for line in code_lines(block))


def _cells(rows: Iterable[Iterable[str]]) -> Counter[Gram]:
    return Counter(cell for row in rows for cell in map(_joined, row) if cell)


def _titles(titles: Iterable[str]) -> Counter[Gram]:
    return Counter(filter(None, map(_joined, titles)))


def _clean_titles(titles: Iterable[str]) -> Counter[Gram]:
    """Return the titles that carry no permalink."""
    noisy = (t for t in titles if not (_SELF_LINK.search(t) or _PERMALINK.search(t)))
    return _titles(noisy)


def _joined(text: str) -> Gram:
    return tuple(words(text))
