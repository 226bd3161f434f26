"""Versions of a page: what was published of it, and from when until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.core.published import Published


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept of what left the answers. The current generation always is."""

    generations: int = 3
    """Whole generations, with chunks and index."""
    unused_since: float = 0.0
    """Vectors that no kept chunk has go if they were last used before this time."""
    versions: int = 5
    """Versions of a page of which row and content are kept, the current one among them."""
    left_since: float = 0.0
    """Versions that left the answers before this time go."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a page: a row of the generations from ``page.from_gen`` on."""

    page: Published
    to_gen: int | None
    """First generation that has another row, or none, of this page; None: it is current."""
    published_at: float
    """When it entered, in epoch seconds; 0 if that is not known any more."""
    left_at: float = 0.0
    """When it left; 0 while it is current."""

    def is_in(self, generation: int) -> bool:
        """Tell whether a generation has this version."""
        later = self.to_gen is None or generation < self.to_gen
        return self.page.from_gen <= generation and later


def past_retention(
    versions: Sequence[Version], oldest_kept: int, retention: Retention
) -> list[Version]:
    """Return those of a page's ``versions``, newest first, that are not to be kept.

    ``oldest_kept`` is the oldest of the generations that are kept whole.
    """
    return [
        version
        for place, version in enumerate(versions)
        if version.to_gen is not None
        and version.to_gen <= oldest_kept
        and (place >= retention.versions or version.left_at < retention.left_since)
    ]
