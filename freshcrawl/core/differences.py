"""How a fetched text differs from the published one, for reading and for finer judgement."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from freshcrawl.core.token_diff import token_diff
from freshcrawl.core.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.core.blocks import Block

TITLE = "title"
"""Kind of the page's title among the kinds that differ."""
LINKS_ONLY = "only link targets or anchors differ"
VOLATILE_ONLY = "only what volatile_patterns match differs"


@dataclass(slots=True)
class Difference:
    """What differs between two versions of a page."""

    kinds: list[str] = field(default_factory=list)
    """Kinds of the blocks that differ, sorted; ``title`` for the page's title."""
    blocks: int = 0
    """Blocks that were added, replaced or taken away; the larger number of the two sides."""
    tokens: list[list[str]] = field(default_factory=list)
    """Pairs ``[old words, new words]``, a few, cut short (`token_diff`)."""
    grade: str = ""
    """``minor`` or ``major``, for a change of text."""
    reason: str = ""
    """Why the verdict is what it is, in words."""

    def to_json(self, verdict: str, at: float) -> dict[str, Any]:
        """Return what a record keeps of it: of which verdict, and when the page was fetched."""
        kept = {"grade": self.grade, "reason": self.reason, "tokens": self.tokens}
        return {"verdict": str(verdict), "at": at, **kept}


def differ(
    titles: tuple[str, str], old: Sequence[Block], new: Sequence[Block], *, targets: bool = False
) -> Difference:
    """Return how ``new`` blocks differ from ``old`` ones; with ``targets`` as they are shown.

    ``titles`` are the old and the new title of the page.
    """
    before = [(TITLE, titles[0]), *_texts(old, targets=targets)]
    after = [(TITLE, titles[1]), *_texts(new, targets=targets)]
    gone, come = Counter(before), Counter(after)
    gone, come = gone - come, come - gone
    kinds = sorted({kind for kind, _ in (*gone, *come)})
    blocks = max(gone.total(), come.total())
    tokens = token_diff([text for _, text in before], [text for _, text in after])
    return Difference(kinds, blocks, tokens, reason=_words(kinds, blocks, len(new)))


def _texts(blocks: Sequence[Block], *, targets: bool) -> list[tuple[str, str]]:
    return [(block.kind, block.text if targets else block.plain) for block in blocks]


def _words(kinds: Sequence[str], blocks: int, of: int) -> str:
    if not blocks:
        return "only the order of blocks differs"
    return f"differs in {count(blocks, 'block')} of {of} ({', '.join(kinds)})"
