"""What differs between two versions of a page, in words and by kind of block."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshcrawl.core.blocks import Block
from freshcrawl.core.differences import Difference, differ

OLD = [
    Block("heading", "# Install", level=1, title="Install"),
    Block("paragraph", "See [the guide](/guide), 3 steps.", bare="See the guide, 3 steps."),
    Block("code", "```\npip install mako\n```"),
]
GUIDE = replace(OLD[1], text=OLD[1].text.replace("/guide", "/manual"))
STEPS = replace(OLD[1], text="See [the guide](/guide), 4 steps.", bare="See the guide, 4 steps.")
CODE = replace(OLD[2], text="```\npip install Mako\n```")


@pytest.mark.parametrize(
    ("new", "kinds", "blocks", "tokens"),
    [
        (OLD, [], 0, []),
        ([OLD[0], GUIDE, OLD[2]], [], 0, []),
        ([OLD[0], STEPS, OLD[2]], ["paragraph"], 1, [["3", "4"]]),
        ([OLD[0], STEPS, CODE], ["code", "paragraph"], 2, [["3", "4"], ["mako", "Mako"]]),
        (OLD[:2], ["code"], 1, [["``` pip install mako ```", ""]]),
        ([*OLD, CODE], ["code"], 1, [["", "``` pip install Mako ```"]]),
        ([OLD[0], OLD[2], OLD[1]], [], 0, [["See the guide, 3 steps.", ""]]),
    ],
)
def test_blocks(new: list[Block], kinds: list[str], blocks: int, tokens: list[list[str]]) -> None:
    found = differ(("T", "T"), OLD, new)
    assert (found.kinds, found.blocks) == (kinds, blocks)
    assert found.tokens[: len(tokens)] == tokens
    assert bool(found.tokens) == bool(tokens)


def test_targets_count_when_asked_for() -> None:
    found = differ(("T", "T"), OLD, [OLD[0], GUIDE, OLD[2]], targets=True)
    assert found.kinds == ["paragraph"]
    assert found.tokens == [["guide](/guide),", "guide](/manual),"]]


def test_the_title_is_a_kind_of_its_own() -> None:
    found = differ(("One", "Two"), OLD, OLD)
    assert (found.kinds, found.tokens) == (["title"], [["One", "Two"]])


def test_words() -> None:
    assert differ(("", ""), OLD, [OLD[0], STEPS, CODE]).reason == (
        "differs in 2 blocks of 3 (code, paragraph)"
    )
    assert (
        differ(("", ""), OLD, [OLD[0], OLD[2], OLD[1]]).reason == "only the order of blocks differs"
    )


def test_what_a_record_keeps() -> None:
    kept = Difference(["code"], 1, [["a", "b"]], "minor", "why").to_json("changed", 7.0)
    assert kept == {
        "verdict": "changed", "at": 7.0, "grade": "minor", "reason": "why", "tokens": [["a", "b"]],
    }  # fmt: skip
