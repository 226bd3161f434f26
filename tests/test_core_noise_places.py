"""Where two versions of a page differ in what may be noise, and that nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshcrawl.core.blocks import Block
from freshcrawl.core.noise_places import everywhere, find_spots, is_links, skeletons

if TYPE_CHECKING:
    from collections.abc import Callable


def text(words: str, **more: str) -> Block:
    return Block("paragraph", words, **more)  # type: ignore[arg-type]


def link(label: str, target: str) -> Block:
    return Block("paragraph", f"See [{label}]({target}) now", bare=f"See {label} now")


def links(*labels: str) -> Block:
    lines = [f"- [{label}](/{label})" for label in labels]
    return Block("list", "\n".join(lines), bare="\n".join(f"- {label}" for label in labels))


HEAD = Block("heading", "## Related", level=2, title="Related")
CODE = Block("code", "```python\nprint(1)\n```")
AROUND = [Block("heading", "# Page", level=1, title="Page"), text("It is calm."), CODE]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (text("at 12:30"), text("at 12:31"), [("time", "12:30", "12:31")]),
        (text("5 views"), text("1 view"), [("counter", "5 views", "1 view")]),
        (
            text("5 views, 12:30"),
            text("6 views, 12:31"),
            [("counter", "5 views", "6 views"), ("time", "12:30", "12:31")],
        ),
        (
            link("vote", "/v?csrf=AbCdEfGh1jKlMn0pQrSt&a=1"),
            link("vote", "/v?csrf=ZbCdEfGh1jKlMn0pQrSt&a=1"),
            [("target id", "AbCdEfGh1jKlMn0pQrSt", "ZbCdEfGh1jKlMn0pQrSt")],
        ),
        (
            text("a", anchor="h-7f3a9cdeadbeef00"),
            text("a", anchor="h-7f3a9cdeadbeef01"),
            [("anchor id", "7f3a9cdeadbeef00", "7f3a9cdeadbeef01")],
        ),
        (
            links("a", "b"),
            links("c", "d"),
            [("links", "- [a](/a)\n- [b](/b)", "- [c](/c)\n- [d](/d)")],
        ),
    ],
)
def test_spots(old: Block, new: Block, expected: list[tuple[str, str, str]]) -> None:
    found = find_spots([*AROUND, HEAD, old], [*AROUND, HEAD, new])
    assert found is not None
    assert [(spot.kind, spot.old, spot.new) for spot in found] == expected
    owners = skeletons([*AROUND, HEAD, new])
    assert all(spot.place.rsplit(".", 2)[0] in owners for spot in found)
    assert all(spot.everywhere in {"", everywhere(spot.place)} for spot in found)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (text("at 12:30"), text("on 12:31")),
        (text("at 12:30"), text("at 5 views")),
        (text("at 12:30"), Block("quote", "at 12:31")),
        (text("version 3.4"), text("version 3.5")),
        (text("for $12"), text("for $13")),
        (text("`x = 12:30`"), text("`x = 12:31`")),
        (Block("code", "at 12:30"), Block("code", "at 12:31")),
        (Block("heading", "# 12:30"), Block("heading", "# 12:31")),
        (Block("admonition", "> at 12:30"), Block("admonition", "> at 12:31")),
        (Block("signature", "`f(x)` 12:30"), Block("signature", "`f(x)` 12:31")),
        (Block("table", "| a | 12 |"), Block("table", "| a | 13 |")),
        (
            link("vote", "/v?csrf=AbCdEfGh1jKlMn0pQrSt"),
            link("vote", "/w?csrf=ZbCdEfGh1jKlMn0pQrSt"),
        ),
        (link("vote", "/v?page=3"), link("vote", "/v?page=4")),
        (text("a", anchor="one"), text("a", anchor="two")),
        (links("a", "b"), links("c", "d", "e")),
        (links("a", "b"), text("c and d")),
        (links("a", "b"), Block("list", "- [c](/c)\n- [d](/d) is new", bare="- c\n- d is new")),
    ],
)
def test_content_is_no_spot(old: Block, new: Block) -> None:
    assert find_spots([*AROUND, old], [*AROUND, new]) is None


def test_one_edited_label_of_a_list_of_links_tells_nothing() -> None:
    for after, telling in ((links("a", "b", "X"), False), (links("c", "X", "a"), True)):
        found = find_spots([links("a", "b", "c")], [after])
        assert found is not None
        assert [spot.telling for spot in found] == [telling]


def test_places_of_equal_blocks_are_told_apart() -> None:
    old = [text("at 12:30"), text("at 12:30")]
    for number in (0, 1):
        new = [*old]
        new[number] = text("at 12:31")
        found = find_spots(old, new)
        assert found is not None
        assert found[0].place.split(".")[1] == str(number)


def test_a_place_without_words_is_no_place_of_the_site() -> None:
    found = find_spots([text("12:30")], [text("12:31")])
    assert found is not None
    assert found[0].everywhere == ""


def test_more_or_fewer_blocks_are_content() -> None:
    assert find_spots(AROUND, AROUND) == []
    assert find_spots(AROUND, [*AROUND, CODE]) is None
    assert find_spots(AROUND, [AROUND[1], AROUND[0], CODE]) is None


def test_very_many_differences_are_content() -> None:
    def views(number: int, more: int) -> Block:
        return text("; ".join(f"{n + more} views" for n in range(number)))

    found = find_spots([views(100, 0)], [views(100, 1)])
    assert found is not None
    assert len(found) == 100
    assert find_spots([views(101, 0)], [views(101, 1)]) is None


def test_the_text_around_is_short() -> None:
    long = "word " * 40
    found = find_spots([text(f"{long}at 12:30 {long}")], [text(f"{long}at 12:31 {long}")])
    assert found is not None
    assert "at <time> word" in found[0].around
    assert len(found[0].around) < 100


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (links("a", "b"), True),
        (links("a"), False),
        (text("[a](/a) \u00b7 [b](/b), [c](/c)"), True),
        (text("[a](/a) and [b](/b)"), False),
        (Block("table", "[a](/a) [b](/b)"), False),
        (Block("list", "1. [a](/a)\n2. [b](/b_(c))"), True),
    ],
)
def test_is_links(block: Block, expected: bool) -> None:
    assert is_links(block) is expected


WORD = st.from_regex(r"[a-z]{2,9}", fullmatch=True)
EDITS: dict[str, Callable[[str], str]] = {
    "not": lambda word: f"not {word}",
    "gone": lambda word: "",
    "price": lambda word: f"${len(word) + 3}",
    "decimal": lambda word: f"{len(word)}.5",
    "share": lambda word: f"{len(word)}%",
    "version": lambda word: f"v{len(word)}",
    "code": lambda word: f"`{word}`",
    "operator": lambda word: f"{word} >= 3",
    "size": lambda word: f"{len(word)} MB",
}


@settings(max_examples=300, deadline=None)
@given(words=st.lists(WORD, min_size=3, max_size=9), data=st.data(), edit=st.sampled_from([*EDITS]))
def test_an_edit_beside_noise_is_never_noise(
    words: list[str], data: st.DataObject, edit: str
) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    other = [*words]
    other[at] = EDITS[edit](words[at])
    for end in ("at 12:30 with 5 views", "at 12:31 with 6 views"):
        old = text(" ".join([*words, "at 12:30 with 5 views"]))
        new = text(" ".join([*other, end]))
        assert find_spots([*AROUND, old], [*AROUND, new]) is None
