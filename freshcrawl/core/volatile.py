"""Text that a site's operator calls volatile: left out of what is compared and embedded."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.core.blocks import Block

MASK = "\u2026"
"""Stands for a text of which nothing is left, so that a block stays a block."""


def mask(text: str, patterns: Sequence[str]) -> str:
    """Return ``text`` without what the regular expressions match; an ellipsis if that is all."""
    left = text
    for pattern in patterns:
        left = re.sub(pattern, "", left, flags=re.MULTILINE)
    return left if left.strip() or not text.strip() else MASK


def for_comparison(blocks: Sequence[Block], patterns: Sequence[str]) -> list[Block]:
    """Return the blocks as they are compared: masked in the text and in link targets."""
    return [
        replace(block, text=mask(block.text, patterns), bare=mask(block.bare, patterns))
        for block in blocks
    ]


def for_display(blocks: Sequence[Block], patterns: Sequence[str]) -> list[Block]:
    """Return the blocks as they are published: shown whole, embedded masked.

    Titles are part of what is embedded of every passage below them.
    """
    return [
        replace(
            block,
            bare="" if (bare := mask(block.plain, patterns)) == block.text else bare,
            title=mask(block.title, patterns),
        )
        for block in blocks
    ]
