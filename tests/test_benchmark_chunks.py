"""What the benchmark of chunks counts."""

from __future__ import annotations

import pytest

from benchmarks.chunk_edits import Edit, Page
from benchmarks.chunk_measures import Reuse, Shape, has_broken_fence, has_lost, stands, words
from benchmarks.chunk_peers import Piece
from freshcrawl.core.blocks import Block

PAGE = words("one two\n\n```python\nrun\n```\n\n| h |\n|---|\n| 1 |\n| 2 |\n\nthree")


def count(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("one two", True),
        ("two\n\n```python\nrun\n```", True),
        ("```python\nrun\n```", True),
        ("| h |\n|---|\n| 2 |", True),  # with the head repeated
        ("one three", False),
        ("| h |\n|---|\n| 3 |", False),
        ("one two three", False),
    ],
)
def test_words_that_stand_in_a_row(body: str, found: bool) -> None:
    assert stands(body, PAGE) is found


@pytest.mark.parametrize(
    ("body", "lost"), [("one two", False), ("one two\n\ngone", True), ("gone\n\ngone too", False)]
)
def test_chunk_that_lost_a_part(body: str, lost: bool) -> None:
    assert has_lost(body, PAGE) is lost


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("no fence", False),
        ("```sh\nls\n```", False),
        ("```sh\nls", True),
        ("ls\n```\n\ntext", True),
        ("````\n```\n````", False),
        ("- ```sh\n  ls\n  ```", False),
        ("> ```\n> ls", True),
    ],
)
def test_broken_fence(text: str, broken: bool) -> None:
    assert has_broken_fence(text) is broken


def page(*paragraphs: str) -> Page:
    return Page("u", "", tuple(Block("paragraph", text) for text in paragraphs))


def pieces(*texts: str) -> list[Piece]:
    return [Piece(text, text) for text in texts]


@pytest.mark.parametrize(
    ("before", "after", "old", "new", "differ", "embedded"),
    [
        # inserted into a chunk; what only was cut elsewhere need not have been embedded
        ("a b c d", "a x b c d", ["a b", "c d"], ["a x", "b c d"], 1, 2),
        ("a b c d", "a x b c d", ["a b", "c d"], ["a x b", "c d"], 1, 1),
        # deleted: a whole chunk, the end of one, the middle of one
        ("a b c d", "a b", ["a b", "c d"], ["a b"], 0, 0),
        ("a b c d", "a b c", ["a b", "c\n\nd"], ["a b", "c"], 1, 1),
        ("a b c d", "a b d", ["a b c d"], ["a b d"], 1, 1),
    ],
)
def test_reuse_of_one_edit(
    *, before: str, after: str, old: list[str], new: list[str], differ: int, embedded: int
) -> None:
    reuse = Reuse()
    reuse.add(Edit("", page(before), page(after)), pieces(*old), pieces(*new), count)
    assert (reuse.differ, reuse.embedded, reuse.most) == (differ, embedded, embedded)


def test_shape_counts_what_is_too_long() -> None:
    shape = Shape()
    shape.add(pieces("one two", "one two three", "```\none"), count, 2)
    assert (shape.chunks, shape.over_limit, shape.broken_fences, shape.tokens) == (3, 1, 1, 7)
