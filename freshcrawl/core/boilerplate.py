"""Blocks that repeat across a site's pages: learned from all of them, left out of each.

Only for pages on which no main element was found, so that their text is all that the body
holds. Nothing here depends on the order of pages, or on what was learned before.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING

from freshcrawl.core.pages import JsonRecord

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from freshcrawl.core.blocks import Block

BODY = "body"
"""`Document.generator` where no main element was found."""
KINDS = frozenset({"paragraph", "list", "quote", "admonition", "rule"})
"""Kinds of blocks that may be boilerplate; never headings, code, signatures, tables."""
MIN_SHARE = 0.5
"""Share of the pages that a block must be on."""
MIN_PAGES = 5
"""Pages that a block must be on; a site of fewer has no boilerplate."""
MAX_REPEATS = 2
"""Times that boilerplate is on one page (a menu for wide and for narrow screens); what a page
has more often, such as a label of each member of an API, is its content."""
SAMPLE_PAGES = 1_000
"""Pages that are learned from: of more, those whose names have the smallest digests."""
FRAME_ONLY = "only what repeats across the site differs"
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Boilerplate(JsonRecord):
    """What a site's pages have in common."""

    fingerprints: list[str] = field(default_factory=list)
    """Of the blocks, sorted."""
    basis: str = ""
    """Digest of the pages and versions that it was learned from (`basis_of`)."""
    pages: int = 0
    """How many these were."""
    unfinished: bool = False
    """A run was stopped before all pages were made anew with it."""
    samples: list[str] = field(default_factory=list)
    """The beginnings of some of the blocks, for reading."""

    @property
    def version(self) -> str:
        """Digest of the blocks, ``""`` for none."""
        return _digest(self.fingerprints)[:12] if self.fingerprints else ""


@dataclass(frozen=True, slots=True)
class PagePrints:
    """What is learned from one page."""

    identity: str
    """Digest of title and headings: pages that share it are versions of one page."""
    fingerprints: frozenset[str]


def fingerprint(block: Block) -> str:
    """Return the identity of a block, ``""`` for one that is never boilerplate.

    Digits, emphasis and link targets do not count.
    """
    if block.kind not in KINDS or block.anchor:
        return ""
    plain = " ".join(_DIGITS.sub("0", block.plain.replace("**", "")).split())
    return _digest([block.kind, plain])[:16]


def page_prints(title: str, blocks: Sequence[Block]) -> PagePrints:
    """Return what is learned from a page with this title and all of its blocks."""
    headings = [block.plain for block in blocks if block.kind == "heading"]
    identity = _digest([_DIGITS.sub("0", text) for text in (title, *headings)])
    counts = Counter(filter(None, map(fingerprint, blocks)))
    once = frozenset(print_ for print_, count in counts.items() if count <= MAX_REPEATS)
    return PagePrints(identity, once)


def learn(pages: Iterable[PagePrints]) -> list[str]:
    """Return the fingerprints of what the pages have in common, sorted.

    Versions of one page count as one page: what they share is its text.
    """
    by_identity: dict[str, frozenset[str]] = {}
    for page in pages:
        known = by_identity.get(page.identity, frozenset())
        by_identity[page.identity] = known | page.fingerprints
    counts = Counter(print_ for prints in by_identity.values() for print_ in prints)
    enough = max(MIN_PAGES, MIN_SHARE * len(by_identity))
    return sorted(print_ for print_, count in counts.items() if count >= enough)


def find(blocks: Sequence[Block], fingerprints: Collection[str]) -> list[int]:
    """Return the places of the blocks that are left out of a page.

    None where nothing but headings and rules would be left: then it is what the page says.
    """
    prints = [fingerprint(block) for block in blocks]
    counts = Counter(prints)
    places = [
        place
        for place, print_ in enumerate(prints)
        if print_ and print_ in fingerprints and counts[print_] <= MAX_REPEATS
    ]
    rest = without(blocks, places)
    return places if any(says_something(block) for block in rest) else []


def says_something(block: Block) -> bool:
    """Tell whether a block is text of its own."""
    return block.kind not in {"heading", "rule"} and bool(block.plain.strip())


def without(blocks: Sequence[Block], places: Collection[int]) -> list[Block]:
    """Return the blocks that are not at one of these places."""
    gone = set(places)
    return [block for place, block in enumerate(blocks) if place not in gone]


def whole(shown: Sequence[Block], left_out: Mapping[int, Block]) -> list[Block]:
    """Return all blocks of a page; ``left_out`` has those that are not shown, by place."""
    rest = iter(shown)
    count = len(shown) + len(left_out)
    return [left_out[place] if place in left_out else next(rest) for place in range(count)]


def prints_of(blocks: Iterable[Block]) -> list[str]:
    """Return the fingerprints of blocks that are left out, sorted, each once."""
    return sorted({fingerprint(block) for block in blocks})


def sample_of(keys: Iterable[str]) -> list[str]:
    """Return the pages to learn from, at most `SAMPLE_PAGES`; the same of the same keys."""
    return sorted(nsmallest(SAMPLE_PAGES, keys, key=lambda key: _digest([key])))


def basis_of(versions: Mapping[str, str]) -> str:
    """Return the identity of pages in their versions, by key."""
    return _digest([part for key in sorted(versions) for part in (key, versions[key])])


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
