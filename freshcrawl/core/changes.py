"""What counts as a change, and how large it is."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from freshcrawl.core.boilerplate import prints_of
from freshcrawl.core.differences import TITLE
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.simhash import hamming

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from freshcrawl.core.blocks import Block
    from freshcrawl.core.differences import Difference
    from freshcrawl.core.published import Published

MINOR_BITS = 3
TOLERANCE_MIN_WORDS = 500
"""A simhash of fewer words is never tolerated to differ: one edit is much of such a page."""
EXACT_KINDS = frozenset({TITLE, "heading", "code", "signature", "table", "admonition"})
"""Kinds of blocks of which no difference is tolerated."""
_CODE = re.compile(r"(?s)(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_TARGET = re.compile(r"\]\([^()\s]*")


def content_digest(title: str, blocks: Sequence[Block]) -> str:
    """Return the sha256 (hex) of title and main Markdown without link targets."""
    return _digest([title, *(block.plain for block in blocks)])


def links_digest(
    url: str, canonical: str, blocks: Sequence[Block], left_out: Sequence[str] = ()
) -> str:
    """Return the sha256 (hex) of what is kept but not compared: URL, targets and anchors.

    ``canonical`` is the key of the page that this one says it is a copy of,
    ``left_out`` has the fingerprints of its blocks that are site boilerplate.
    """
    shown = (f"{block.anchor}\n{block.text}" for block in blocks)
    return _digest([url, canonical, *shown, *left_out])


def digests(
    place: tuple[str, str, str], compared: Sequence[Block], left_out: Iterable[Block]
) -> tuple[str, str]:
    """Return the two digests of a page, which together are its version.

    ``place`` is its title, URL and canonical key, ``compared`` its blocks as they are
    compared, ``left_out`` those that are site boilerplate.
    """
    title, url, canonical = place
    links = links_digest(url, canonical, compared, prints_of(left_out))
    return content_digest(title, compared), links


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def compare(published: Published | None, digest: str, links: str) -> Verdict:
    """Return what fetched content is, against what is published (None: never published)."""
    if published is None or not published.digest:
        return Verdict.NEW
    if published.status != Status.LIVE or published.digest != digest:
        return Verdict.CHANGED
    return Verdict.UNCHANGED if published.links_digest == links else Verdict.LINKS_ONLY


def grade(old_simhash: int, new_simhash: int) -> str:
    """Return ``minor`` or ``major``; never decides whether there is a change."""
    return "minor" if hamming(old_simhash, new_simhash) <= MINOR_BITS else "major"


def tolerance_words(
    difference: Difference, old: Sequence[Block], new: Sequence[Block], bits: int, max_bits: int
) -> str:
    """Return why another text is let pass for its simhash, ``""`` if it is a change.

    ``old`` are the published blocks, ``bits`` those in which the simhashes
    differ. Never let pass are short pages, what is compared exactly whatever
    its size (EXACT_KINDS, code inside of prose, link targets), and another
    order of the same blocks, which a simhash hardly sees.
    """
    if bits > max_bits or max_bits <= 0 or not difference.kinds:
        return ""
    if not EXACT_KINDS.isdisjoint(difference.kinds):
        return ""
    if min(_word_count(old), _word_count(new)) < TOLERANCE_MIN_WORDS:
        return ""
    if any(_all(part, old) != _all(part, new) for part in (_CODE, _TARGET)):
        return ""
    return f"within simhash_max_bits ({bits} of {max_bits} bits)"


def _word_count(blocks: Sequence[Block]) -> int:
    return sum(len(block.plain.split()) for block in blocks)


def _all(pattern: re.Pattern[str], blocks: Sequence[Block]) -> list[str]:
    return [found[0] for block in blocks for found in pattern.finditer(block.text)]
