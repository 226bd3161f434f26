"""Proven noise: places of a page whose value differs again and again while nothing else does.

A place is noise once it differed at two checks, to a value not seen before, while only such places
differed. It is noise on every page of a site once three pages have proven it. It is so no more
when it has not differed for long, or when its value stood still: what a place shows at two checks
that are `NoiseRules.minimum` apart, and is not published, is published.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from freshcrawl.core import noise_clock
from freshcrawl.core.noise_clock import meet
from freshcrawl.core.noise_site import SiteWord, is_noise
from freshcrawl.core.noise_tokens import TIME
from freshcrawl.core.pages import JsonRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from freshcrawl.core.noise_places import Spot
    from freshcrawl.core.noise_site import SitePlace

OBSERVATIONS = 2
"""Checks at which a place must have differed to be noise."""
SURE = 5
"""Checks at which a place must have differed to stay noise after its value stood still once."""
APART = 600.0
"""Seconds between checks that count as two observations."""
VALUES_KEPT = 8
PLACES_KEPT = 100


@dataclass(slots=True)
class Place(JsonRecord):
    """What is known of one place of one page. Times are epoch seconds, 0 for never."""

    kind: str
    around: str = ""
    values: list[str] = field(default_factory=list)
    """Digests of the last values that counted, each once."""
    observed: int = 0
    """Checks that found a value not seen before while nothing but such places differed."""
    observed_at: float = 0.0
    proven: float = 0.0
    differed: float = 0.0
    """Last check at which it differed from what is published."""
    own: bool = False
    """Its value stood still on this page: what other pages of the site prove does not count."""
    masked: str = ""
    """Digest of the value that was left out, as long as it stays the same."""
    masked_from: float = 0.0
    masked_to: float = 0.0
    """Span of the moment that this value names, for a relative time."""
    masked_since: float = 0.0


@dataclass(frozen=True, slots=True)
class NoiseRules:
    """Times of the schedule and of the memory, in seconds."""

    minimum: float
    """Checks that are less apart tell nothing new of a value that stays."""
    expiry: float
    """Places that did not differ for so long are forgotten."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison of a fetched body with the published version."""

    at: float
    published_at: float
    """When the published version was fetched."""
    spots: Sequence[Spot] | None
    """Where they differ, None if anything else does, too."""
    skeletons: frozenset[str]
    """Blocks of the fetched body (`noise_places.skeletons`)."""
    observe: bool = True
    """Whether differences are the site's: both were read in the same way."""


@dataclass(slots=True)
class Judgement:
    """What a check means, and what is known of the page's places after it."""

    noise: bool
    """Whether nothing differs but proven noise."""
    places: dict[str, Place]
    kinds: list[str] = field(default_factory=list)
    """Types of the places that differ, sorted."""
    site: SiteWord = field(default_factory=SiteWord)
    stood_still: list[str] = field(default_factory=list)
    """Texts around such places, for the reason."""


def judge(
    check: Check, known: Mapping[str, Place], site: Mapping[str, SitePlace], rules: NoiseRules
) -> Judgement:
    """Return what a check means for a page with ``known`` places; nothing given is changed."""
    places = {
        name: replace(place)
        for name, place in known.items()
        if check.at - place.differed <= rules.expiry and name.rsplit(".", 2)[0] in check.skeletons
    }
    if not check.spots:
        return Judgement(False, _unmasked(places))
    result = Judgement(True, places, sorted({spot.kind for spot in check.spots}))
    still: set[str] = set()
    for spot in check.spots:
        place = places.get(spot.place) or Place(spot.kind)
        places[spot.place] = place
        place.around = spot.around
        if check.observe and spot.telling:
            _observe(place, spot, check.at)
        place.differed = check.at
        shared = site.get(spot.everywhere)
        if not place.proven and (place.own or not is_noise(shared, check.at, rules.expiry)):
            result.noise = False
            continue
        if spot.everywhere:
            result.site.differed.append(spot.everywhere)
            result.site.proven += [spot.everywhere] if place.proven else []
        if _stands_still(place, spot, check, rules.minimum):
            result.noise = False
            result.stood_still.append(spot.around)
            still.add(spot.place)
            if place.observed < SURE:
                result.site.still += [spot.everywhere] if spot.everywhere else []
                places[spot.place] = Place(spot.kind, spot.around, differed=check.at, own=True)
    result.places = _kept(places)
    if not result.noise:
        # What stood still stays as it is: should a guard hold the body, its next check finds
        # the same, and one that finds it published forgets it.
        _unmasked({name: place for name, place in result.places.items() if name not in still})
    return result


def _observe(place: Place, spot: Spot, at: float) -> None:
    """Count a difference, if it brought a value that was not seen before."""
    old, new = digest(spot.old), digest(spot.new)
    if new in place.values or (place.observed and at - place.observed_at < APART):
        return
    before = [] if old in place.values else [old]
    place.values = [*place.values, *before, new][-VALUES_KEPT:]
    place.observed += 1
    place.observed_at = at
    if place.observed >= OBSERVATIONS and not place.proven:
        place.proven = at


def _stands_still(place: Place, spot: Spot, check: Check, minimum: float) -> bool:
    """Tell a masked value that was there before, and remember it otherwise."""
    if spot.kind == TIME and noise_clock.agree(spot.old, check.published_at, spot.new, check.at):
        unmask(place)
        return False
    span = None
    if spot.kind == TIME and noise_clock.is_relative(spot.new):
        span = noise_clock.span_of(spot.new, check.at)
    value = digest(spot.new)
    if span is None or not place.masked_to:
        same = place.masked == value and span is None
    else:
        same = meet(span, (place.masked_from, place.masked_to))
    if not same:
        place.masked, place.masked_since = value, check.at
        place.masked_from, place.masked_to = span or (0.0, 0.0)
        return False
    if check.at - place.masked_since < minimum:
        return False
    return not (spot.kind == TIME and noise_clock.follows_clock(spot.new, check.at))


def unmask(place: Place) -> None:
    """Forget the masked value: what the page shows is published."""
    place.masked, place.masked_from, place.masked_to, place.masked_since = "", 0.0, 0.0, 0.0


def _unmasked(places: dict[str, Place]) -> dict[str, Place]:
    """Return the places as they are once the fetched body is published."""
    for place in places.values():
        unmask(place)
    return places


def _kept(places: dict[str, Place]) -> dict[str, Place]:
    """Return as many places as are kept: proven ones first, then those that differed last."""
    first = sorted(places, key=lambda name: (not places[name].proven, -places[name].differed))
    return {name: places[name] for name in first[:PLACES_KEPT]}


def digest(value: str) -> str:
    """Return the short digest that stands for a value."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def reason(judgement: Judgement) -> str:
    """Return in words why a body that differs is none the less no change, or why it is one."""
    if judgement.noise:
        return f"differs only in proven noise ({', '.join(judgement.kinds)})"
    return "; ".join(
        f"what was taken for noise stays the same over two checks: {text}"
        for text in dict.fromkeys(judgement.stood_still)
    )


def unmask_all(places: Iterable[Place]) -> bool:
    """Forget masked values; tell whether there were any."""
    masked = [place for place in places if place.masked]
    for place in masked:
        unmask(place)
    return bool(masked)
