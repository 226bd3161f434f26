"""Where two versions of a page differ in what can be noise, and that nothing else differs."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from freshcrawl.core import noise_tokens
from freshcrawl.core.noise_tokens import TARGET, Masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from freshcrawl.core.blocks import Block

LINKS = "links"
"""Type of a block that is made of links and nothing else, such as related posts."""
SPOTS_MAX = 100
"""Differences of one page above which they are content."""
AROUND = 30
"""Characters of text kept on each side of a place, for display."""
_BETWEEN_LINKS = re.compile(r"[\s\-*+,;|\u00b7\u2022>]|\d+\.")
_WORD = re.compile(r"[^\W\d_]{2,}")
_TOKEN = re.compile("\x00[^\x00]*\x00")
_LINK = re.compile(r"!?\[[^\[\]]*" + TARGET.pattern.replace("?P<target>", "?:"))


@dataclass(frozen=True, slots=True)
class Spot:
    """One place at which two versions differ."""

    place: str
    """Identity in the page: ``skeleton.occurrence.index.type``."""
    everywhere: str
    """Identity in the site, without the occurrence; "" for a place without words around it."""
    kind: str
    old: str
    new: str
    around: str
    """The text around it, shortened, the type in place of the value."""
    telling: bool = True
    """Whether the difference counts as seen: of links, that it is not one edited label."""


def everywhere(place: str) -> str:
    """Return the identity in the site of a place of a page."""
    skeleton, _, rest = place.split(".", 2)
    return f"{skeleton}.{rest}"


class View:
    """A block with what may be noise in it."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.words = noise_tokens.words(block.plain, block.kind)

    @cached_property
    def skeleton(self) -> str:
        """Digest of kind and words without what may be noise."""
        return _digest(self.block.kind, self.words.rest)

    @cached_property
    def shown(self) -> Masked:
        """The displayed words."""
        return noise_tokens.words(TARGET.sub("]", self.block.text), self.block.kind)

    @cached_property
    def targets(self) -> Masked:
        """The displayed text, with the ids in its link targets."""
        return noise_tokens.targets(self.block.text, self.block.kind)

    @cached_property
    def anchor(self) -> Masked:
        """The anchor, with the ids in it."""
        return noise_tokens.anchor(self.block.anchor, self.block.kind)

    @cached_property
    def target_list(self) -> list[str]:
        """The link targets without the ids in them."""
        return [match["target"] for match in TARGET.finditer(self.targets.rest)]


def find_spots(old: Sequence[Block], new: Sequence[Block]) -> list[Spot] | None:
    """Return the places at which ``new`` differs from ``old``.

    None if anything else differs, or more than `SPOTS_MAX` places do.
    """
    if len(old) != len(new):
        return None
    differing: dict[int, tuple[View, View]] = {}
    for number, (before, after) in enumerate(zip(old, new, strict=True)):
        if not _same(before, after):
            pair = View(before), View(after)
            if not (_differ_in_tokens(*pair) or _rotates(before, after)):
                return None
            differing[number] = pair
    if sum(_count(*pair) for pair in differing.values()) > SPOTS_MAX:
        return None
    spots: list[Spot] = []
    for number, names in enumerate(_owners(new) if differing else ()):
        if number not in differing:
            continue
        pair = differing[number]
        if _differ_in_tokens(*pair):
            spots += _spots(*pair, names[0])
        else:
            heading = _heading(new, number)
            spots.append(_rotation(pair[0].block, pair[1].block, names[1], heading))
    return spots


def _owners(blocks: Sequence[Block]) -> Iterator[list[str]]:
    """Yield the identities ``skeleton.occurrence`` of each block: its own, and that as links."""
    seen: Counter[str] = Counter()
    heading = ""
    for block in blocks:
        skeletons = [View(block).skeleton]
        skeletons += [_digest(LINKS, heading)] if is_links(block) else []
        yield [f"{skeleton}.{seen[skeleton]}" for skeleton in skeletons]
        seen.update(skeletons)
        heading = block.plain if block.kind == "heading" else heading


def _heading(blocks: Sequence[Block], number: int) -> str:
    """Return the heading above a block."""
    above = (block.plain for block in reversed(blocks[:number]) if block.kind == "heading")
    return next(above, "")


def skeletons(blocks: Sequence[Block]) -> set[str]:
    """Return the identities ``skeleton.occurrence`` of all blocks of a page."""
    return {name for names in _owners(blocks) for name in names}


def _same(old: Block, new: Block) -> bool:
    parts = [(b.kind, b.plain, b.text, b.anchor) for b in (old, new)]
    return parts[0] == parts[1]


def _differ_in_tokens(old: View, new: View) -> bool:
    """Tell two blocks whose content is the same but for what may be noise."""
    return (
        old.block.kind == new.block.kind
        and old.words.rest == new.words.rest
        and old.shown.rest == new.shown.rest
        and old.target_list == new.target_list
        and old.anchor.rest == new.anchor.rest
        # What is shown and what is compared must tell the same.
        and _values(old.shown) == _values(old.words)
        and _values(new.shown) == _values(new.words)
    )


def _count(old: View, new: View) -> int:
    """Return how many tokens of two blocks differ."""
    return sum(
        one != other
        for before, after in ((old.words, new.words), (old.targets, new.targets))
        for one, other in zip(_values(before), _values(after), strict=False)
    )


def _values(masked: Masked) -> list[tuple[str, str]]:
    return [(token.name, token.value) for token in masked.tokens]


def _spots(old: View, new: View, owner: str) -> list[Spot]:
    spots = []
    named = any(" " in token.name for token in new.words.tokens)
    lone = not (named or _WORD.search(_TOKEN.sub("", new.words.rest)))
    groups = (
        ("", old.words, new.words),
        ("target ", old.targets, new.targets),
        ("anchor ", old.anchor, new.anchor),
    )
    for prefix, before, after in groups:
        for index, (one, other) in enumerate(zip(before.tokens, after.tokens, strict=True)):
            if one.value != other.value:
                place = f"{owner}.{index}.{prefix}{other.kind}"
                shared = "" if lone else everywhere(place)
                around = _around(after, index)
                spots.append(
                    Spot(place, shared, prefix + other.kind, one.value, other.value, around)
                )
    return spots


def _rotates(old: Block, new: Block) -> bool:
    """Tell a block of links from as many others."""
    alike = old.kind == new.kind and old.anchor == new.anchor
    return alike and is_links(old) and is_links(new) and len(_links(old)) == len(_links(new))


def _rotation(old: Block, new: Block, owner: str, heading: str) -> Spot:
    """Return the one place that a block of links is."""
    before, after = _links(old), _links(new)
    moved = sum(a != b for a, b in zip(before, after, strict=True))
    place, around = f"{owner}.0.{LINKS}", _cut(f"{heading} <{len(after)} links>".strip())
    return Spot(
        place,
        everywhere(place) if heading else "",
        LINKS,
        old.text,
        new.text,
        around,
        telling=2 * moved > len(after),
    )


def is_links(block: Block) -> bool:
    """Tell a block made of two or more links and nothing else."""
    if block.kind not in {"list", "paragraph"} or len(_links(block)) < 2:
        return False
    return not _BETWEEN_LINKS.sub("", _LINK.sub("", block.text))


def _links(block: Block) -> list[str]:
    return _LINK.findall(block.text)


def _around(masked: Masked, index: int) -> str:
    """Return the text on both sides of a token, it and other tokens by their type."""
    text, tokens = masked.text, masked.tokens
    first = last = index
    while first and tokens[first - 1].end > tokens[index].start - AROUND:
        first -= 1
    while last + 1 < len(tokens) and tokens[last + 1].start < tokens[index].end + AROUND:
        last += 1
    at = min(tokens[first].start, max(0, tokens[index].start - AROUND))
    end = max(tokens[last].end, tokens[index].end + AROUND)
    line = "..." if at else ""
    for token in tokens[first : last + 1]:
        line += text[at : token.start] + f"<{token.name}>"
        at = token.end
    return _cut(line + text[at:end] + ("..." if len(text) > end else ""))


def _cut(text: str) -> str:
    return " ".join(text.split())[: 3 * AROUND]


def _digest(*parts: str) -> str:
    text = "\x00".join(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
