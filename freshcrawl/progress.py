"""How far long work is, at what rate, and what time it needs yet; the clock is passed in."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from freshcrawl.core.words import ago

WINDOW_SECS = 60.0
"""What a rate is measured over."""
LEAST_SECS = 1.0
"""A rate over less time says nothing yet."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far work is at one moment. Work without pages, or without embedding, leaves them 0."""

    pages_done: int = 0
    pages: int = 0
    """Pages that are to be asked for, as far as is known."""
    embedded: int = 0
    """Passages done of the embedding that is under way."""
    to_embed: int = 0

    def __add__(self, other: Snapshot) -> Snapshot:
        """Return the sum of two pieces of work."""
        return Snapshot(
            self.pages_done + other.pages_done,
            self.pages + other.pages,
            self.embedded + other.embedded,
            self.to_embed + other.to_embed,
        )


class Rate:
    """Rate of a counter in the last ``window`` seconds."""

    def __init__(self, window: float = WINDOW_SECS) -> None:
        self._window = window
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, now: float, count: int) -> None:
        """Take what the counter is at ``now`` (seconds); one that went back began anew."""
        if self._seen and count < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((now, count))
        while now - self._seen[0][0] > self._window and len(self._seen) > 2:
            self._seen.popleft()

    def per_sec(self) -> float:
        """Return the rate; 0 while it is not known, and when nothing moves."""
        if not self._seen:
            return 0.0
        (start, before), (end, after) = self._seen[0], self._seen[-1]
        return (after - before) / (end - start) if end - start >= LEAST_SECS else 0.0

    def secs_left(self, rest: int) -> float | None:
        """Return how long the rest takes at this rate, None while there is no rate."""
        rate = self.per_sec()
        return rest / rate if rate else None


class Estimator:
    """Rates and time left of one piece of work, from its snapshots over time."""

    def __init__(self, window: float = WINDOW_SECS) -> None:
        self.pages = Rate(window)
        self.passages = Rate(window)
        self.now = Snapshot()
        """The latest snapshot."""

    def add(self, now: float, snapshot: Snapshot) -> None:
        """Take a snapshot; ``now`` is seconds of any clock that does not go back."""
        self.pages.add(now, snapshot.pages_done)
        self.passages.add(now, snapshot.embedded)
        self.now = snapshot

    def words(self, name: str) -> str:
        """Return how far the work is, such as ``mako: 120 of 400 pages, 12/s, 23 s left``."""
        done, parts = self.now, []
        if done.pages_done < done.pages or (done.pages and not done.to_embed):
            count = f"{done.pages_done:,} of {done.pages:,} pages"
            parts.append(count + pace(self.pages, done.pages - done.pages_done))
        if done.to_embed:
            count = f"embedding {done.embedded:,} of {done.to_embed:,} passages"
            parts.append(count + pace(self.passages, done.to_embed - done.embedded))
        return f"{name}: {'; '.join(parts) or 'looking for pages'}"


def pace(rate: Rate, rest: int) -> str:
    """Return rate and time left in words, as far as they are known."""
    left = rate.secs_left(rest)
    if left is None or not rest:
        return ""
    return f", {per_time(rate.per_sec())}, {ago(max(left, 1.0))} left"


def per_time(rate: float) -> str:
    """Return a rate (per second) in words: ``12/s``, ``1.5/s``, ``30/min``, ``36/h``."""
    if rate >= 0.95:
        return f"{rate:,.0f}/s" if rate >= 9.95 else f"{rate:.1f}/s"
    return f"{rate * 60:.0f}/min" if rate * 60 >= 0.95 else f"{rate * 3_600:.0f}/h"
