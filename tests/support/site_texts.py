"""Texts of plain words, without times, numbers or ids that could pass for noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

_WORD_LIST = (
    "alpha anchor batch branch build cache cell chunk client cluster column commit config crawl "
    "cursor daemon deploy digest driver engine error event export filter folder format gateway "
    "graph guard handle header host import index input install iterate join journal kernel key "
    "layer ledger limit link listen loader lock logger manifest mapper memory merge message meter "
    "method mirror model module mount network node object offset option output package page parse "
    "patch plugin pointer policy pool prefix probe proxy query queue range reader record region "
    "release replica request response retry route sample scale schema scope segment server session "
    "shard signal socket source stage state store stream string switch table target task thread "
    "token trace tree trigger tunnel update user vector version view watch window worker writer"
)
WORDS = _WORD_LIST.split()


@dataclass(frozen=True, slots=True)
class Text:
    """What one version of a page says: a title, and blocks of a kind and their text."""

    title: str
    blocks: tuple[tuple[str, str], ...]


class Texts:
    """Makes texts by chance; some paragraphs come again and again."""

    def __init__(self, dice: random.Random) -> None:
        self._random = dice
        self._common = [self.paragraph() for _ in range(3)]

    def page(self) -> Text:
        """Return the text of a new page."""
        blocks = [("p", self.paragraph())]
        blocks += [self.block() for _ in range(self._random.randint(1, 5))]
        return Text(self.title(), tuple(blocks))

    def block(self) -> tuple[str, str]:
        """Return a block: a paragraph, one that other pages have too, a heading or code."""
        kind = self._random.choice(["p", "p", "p", "h2", "pre", "common"])
        if kind == "common":
            return "p", self._random.choice(self._common)
        if kind == "h2":
            return kind, self.title()
        if kind == "pre":
            lines = (f"{self._word()} = {self._word()}({self._word()})" for _ in range(3))
            return kind, "\n".join(lines)
        return kind, self.paragraph()

    def _word(self) -> str:
        return self._random.choice(WORDS)

    def title(self) -> str:
        """Return four words."""
        return " ".join(self._random.sample(WORDS, 4)).capitalize()

    def paragraph(self) -> str:
        """Return a sentence of more than 60 characters."""
        words = [self._word() for _ in range(self._random.randint(14, 40))]
        return f"{' '.join(words).capitalize()}."
