"""Only a source that was read whole takes a page off a list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.listings import Listings, Source

SITEMAP, HUB = "sitemap:https://docs.example.com/sitemap.xml", "page:docs.example.com/"
KEYS = st.lists(st.sampled_from("abcdef"), max_size=8)


@pytest.fixture
def listings() -> Listings:
    return Listings(
        [Source(SITEMAP, "sitemap", 100.0, ["a", "b"]), Source(HUB, "page", 90.0, ["b"])]
    )


def test_starts_with_what_is_known(listings: Listings) -> None:
    assert listings.listed() == {"a", "b"}
    assert listings.changed == set()
    assert [source.id for source in listings.sources_of("b")] == [HUB, SITEMAP]
    assert listings.sources_of("c") == []


def test_reading_replaces_the_listing(listings: Listings) -> None:
    assert listings.read(SITEMAP, "sitemap", ["b", "c", "b"], 200.0) == {"a"}
    assert listings.sources[SITEMAP] == Source(SITEMAP, "sitemap", 200.0, ["b", "c"])
    assert listings.listed() == {"b", "c"}
    assert listings.changed == {SITEMAP}


def test_a_key_stays_listed_while_any_source_lists_it(listings: Listings) -> None:
    assert listings.read(SITEMAP, "sitemap", [], 200.0) == {"a", "b"}
    assert not listings.lists("a")
    assert listings.lists("b")
    listings.read(HUB, "page", [], 200.0)
    assert not listings.lists("b")
    assert listings.listed() == set()


def test_reading_the_same_changes_the_time_alone(listings: Listings) -> None:
    assert listings.read(SITEMAP, "sitemap", ["a", "b"], 200.0) == set()
    assert listings.changed == set()
    assert listings.sources[SITEMAP].read_at == 200.0


def test_a_new_source_is_a_change_even_if_it_lists_nothing() -> None:
    listings = Listings()
    assert listings.read("start", "start", [], 5.0) == set()
    assert listings.changed == {"start"}
    assert listings.of_kind("start") == ["start"]


def test_extending_takes_nothing_away(listings: Listings) -> None:
    listings.extend(SITEMAP, "sitemap", ["c"])
    assert listings.sources[SITEMAP].keys == ["a", "b", "c"]
    assert listings.sources[SITEMAP].read_at == 100.0
    assert listings.changed == {SITEMAP}


def test_extending_by_what_is_listed_changes_nothing(listings: Listings) -> None:
    listings.extend(SITEMAP, "sitemap", ["b", "a"])
    assert listings.changed == set()


def test_dropping_a_source_takes_its_keys(listings: Listings) -> None:
    assert listings.drop(SITEMAP) == {"a", "b"}
    assert listings.listed() == {"b"}
    assert listings.changed == {SITEMAP}
    assert listings.drop(SITEMAP) == set()
    assert listings.drop("never there") == set()
    assert listings.changed == {SITEMAP}


def test_a_dropped_source_can_come_back(listings: Listings) -> None:
    listings.drop(SITEMAP)
    assert listings.read(SITEMAP, "sitemap", ["a"], 300.0) == set()
    assert listings.listed() == {"a", "b"}


def test_an_index_lists_its_sitemaps() -> None:
    listings = Listings()
    listings.read("sitemap:root", "sitemap_root", [SITEMAP], 1.0)
    listings.read(SITEMAP, "sitemap", ["a"], 1.0)
    assert listings.lists(SITEMAP)
    assert listings.of_kind("sitemap") == [SITEMAP]
    assert listings.of_kind("nothing") == []
    listings.read("sitemap:root", "sitemap_root", [], 2.0)
    assert not listings.lists(SITEMAP)
    assert listings.lists("a")


def test_asking_for_an_unknown_key_leaves_no_trace(listings: Listings) -> None:
    assert not listings.lists("z")
    assert listings.listed() == {"a", "b"}


def test_a_source_round_trips() -> None:
    source = Source(SITEMAP, "sitemap", 12.5, ["a", "b"])
    assert Source.from_json(source.to_json()) == source


ACTIONS = ["read", "extend", "drop"]
STEPS = st.tuples(st.sampled_from(ACTIONS), st.sampled_from("XYZ"), KEYS)


def apply(listings: Listings, action: str, source: str, keys: list[str]) -> set[str]:
    if action == "read":
        return listings.read(source, "sitemap", keys, 1.0)
    if action == "drop":
        return listings.drop(source)
    listings.extend(source, "sitemap", keys)
    return set()


@given(st.dictionaries(st.sampled_from("XYZ"), KEYS), st.lists(STEPS, max_size=12))
def test_counts_agree_with_the_lists_after_any_steps(
    start: dict[str, list[str]], steps: list[tuple[str, str, list[str]]]
) -> None:
    model = {source: set(keys) for source, keys in start.items()}
    listings = Listings(Source(source, "sitemap", 0.0, keys) for source, keys in start.items())
    for action, source, keys in steps:
        before = model.pop(source, set())
        if action != "drop":
            model[source] = set(keys) | (before if action == "extend" else set())
        left = apply(listings, action, source, keys)
        assert left == before - model.get(source, set())
        assert listings.listed() == set().union(*model.values())
        assert {key for key in "abcdef" if listings.lists(key)} == listings.listed()


def test_renamed_pages_stay_listed() -> None:
    listings = Listings([Source("a", "page", 1.0, ["x", "y"]), Source("b", "page", 1.0, ["z"])])
    listings.rename({"x": "y", "q": "r"})
    assert listings.sources["a"].keys == ["y"]
    assert (listings.lists("x"), listings.lists("y"), listings.lists("z")) == (False, True, True)
    assert listings.changed == {"a"}


@pytest.mark.parametrize(
    ("numbers", "before", "shrank"),
    [
        ([10], 0, False),
        ([10, 12], 0, False),
        ([10, 9], 10, False),
        ([10, 6], 10, False),
        ([10, 5], 10, True),
        ([10, 0], 10, True),
        # little by little comes to the same
        ([10, 7, 5], 10, True),
        ([10, 5, 6], 10, False),
        ([10, 5, 10], 0, False),
        ([10, 5, 11, 6], 11, True),
        ([10, 5, 11, 7], 11, False),
        ([1, 0], 1, False),
    ],
)
def test_a_source_knows_how_many_keys_it_listed_before_it_shrank(
    numbers: list[int], before: int, *, shrank: bool
) -> None:
    listings = Listings()
    for moment, number in enumerate(numbers):
        listings.read("s", "sitemap_root", [f"k{key}" for key in range(number)], float(moment))
    assert listings.sources["s"].before == before
    assert listings.shrank("s") is shrank
    again = Listings([Source.from_json(listings.sources["s"].to_json())])
    again.believe(["s"])
    assert again.shrank("s") is shrank
    again.believe(["other"])
    assert (again.sources["s"].before, again.shrank("s")) == (0, False)
    assert ("s" in again.changed) == bool(before), "so that it is stored"


def test_a_source_that_is_no_more_has_shrunk() -> None:
    listings = Listings([Source("s", "sitemap_root", keys=["a"])])
    assert not listings.shrank("s")
    listings.drop("s")
    assert listings.shrank("s")


def test_what_a_page_listed_is_taken_back(listings: Listings) -> None:
    before = listings.of_page("docs.example.com/")
    listings.read(HUB, "page", ["x"], 200.0)
    listings.read("target:docs.example.com/", "target", ["y"], 200.0)
    listings.restore(before)
    assert listings.sources[HUB].keys == ["b"]
    assert (listings.lists("x"), listings.lists("y")) == (False, False)
    assert listings.reached() == {"a", "b"}


def test_runs_that_could_not_read_a_source_are_counted_until_one_can(listings: Listings) -> None:
    assert [listings.unread(SITEMAP), listings.unread(SITEMAP), listings.unread("new")] == [1, 2, 0]
    listings.read(SITEMAP, "sitemap", ["a", "b"], 200.0)
    assert listings.unread(SITEMAP) == 1
