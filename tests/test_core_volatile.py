"""What an operator calls volatile: shown, but neither compared nor embedded."""

from __future__ import annotations

import pytest

from freshcrawl.core.blocks import Block
from freshcrawl.core.changes import content_digest, links_digest
from freshcrawl.core.volatile import MASK, for_comparison, for_display, mask

CLOCK = [r"\d\d:\d\d"]


@pytest.mark.parametrize(
    ("text", "patterns", "expected"),
    [
        ("at 12:30 sharp", CLOCK, "at  sharp"),
        ("12:30", CLOCK, MASK),
        ("a\n12:30\nb", [r"^\d\d:\d\d$"], "a\n\nb"),
        ("Built 12:30 by me", [r"\d\d:\d\d", r"by \w+"], "Built  "),
        ("no clock", CLOCK, "no clock"),
        ("", CLOCK, ""),
        ("12:30", [], "12:30"),
    ],
)
def test_mask(text: str, patterns: list[str], expected: str) -> None:
    assert mask(text, patterns) == expected


def blocks(clock: str) -> list[Block]:
    return [
        Block("heading", f"# News of {clock}", level=1, title=f"News of {clock}"),
        Block("paragraph", f"[now](/x?t={clock}) it is {clock}", bare=f"now it is {clock}"),
        Block("paragraph", clock),
        Block("paragraph", "the rest"),
    ]


def test_only_the_volatile_part_may_differ() -> None:
    def digests(clock: str) -> tuple[str, str]:
        compared = for_comparison(blocks(clock), CLOCK)
        return content_digest("News", compared), links_digest("u", "", compared)

    assert digests("12:30") == digests("23:59")
    assert digests("12:30")[0] != digests("12:3")[0]


def test_what_is_shown_is_whole_and_what_is_embedded_is_masked() -> None:
    shown, again = for_display(blocks("12:30"), CLOCK), for_display(blocks("23:59"), CLOCK)
    assert [block.text for block in shown] == [block.text for block in blocks("12:30")]
    assert [block.plain for block in shown] == [block.plain for block in again]
    assert [block.title for block in shown] == [block.title for block in again]
    assert shown[2].plain == MASK
    assert shown[3] == blocks("12:30")[3]
