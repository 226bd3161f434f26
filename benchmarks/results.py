"""Scores of all families and extractors."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.peers import EXTRACTORS
from benchmarks.scoring import Score, score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.corpus import Page

OURS = "freshcrawl"


@dataclass(slots=True)
class Measured:
    """What one extractor did on the pages of one family."""

    score: Score = field(default_factory=Score)
    seconds: float = 0.0
    """CPU time of the extraction alone."""
    empty: int = 0
    """Pages without output."""


@dataclass(slots=True)
class Results:
    """Scores by family and extractor."""

    measured: dict[str, dict[str, Measured]] = field(default_factory=dict)
    pages: Counter[str] = field(default_factory=Counter)
    sources: dict[str, Counter[str]] = field(default_factory=dict)
    unseen: set[str] = field(default_factory=set)

    @property
    def families(self) -> dict[str, dict[str, Score]]:
        """The scores alone."""
        return {
            family: {name: found.score for name, found in by_name.items()}
            for family, by_name in self.measured.items()
        }

    def add(
        self, family: str, found: dict[str, Measured], pages: Sequence[Page], *, unseen: bool
    ) -> None:
        """Add what was measured on the pages of one family."""
        self.measured[family] = found
        self.pages[family] = len(pages)
        self.sources[family] = Counter(page.gold.source for page in pages)
        if unseen:
            self.unseen.add(family)

    def ours(self, *, unseen: bool = False) -> dict[str, Score]:
        """Return our scores by family, of those that were or were not looked at."""
        return {
            family: by_name[OURS]
            for family, by_name in self.families.items()
            if (family in self.unseen) == unseen
        }

    def together(self, families: Iterable[str]) -> dict[str, Measured]:
        """Return what each extractor did on all pages of some families."""
        totals: dict[str, Measured] = {}
        for family in families:
            for name, found in self.measured[family].items():
                total = totals.setdefault(name, Measured())
                total.score.add(found.score)
                total.seconds += found.seconds
                total.empty += found.empty
        return totals


def scored(pages: Sequence[Page], names: Iterable[str]) -> dict[str, Measured]:
    """Return how extractors did on pages; they take turns, so that a slow minute hits all."""
    found = {name: Measured() for name in names}
    for name in found if pages else ():
        EXTRACTORS[name](pages[0].html, pages[0].url)  # loads its modules, fills its caches
    for page in pages:
        for name, measured in found.items():
            started = time.process_time()
            markdown = EXTRACTORS[name](page.html, page.url)
            measured.seconds += time.process_time() - started
            measured.score.add(score(page, markdown))
            measured.empty += not markdown.strip()
    return found
