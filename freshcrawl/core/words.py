"""Numbers in words."""

from __future__ import annotations


def ago(seconds: float) -> str:
    """Return a duration in words with one unit, such as ``3 h``."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if abs(seconds) >= size * 1.5:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
