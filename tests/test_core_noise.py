"""When noise is proven, forgotten, and a change after all."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from freshcrawl.core.blocks import Block
from freshcrawl.core.noise import Check, Judgement, NoiseRules, Place, judge, reason
from freshcrawl.core.noise_places import find_spots, skeletons
from freshcrawl.core.noise_site import SITE_PLACES_KEPT, SitePlace, SiteWord, learn

HOUR, DAY = 3_600.0, 86_400.0
T0 = 1_790_000_000.0
RULES = NoiseRules(minimum=6 * HOUR, expiry=90 * DAY)
CHANGED, NOISE, SAME = "changed", "noise", "same"


@dataclass
class Story:
    """One page that is fetched again and again, and published when it has changed."""

    key: str = "a"
    site: dict[str, SitePlace] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    published: str = ""
    published_at: float = 0.0
    judgement: Judgement | None = None

    def fetch(
        self,
        words: str,
        at: float,
        *,
        observe: bool = True,
        rules: NoiseRules = RULES,
        held: bool = False,
    ) -> str:
        """Fetch the page with these words, and tell what that means.

        A guard keeps a change that is ``held`` from being published.
        """
        if words == self.published:
            return SAME
        old, new = ([Block("paragraph", w) for w in (t, "rest")] for t in (self.published, words))
        spots = find_spots(old, new)
        check = Check(at, self.published_at, spots, frozenset(skeletons(new)), observe=observe)
        before = {name: place.to_json() for name, place in self.places.items()}
        found = judge(check, self.places, self.site, rules)
        assert {name: place.to_json() for name, place in self.places.items()} == before
        learn(self.site, self.key, found.site, at, rules.expiry)
        self.places, self.judgement = found.places, found
        if not (found.noise or held):
            self.published, self.published_at = words, at
        return NOISE if found.noise else CHANGED

    def tell(
        self, *checks: tuple[float, str], start: float = T0, rules: NoiseRules = RULES
    ) -> list[str]:
        """Fetch it at these days with these words."""
        return [self.fetch(words, start + days * DAY, rules=rules) for days, words in checks]


def proven(key: str = "a", site: dict[str, SitePlace] | None = None) -> Story:
    """Return a page whose place is proven; 10 is published, 30 was fetched last, on day 9."""
    story = Story(key, {} if site is None else site)
    told = story.tell((0, "10 views"), (3, "20 views"), (6, "30 views"), (9, "40 views"))
    assert told == [CHANGED, CHANGED, NOISE, NOISE]
    return story


CASES: dict[str, list[tuple[float, str, str]]] = {
    "two other values prove it": [
        (0, "5 views", CHANGED), (3, "6 views", CHANGED), (6, "7 views", NOISE),
        (9, "8 views", NOISE), (12, "6 views", SAME),
    ],
    "a value that returns proves nothing": [
        (0, "5 views", CHANGED), (3, "6 views", CHANGED), (6, "5 views", CHANGED),
        (9, "6 views", CHANGED), (12, "5 views", CHANGED), (15, "7 views", NOISE),
    ],
    "checks minutes apart are one observation": [
        (0, "5 views", CHANGED), (3, "6 views", CHANGED), (3.005, "7 views", CHANGED),
        (6, "8 views", NOISE),
    ],
    "while something else differs nothing is observed": [
        (0, "5 views of it", CHANGED), (3, "6 views of her", CHANGED),
        (6, "7 views of him", CHANGED), (9, "8 views of him", CHANGED),
        (12, "9 views of him", NOISE),
    ],
    "other words beside it are a change, and another place": [
        (0, "5 views", CHANGED), (3, "6 views", CHANGED), (6, "7 views", NOISE),
        (9, "8 views or so", CHANGED), (12, "9 views or so", CHANGED),
        (15, "10 views or so", NOISE),
    ],
    "a value that stays over two checks is a change, and proof begins anew": [
        (0, "5 views", CHANGED), (3, "6 views", CHANGED), (6, "7 views", NOISE),
        (9, "7 views", CHANGED), (12, "8 views", CHANGED), (15, "9 views", NOISE),
    ],
    "checks less than the shortest interval apart do not count": [
        (0, "5 views", CHANGED), (3, "6 views", CHANGED), (6, "7 views", NOISE),
        (6.1, "7 views", NOISE), (6.2, "7 views", NOISE), (6.3, "7 views", CHANGED),
    ],
    "each of two places must be proven": [
        (0, "5 views, 1 star", CHANGED), (3, "6 views, 1 star", CHANGED),
        (6, "7 views, 1 star", NOISE), (9, "8 views, 2 stars", CHANGED),
        (12, "9 views, 3 stars", NOISE),
    ],
    "it is forgotten when it has not differed for long": [
        (0, "5 views", CHANGED), (3, "6 views", CHANGED), (6, "7 views", NOISE),
        (95.9, "8 views", NOISE), (186, "9 views", CHANGED), (189, "10 views", NOISE),
    ],
    "daily date, four times a day": [
        (0, "on 2026-09-21", CHANGED), (1, "on 2026-09-22", CHANGED), (2, "on 2026-09-23", NOISE),
        (2.25, "on 2026-09-23", NOISE), (2.5, "on 2026-09-23", NOISE),
        (2.75, "on 2026-09-23", NOISE),
        (3, "on 2026-09-24", NOISE), (3.3, "on 2026-09-24", NOISE),
    ],
    "a date that stays": [
        (0, "on 2026-09-21", CHANGED), (1, "on 2026-09-22", CHANGED), (2, "on 2026-09-23", NOISE),
        (2.9, "on 2026-09-23", NOISE), (3, "on 2026-09-23", CHANGED),
    ],
    "relative date of one day": [
        (0, "3 days ago", CHANGED), (2, "5 days ago", CHANGED), (5, "1 week ago", NOISE),
        (9, "1 week ago", NOISE), (11, "2 weeks ago", NOISE), (14, "2 weeks ago", NOISE),
    ],
    "relative date that was moved": [
        (0, "3 days ago", CHANGED), (2, "5 days ago", CHANGED), (5, "8 days ago", NOISE),
        (8, "1 day ago", NOISE), (11, "4 days ago", CHANGED),
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_story(case: str) -> None:
    checks = CASES[case]
    told = Story().tell(*[(days, words) for days, words, _ in checks])
    assert told == [expected for _, _, expected in checks]


def test_a_value_in_between_breaks_the_standstill() -> None:
    story = proven()
    assert story.tell((12, "50 views"), (15, "51 views"), (18, "50 views")) == [NOISE] * 3


def test_a_place_that_differed_often_stays_noise_after_a_standstill() -> None:
    story = proven()
    told = story.tell((12, "50 views"), (15, "60 views"), (18, "60 views"), (21, "70 views"))
    assert told == [NOISE, NOISE, CHANGED, NOISE]
    assert story.tell((24, "70 views")) == [CHANGED]


def links(*labels: str) -> list[Block]:
    return [Block("list", "\n".join(f"- [{label}](/{label})" for label in labels))]


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (["abcd", "efgh", "ijkl", "aeil"], [CHANGED, NOISE, NOISE]),
        (["abcd", "abcX", "abYX", "abYZ"], [CHANGED, CHANGED, CHANGED]),
    ],
)
def test_edited_labels_do_not_prove_that_links_rotate(
    versions: list[str], expected: list[str]
) -> None:
    places: dict[str, Place] = {}
    told, published = [], links(*versions[0])
    for number, labels in enumerate(versions[1:]):
        new = links(*labels)
        spots = find_spots(published, new)
        check = Check(T0 + number * DAY, T0, spots, frozenset(skeletons(new)))
        found = judge(check, places, {}, RULES)
        places = found.places
        told.append(NOISE if found.noise else CHANGED)
        published = published if found.noise else new
    assert told == expected


def test_what_another_recipe_read_proves_nothing() -> None:
    story = Story()
    for number in range(5):
        words = f"{number + 5} views"
        assert story.fetch(words, T0 + number * DAY, observe=False) == CHANGED
    assert story.places == {} or all(not place.observed for place in story.places.values())


def test_three_pages_prove_it_for_the_site() -> None:
    site: dict[str, SitePlace] = {}
    for key in "abc":
        proven(key, site)
    other = Story("d", site)
    assert other.tell((0, "10 views"), (3, "11 views"), (6, "12 views")) == [CHANGED, NOISE, NOISE]
    assert Story("e", site).tell((0, "10 visits"), (3, "11 visits")) == [CHANGED, CHANGED]
    # Long after the last page had it:
    late = Story("f", site).tell((0, "10 views"), (3, "11 views"), start=T0 + 100 * DAY)
    assert late == [CHANGED, CHANGED]


def test_two_pages_prove_nothing_for_the_site() -> None:
    site: dict[str, SitePlace] = {}
    for key in "ab":
        proven(key, site)
    assert Story("d", site).tell((0, "10 views"), (3, "11 views")) == [CHANGED, CHANGED]


def test_what_stood_still_and_is_held_is_found_again() -> None:
    story = Story()
    told = story.tell(*((3.0 * n, f"{n + 10} views") for n in range(8)))
    assert told == [CHANGED] * 2 + [NOISE] * 6
    found = [story.fetch("99 views", T0 + d * DAY, held=d < 39) for d in (30, 33, 36, 39, 42)]
    assert found == [NOISE, CHANGED, CHANGED, CHANGED, SAME]
    # Published, it is noise as before.
    assert story.tell((45, "100 views"), (48, "101 views")) == [NOISE, NOISE]


def test_where_it_stood_still_the_word_of_the_site_does_not_count() -> None:
    site: dict[str, SitePlace] = {}
    for key in "abc":
        proven(key, site)
    for number, key in enumerate("def"):
        story = Story(key, site)
        told = story.tell((0, "10 views"), (3, "11 views"), (6, "11 views"), (9, "12 views"))
        assert told == [CHANGED, NOISE, CHANGED, CHANGED], number
    # Three pages refuted it.
    assert Story("g", site).tell((0, "10 views"), (3, "11 views")) == [CHANGED, CHANGED]


def test_with_no_time_to_remember_nothing_is_noise() -> None:
    story, rules = Story(), NoiseRules(minimum=6 * HOUR, expiry=0)
    checks = [(float(n), f"{n + 5} views of it") for n in range(6)]
    assert story.tell(*checks, rules=rules) == [CHANGED] * 6


def test_places_that_left_the_page_are_forgotten() -> None:
    story = proven()
    assert story.places
    assert story.fetch("nothing of the kind", T0 + 12 * DAY) == CHANGED
    assert story.places == {}


def test_the_memory_of_a_page_is_bounded() -> None:
    story = Story()
    for number in range(20):
        moved = [number if n // 40 == number % 4 else 0 for n in range(160)]
        words = "; ".join(f"{1_000 + more} views of it" for more in moved)
        story.fetch(words, T0 + number * DAY)
    assert len(story.places) == 100
    assert all(len(place.values) <= 8 for place in story.places.values())


def test_the_memory_of_a_site_is_bounded() -> None:
    site: dict[str, SitePlace] = {}
    for key in "abc":
        learn(site, key, SiteWord(["shared"], ["shared"]), T0, RULES.expiry)
    names = [f"p{n}" for n in range(SITE_PLACES_KEPT + 50)]
    learn(site, "d", SiteWord(names, names), T0 + 1, RULES.expiry)
    assert len(site) == SITE_PLACES_KEPT
    assert site["shared"].proven == T0


def test_reason() -> None:
    story = proven()
    assert story.judgement is not None
    assert reason(story.judgement) == "differs only in proven noise (counter)"
    assert story.tell((12, "40 views")) == [CHANGED]
    assert reason(story.judgement) == (
        "what was taken for noise stays the same over two checks: <counter view>"
    )
