"""What ``scrapy explain`` says of the noise of a page."""

from __future__ import annotations

from typing import Any

from freshcrawl.core.noise import Place
from freshcrawl.core.noise_site import SitePlace
from freshcrawl.noise.words import noise_lines, noise_of
from freshcrawl.stores.memory import MemoryRecordStore

HOUR, DAY = 3_600.0, 86_400.0
NOW = 1_790_000_000.0
PLACE: dict[str, Any] = {"kind": "time", "around": "at <time>", "differed": NOW - 2 * HOUR}
SEEN: dict[str, Any] = {**PLACE, "values": ["a", "b"], "observed": 1}
PROVEN: dict[str, Any] = {
    **PLACE,
    "values": ["a", "b", "c"],
    "observed": 2,
    "proven": NOW - 3 * DAY,
}


def told(place: Place, shared: SitePlace | None = None, expiry: float = 90 * DAY) -> list[str]:
    records = MemoryRecordStore()
    records.put("noise:x/a", {"places": {"s.1.0.time": place.to_json()}})
    if shared is not None:
        records.put("meta:noise", {"places": {"s.0.time": shared.to_json()}})
    return noise_lines({"noise": noise_of(records, "x/a", NOW, expiry)}, NOW)


def test_places_in_words() -> None:
    [line] = told(Place(**SEEN))
    assert line.startswith('may be noise: time in "at <time>"; 2 values seen, differed 2 h ago (')
    assert line.endswith("; proven once it differs once more")
    [line] = told(Place(**PROVEN, masked="d", masked_since=NOW - HOUR * 2))
    assert line.startswith('noise: time in "at <time>"; proven by this page 3 d ago (')
    assert "), 3 values seen, differed 2 h ago (" in line
    assert "; left out as it is since 2 h ago (" in line
    [line] = told(Place(**PLACE))
    assert "no value counted" in line
    assert line.endswith("proven once it differs 2 times more")


def test_the_word_of_the_site() -> None:
    shared = SitePlace(["x/b", "x/c", "x/d"], [], NOW - DAY, NOW - HOUR)
    [line] = told(Place(**SEEN), shared)
    assert "proven by pages of the site 24 h ago" in line
    [line] = told(Place(**SEEN, own=True), shared)
    assert line.startswith("may be noise")
    [line] = told(Place(**SEEN), SitePlace(["x/b", "x/c"], [], 0.0, NOW - HOUR))
    assert line.startswith("may be noise")


def test_what_is_forgotten_is_not_shown() -> None:
    assert told(Place(**PROVEN), expiry=HOUR) == []
