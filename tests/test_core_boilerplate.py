"""What a site's pages have in common: how it is told, learned and left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core import boilerplate
from freshcrawl.core.blocks import Block
from freshcrawl.core.boilerplate import (
    MIN_PAGES,
    SAMPLE_PAGES,
    Boilerplate,
    PagePrints,
    basis_of,
    find,
    fingerprint,
    learn,
    page_prints,
    prints_of,
    sample_of,
    whole,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

FRAME = Block("paragraph", "Acme Ltd, 12 Long Lane")


def para(text: str, bare: str = "", anchor: str = "") -> Block:
    return Block("paragraph", text, bare=bare, anchor=anchor)


def title(text: str) -> Block:
    return Block("heading", f"# {text}", level=1, title=text)


def prints(*texts: str) -> frozenset[str]:
    return frozenset(fingerprint(para(text)) for text in texts)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (para("Edition 7"), para("Edition 12"), True),
        (para("Edition 7"), para("Edition seven"), False),
        (para("see [a](/1)", bare="see a"), para("see [a](/2)", bare="see a"), True),
        (para("**Home** Guide"), para("Home Guide"), True),
        (para("Home\n  Guide"), para("Home Guide"), True),
        (para("Home"), para("home"), False),
        (para("Home"), Block("list", "Home"), False),
        (Block("rule", "---"), Block("rule", "---"), True),
    ],
)
def test_fingerprint(one: Block, other: Block, same: bool) -> None:
    assert (fingerprint(one) == fingerprint(other)) is same


@pytest.mark.parametrize("kind", ["heading", "code", "signature", "table"])
def test_what_is_never_boilerplate(kind: str) -> None:
    assert fingerprint(Block(kind, "the same everywhere")) == ""


def test_a_term_that_links_lead_to_is_never_boilerplate() -> None:
    assert fingerprint(para("**name**", anchor="name")) == ""


def pages(count: int, *, frame: int) -> list[PagePrints]:
    """Return pages of which the first ``frame`` have the frame."""
    return [
        page_prints("x" * number, [para("y" * (number + 1)), *[FRAME] * (number < frame)])
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("count", "frame", "learned"),
    [
        (MIN_PAGES, MIN_PAGES, True),
        (MIN_PAGES - 1, MIN_PAGES - 1, False),
        (8, MIN_PAGES - 1, False),
        (10, 5, True),
        (11, 5, False),
        (100, 50, True),
        (100, 49, False),
        (0, 0, False),
    ],
)
def test_a_block_on_half_of_the_pages_is_boilerplate(count: int, frame: int, learned: bool) -> None:
    assert learn(pages(count, frame=frame)) == ([fingerprint(FRAME)] if learned else [])


def test_versions_of_one_page_have_their_text_in_common() -> None:
    versions = [
        page_prints(f"Guide {number}.0", [title(f"Guide {number}.0"), para("the text")])
        for number in range(9)
    ]
    assert learn(versions) == []
    others = [page_prints("x" * n, [title("x" * n), para("the text")]) for n in range(1, 6)]
    assert learn(versions + others) == [fingerprint(para("the text"))]


def test_labels_that_a_page_repeats_are_its_content() -> None:
    label, menu = para("Parameters"), para("Menu")
    found = [page_prints("x" * n, [menu, menu, label, label, label]) for n in range(6)]
    assert learn(found) == [fingerprint(menu)]
    blocks = [menu, label, para("a"), label, label]
    assert find(blocks, {fingerprint(menu), fingerprint(label)}) == [0]


PAGE = st.builds(
    PagePrints,
    st.sampled_from("abcdefghij"),
    st.frozensets(st.sampled_from("12345678"), max_size=5),
)


@given(st.lists(PAGE, max_size=20).flatmap(lambda p: st.tuples(st.just(p), st.permutations(p))))
def test_the_order_of_pages_does_not_count(
    case: tuple[Sequence[PagePrints], Sequence[PagePrints]],
) -> None:
    assert learn(case[0]) == learn(case[1])


@given(st.lists(PAGE, max_size=20))
def test_what_is_learned_is_on_half_of_the_pages(found: list[PagePrints]) -> None:
    for print_ in learn(found):
        have = {page.identity for page in found if print_ in page.fingerprints}
        assert len(have) >= max(MIN_PAGES, len({page.identity for page in found}) / 2)


CODE = Block("code", "```\nx\n```")


@pytest.mark.parametrize(
    ("blocks", "left_out"),
    [
        ([FRAME, para("own")], [0]),
        ([para("own"), FRAME, CODE, FRAME], [1, 3]),
        ([FRAME, CODE], [0]),
        ([FRAME], []),
        ([title("Stub"), FRAME], []),
        ([title("Stub"), FRAME, Block("rule", "---")], []),
        ([FRAME, para("  ")], []),
        ([], []),
    ],
    ids=[
        "frame", "twice", "code is text", "nothing else", "only a title", "only a rule",
        "white space", "no block",
    ],
)  # fmt: skip
def test_what_is_left_out_of_a_page(blocks: list[Block], left_out: list[int]) -> None:
    assert find(blocks, {fingerprint(FRAME)}) == left_out


BLOCK = st.builds(Block, st.sampled_from(["paragraph", "heading", "code"]), st.sampled_from("abc"))


@given(st.lists(BLOCK, max_size=8), st.frozensets(st.sampled_from("abc")))
def test_a_page_is_never_left_empty_and_can_be_put_together_again(
    blocks: list[Block], known: frozenset[str]
) -> None:
    places = find(blocks, prints(*known))
    shown = without(blocks, places)
    assert bool(shown) == bool(blocks)
    assert all(block.kind == "paragraph" for block in blocks if block not in shown)
    assert whole(shown, {place: blocks[place] for place in places}) == blocks


def test_version_is_that_of_the_blocks() -> None:
    assert Boilerplate().version == ""
    one = Boilerplate(["a", "b"], basis="x", pages=3)
    assert one.version == Boilerplate(["a", "b"]).version != Boilerplate(["a"]).version
    assert Boilerplate.from_json(one.to_json()) == one


def test_left_out_blocks_are_told_apart_by_their_fingerprints() -> None:
    assert prints_of([FRAME, FRAME]) == prints_of([para("Acme Ltd, 14 Long Lane")])
    assert prints_of([FRAME]) != prints_of([]) == []


def test_large_sites_are_learned_from_the_same_sample_whatever_the_order() -> None:
    keys = [f"docs.example.com/{number}" for number in range(3 * SAMPLE_PAGES)]
    sample = sample_of(keys)
    assert len(sample) == len(set(sample)) == SAMPLE_PAGES
    assert sample == sample_of(reversed(keys))
    assert sample_of(keys[:7]) == keys[:7]
    # A page more changes at most one of them.
    assert len(set(sample_of([*keys, "docs.example.com/new"])) - set(sample)) <= 1


def test_basis_is_that_of_the_versions() -> None:
    assert basis_of({"a": "1", "b": "2"}) == basis_of({"b": "2", "a": "1"})
    assert len({basis_of(v) for v in ({}, {"a": "1"}, {"a": "2"}, {"b": "1"})}) == 4
    assert boilerplate.BODY == "body"
