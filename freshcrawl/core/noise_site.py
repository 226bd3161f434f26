"""Noise that is the same place on many pages of a site, such as a line that the template adds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.core.pages import JsonRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

SITE_PAGES = 3
"""Pages that must have proven a place for it to be noise on all of the site; so many refute it."""
SITE_PLACES_KEPT = 500


@dataclass(slots=True)
class SitePlace(JsonRecord):
    """What is known of a place on all pages of a site."""

    pages: list[str] = field(default_factory=list)
    """Keys of pages that have proven it, as many as it takes."""
    refuted: list[str] = field(default_factory=list)
    """Keys of pages on which its value stood still after that."""
    proven: float = 0.0
    differed: float = 0.0


def is_noise(place: SitePlace | None, at: float, expiry: float) -> bool:
    """Tell a place that is noise on every page of the site."""
    return place is not None and bool(place.proven) and at - place.differed <= expiry


@dataclass(slots=True)
class SiteWord:
    """What a check of one page says of places of the site (`Spot.everywhere`)."""

    differed: list[str] = field(default_factory=list)
    """Places that differed and are noise on the page."""
    proven: list[str] = field(default_factory=list)
    """Those of them that the page itself has proven."""
    still: list[str] = field(default_factory=list)
    """Places whose masked value stood still."""


def learn(site: dict[str, SitePlace], key: str, word: SiteWord, at: float, expiry: float) -> None:
    """Add what a page's check says of the site's places."""
    for name in word.proven:
        place = site.setdefault(name, SitePlace())
        place.pages = _with(place.pages, key)
        if len(place.pages) >= SITE_PAGES and not place.proven:
            place.proven, place.refuted = at, []
    for name in word.still:
        place = site.setdefault(name, SitePlace())
        place.pages = [page for page in place.pages if page != key]
        place.refuted = _with(place.refuted, key)
        if len(place.refuted) >= SITE_PAGES:
            place.pages, place.proven = [], 0.0
    for name in set(word.differed) & site.keys():
        site[name].differed = at
    _forget(site, at, expiry)


def _forget(site: dict[str, SitePlace], at: float, expiry: float) -> None:
    """Drop what did not differ for long, and what one page alone has longest ago."""
    for name in [name for name, place in site.items() if at - place.differed > expiry]:
        del site[name]
    first = sorted(site, key=lambda name: (not site[name].proven, -site[name].differed))
    for name in first[SITE_PLACES_KEPT:]:
        del site[name]


def _with(keys: Sequence[str], key: str) -> list[str]:
    return list(keys) if key in keys else [*keys, key][-SITE_PAGES:]
