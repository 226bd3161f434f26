"""Two versions of a page's Markdown, line by line and word by word."""

from __future__ import annotations

import pytest

from freshcrawl.core.published import Published
from freshcrawl.core.rollback import Rollback, differing
from freshcrawl.core.text_diff import unified, words_changed
from freshcrawl.core.versions import Retention, Version, past_retention


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("", "", (0, 0)),
        ("one two", "one two", (0, 0)),
        ("one two", "two one", (0, 0)),
        ("one two", "one three two", (1, 0)),
        ("one two two", "one two", (0, 1)),
        ("", "a b c", (3, 0)),
        ("a b c", "", (0, 3)),
        ("wait 30 s", "wait 60 s", (1, 1)),
    ],
)
def test_words_changed(old: str, new: str, changed: tuple[int, int]) -> None:
    assert words_changed(old, new) == changed


def test_unified() -> None:
    old, new = "# A\n\none\n\ntwo", "# A\n\none\n\n2"
    assert unified(old, new, ("before", "after"), context=1) == [
        "--- before",
        "+++ after",
        "@@ -4,2 +4,2 @@",
        " ",
        "-two",
        "+2",
    ]
    assert unified(old, old, ("before", "after")) == []


def version(from_gen: int, to_gen: int | None, left_at: float) -> Version:
    return Version(Published("a", "https://a", from_gen=from_gen), to_gen, 0.0, left_at)


VERSIONS = [version(7, None, 0), version(5, 7, 700), version(3, 5, 500), version(1, 2, 200)]


@pytest.mark.parametrize(
    ("oldest", "versions", "left_since", "dropped"),
    [
        (7, 9, 0, []),
        (7, 1, 0, [5, 3, 1]),
        (7, 3, 0, [1]),
        (6, 1, 0, [3, 1]),
        (1, 1, 9999, []),
        (7, 9, 500, [1]),
        (7, 9, 501, [3, 1]),
        (7, 9, 9999, [5, 3, 1]),
    ],
)
def test_past_retention(oldest: int, versions: int, left_since: float, dropped: list[int]) -> None:
    retention = Retention(versions=versions, left_since=left_since)
    found = past_retention(VERSIONS, oldest, retention)
    assert [each.page.from_gen for each in found] == dropped


@pytest.mark.parametrize(("generation", "inside"), [(4, False), (5, True), (6, True), (7, False)])
def test_version_is_in_its_generations(generation: int, inside: bool) -> None:
    assert version(5, 7, 700).is_in(generation) is inside
    assert version(5, None, 0).is_in(generation) is (generation >= 5)


def test_differing_looks_at_all_but_where_a_row_comes_from() -> None:
    old = {key: Published(key, f"https://{key}", from_gen=1) for key in "abcd"}
    new = {key: Published(key, f"https://{key}", from_gen=2) for key in "abce"}
    new["b"].changed_at = 5.0
    assert differing(old, new) == {"b", "d", "e"}


def test_rollback_names_the_way_out() -> None:
    rollback = Rollback(4, of=2, before=3, origin=3)
    assert rollback.reason("docs") == (
        "rolled back to generation 2: nothing is published until "
        "scrapy rollback --release --site docs"
    )
    assert Rollback.from_json(rollback.to_json()) == rollback
    rollback.pinned = False
    assert Rollback.from_json(rollback.to_json()) == rollback
