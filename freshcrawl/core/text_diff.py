"""Two versions of a page's Markdown, compared line by line and word by word, for reading."""

from __future__ import annotations

import difflib
from collections import Counter


def unified(old: str, new: str, names: tuple[str, str], context: int = 3) -> list[str]:
    """Return a unified diff, a line each without line ends; empty if the texts are equal.

    ``names`` stand in the two header lines.
    """
    before, after = old.splitlines(), new.splitlines()
    return list(difflib.unified_diff(before, after, *names, lineterm="", n=context))


def words_changed(old: str, new: str) -> tuple[int, int]:
    """Return how many words were added and how many removed; words that only moved are neither."""
    before, after = Counter(old.split()), Counter(new.split())
    return (after - before).total(), (before - after).total()
