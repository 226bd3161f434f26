"""What is known of the noise of a page, for people and programs to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core.noise import OBSERVATIONS
from freshcrawl.core.noise_places import everywhere
from freshcrawl.core.noise_site import is_noise
from freshcrawl.core.report import iso
from freshcrawl.core.words import count, when
from freshcrawl.noise.memory import NoiseMemory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.stores.base import RecordStore


def noise_of(records: RecordStore, key: str, now: float, expiry: float) -> list[dict[str, Any]]:
    """Return the places of a page at which its fetched text differed, proven ones first.

    Places that did not differ for ``expiry`` seconds are forgotten.
    """
    memory = NoiseMemory(records)
    places = []
    for name, place in memory.page(key).items():
        if now - place.differed > expiry:
            continue
        shared = None if place.own else memory.site.get(everywhere(name))
        by, proven = ("page", place.proven) if place.proven else ("", 0.0)
        if not by and shared is not None and is_noise(shared, now, expiry):
            by, proven = "site", shared.proven
        places.append(
            {
                "type": place.kind,
                "around": place.around,
                "proven_by": by,
                "proven_since": iso(proven) if by else None,
                "observations": place.observed,
                "values": len(place.values),
                "last_differed": iso(place.differed),
                "masked_since": iso(place.masked_since) if place.masked else None,
            }
        )
    return sorted(places, key=lambda place: not place["proven_by"])


def noise_lines(page: Mapping[str, Any], now: float) -> list[str]:
    """Return the places of an explained page, a line each."""
    return [_line(place, now) for place in page["noise"]]


def _line(place: Mapping[str, Any], now: float) -> str:
    where = f'{place["type"]} in "{place["around"]}"'
    seen = f"{count(place['values'], 'value')} seen" if place["values"] else "no value counted"
    last = f"differed {when(place['last_differed'], now)}"
    if not place["proven_by"]:
        missing = OBSERVATIONS - place["observations"]
        return f"may be noise: {where}; {seen}, {last}; proven once it differs {_times(missing)}"
    who = {"page": "this page", "site": "pages of the site"}[place["proven_by"]]
    by = f"proven by {who} {when(place['proven_since'], now)}"
    masked = place["masked_since"]
    still = f"; left out as it is since {when(masked, now)}" if masked else ""
    return f"noise: {where}; {by}, {seen}, {last}{still}"


def _times(number: int) -> str:
    return "once more" if number == 1 else f"{number} times more"
