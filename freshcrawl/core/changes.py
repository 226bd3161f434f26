"""What counts as a change, and how large it is."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from freshcrawl.core.pages import Block, Published, Status, Verdict
from freshcrawl.core.simhash import hamming

if TYPE_CHECKING:
    from collections.abc import Sequence

MINOR_BITS = 3


def content_digest(title: str, blocks: Sequence[Block]) -> str:
    """Return the sha256 (hex) of title and main Markdown without link targets."""
    return _digest([title, *(block.plain for block in blocks)])


def links_digest(url: str, canonical: str, blocks: Sequence[Block]) -> str:
    """Return the sha256 (hex) of what is shown but not compared: URL, targets and anchors.

    ``canonical`` is the key of the page that this one says it is a copy of.
    """
    return _digest([url, canonical, *(f"{block.anchor}\n{block.text}" for block in blocks)])


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
