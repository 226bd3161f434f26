"""Exact digests decide what is a change; simhash only grades it."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.blocks import Block
from freshcrawl.core.changes import (
    TOLERANCE_MIN_WORDS,
    compare,
    content_digest,
    grade,
    links_digest,
    tolerance_words,
)
from freshcrawl.core.differences import differ
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.published import Published

BLOCKS = [
    Block("heading", "# Install", level=1, anchor="install", title="Install"),
    Block("paragraph", "See [the guide](/guide).", bare="See the guide."),
    Block("code", "```\npip install mako\n```"),
]
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)


def published(status: str = Status.LIVE, digest: str = "d", links: str = "l") -> Published:
    key = "docs.example.com/a"
    return Published(key, f"https://{key}", status=status, digest=digest, links_digest=links)


def test_digests_are_sha256() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert content_digest("", []) == empty
    assert links_digest("", "", []) == sha256(b"\0").hexdigest()


def with_block(number: int, **fields: str) -> list[Block]:
    changed = list(BLOCKS)
    data = {**BLOCKS[number].to_json(), **fields}
    changed[number] = Block.from_json(data)
    return changed


@pytest.mark.parametrize(
    ("blocks", "content_differs", "links_differ"),
    [
        (BLOCKS, False, False),
        (with_block(1, text="See [the guide](/manual)."), False, True),
        (with_block(0, anchor="installation"), False, True),
        (with_block(1, bare="See the  guide."), True, False),
        (with_block(1, text="See [a guide](/guide).", bare="See a guide."), True, True),
        (with_block(2, text="```\npip install Mako\n```"), True, True),
        (BLOCKS[::-1], True, True),
        (BLOCKS[:2], True, True),
        ([*BLOCKS, Block("rule", "---")], True, True),
        ([*BLOCKS, Block("paragraph", "")], True, True),
    ],
)
def test_what_each_digest_sees(
    blocks: list[Block], content_differs: bool, links_differ: bool
) -> None:
    same = (content_digest("T", BLOCKS), links_digest("u", "", BLOCKS))
    assert (content_digest("T", blocks) != same[0]) is content_differs
    assert (links_digest("u", "", blocks) != same[1]) is links_differ


def test_url_and_canonical_page_are_shown_but_not_compared() -> None:
    digests = {links_digest(*place, BLOCKS) for place in [("u", ""), ("v", ""), ("u", "k")]}
    assert len(digests) == 3


def test_the_title_is_content() -> None:
    assert content_digest("A", BLOCKS) != content_digest("B", BLOCKS)


@given(st.tuples(TEXT, st.lists(TEXT, max_size=4)), st.tuples(TEXT, st.lists(TEXT, max_size=4)))
def test_text_cannot_move_between_blocks_unseen(
    one: tuple[str, list[str]], other: tuple[str, list[str]]
) -> None:
    digests = [
        content_digest(title, [Block("paragraph", text) for text in texts])
        for title, texts in (one, other)
    ]
    assert (digests[0] == digests[1]) == (one == other)


@given(st.text())
def test_any_text_has_a_digest(text: str) -> None:
    blocks = [Block("paragraph", text, anchor=text)]
    assert len(content_digest(text, blocks)) == len(links_digest("u", "", blocks)) == 64


def test_lone_surrogates_have_a_digest() -> None:
    assert content_digest("\ud800", []) != content_digest("\ud801", [])


@pytest.mark.parametrize(
    ("page", "digest", "links", "verdict"),
    [
        (None, "d", "l", Verdict.NEW),
        (published(), "d", "l", Verdict.UNCHANGED),
        (published(), "d", "other", Verdict.LINKS_ONLY),
        (published(), "other", "l", Verdict.CHANGED),
        (published(), "other", "other", Verdict.CHANGED),
        # a page that left comes back: its text must be published again although it is the same
        (published(Status.HIDDEN), "d", "l", Verdict.CHANGED),
        (published(Status.GONE), "d", "l", Verdict.CHANGED),
        (published(Status.HIDDEN, digest=""), "d", "l", Verdict.NEW),
        (published(Status.ALIAS, digest=""), "d", "l", Verdict.NEW),
    ],
)
def test_compare(page: Published | None, digest: str, links: str, verdict: Verdict) -> None:
    assert compare(page, digest, links) == verdict


@pytest.mark.parametrize(
    ("old", "new", "size"),
    [(0, 0, "minor"), (0, 7, "minor"), (0, 15, "major"), (-1, -8, "minor"), (0, -1, "major")],
)
def test_grade(old: int, new: int, size: str) -> None:
    assert grade(old, new) == size


def test_a_change_of_one_word_in_a_long_page_is_a_change() -> None:
    words = [f"word{n}" for n in range(2_000)]
    before = [Block("paragraph", " ".join(words))]
    after = [Block("paragraph", " ".join([*words[:1_000], "not", *words[1_000:]]))]
    page = published(digest=content_digest("", before))
    assert compare(page, content_digest("", after), "l") == Verdict.CHANGED


LONG = Block("paragraph", "word " * TOLERANCE_MIN_WORDS)
SHORT = Block("paragraph", "word " * (TOLERANCE_MIN_WORDS // 2))


def prose(text: str, shown: str = "", kind: str = "paragraph") -> Block:
    return Block(kind, shown or text, bare=text if shown else "")


@pytest.mark.parametrize(
    ("old", "new", "bits", "most", "passes"),
    [
        # prose of a long page
        (prose("It is so."), prose("It is not so."), 0, 3, True),
        (prose("It is so."), prose("It is not so."), 3, 3, True),
        (prose("- one"), prose("- two", kind="list"), 1, 1, True),
        (prose("See it.", "See [it](/a)."), prose("Read it.", "Read [it](/a)."), 1, 3, True),
        # too far, or switched off
        (prose("It is so."), prose("It is not so."), 4, 3, False),
        (prose("It is so."), prose("It is not so."), 0, 0, False),
        # compared exactly
        *(
            (prose("a", kind=kind), prose("b", kind=kind), 0, 64, False)
            for kind in ("heading", "code", "signature", "table", "admonition")
        ),
        (prose("Use `-a`."), prose("Use `-b`."), 0, 3, False),
        (prose("Use `` a`b ``."), prose("Use `` a`c ``."), 0, 3, False),
        (prose("- x\n\n  ```\n  a = 1\n  ```"), prose("- x\n\n  ```\n  a = 2\n  ```"), 0, 3, False),
        (prose("See it.", "See [it](/a)."), prose("Read it.", "Read [it](/b)."), 1, 3, False),
        (prose("One code `a`."), prose("Two code `a`."), 0, 3, True),
    ],
)
def test_tolerance_of_the_simhash(
    old: Block, new: Block, bits: int, most: int, passes: bool
) -> None:
    before, after = [LONG, old], [LONG, new]
    words = tolerance_words(differ(("T", "T"), before, after), before, after, bits, most)
    assert words == (f"within simhash_max_bits ({bits} of {most} bits)" if passes else "")


@pytest.mark.parametrize(
    ("titles", "before", "after"),
    [
        (("T", "U"), [LONG, SHORT], [LONG, SHORT, SHORT]),
        (("T", "T"), [SHORT], [SHORT, prose("More.")]),  # short
        (("T", "T"), [LONG], [SHORT]),  # short now
        (("T", "T"), [SHORT], [LONG]),  # was short
        (("T", "T"), [LONG, SHORT], [SHORT, LONG]),  # order
    ],
)
def test_what_the_simhash_never_lets_pass(
    titles: tuple[str, str], before: list[Block], after: list[Block]
) -> None:
    assert tolerance_words(differ(titles, before, after), before, after, 0, 64) == ""
