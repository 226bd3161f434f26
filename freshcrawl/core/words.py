"""Numbers and times for people to read."""

from __future__ import annotations

from datetime import datetime


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 page``, ``3 pages``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def ago(seconds: float) -> str:
    """Return a duration in words with one unit, such as ``3 h``."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if abs(seconds) >= size * 1.5:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def when(moment: str | None, now: float) -> str:
    """Return a time of JSON (ISO 8601) with its age in words: ``3 h ago (2026-...)``.

    Milliseconds, which JSON has, are left out.
    """
    if moment is None:
        return "never"
    time = datetime.fromisoformat(moment)
    age = now - time.timestamp()
    words = f"{ago(age)} ago" if age >= 0 else f"in {ago(-age)}"
    return f"{words} ({time:%Y-%m-%dT%H:%M:%SZ})"
