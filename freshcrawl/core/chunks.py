"""Passages of a page: anchored on its headings, within the model's limit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from freshcrawl.core.cuts import TELLING, Part, divide, mark
from freshcrawl.core.pieces import Tokens, split_block
from freshcrawl.core.published import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from freshcrawl.core.blocks import Block
    from freshcrawl.core.pieces import Offsets

CHUNKER_VERSION = 2
"""Goes up whenever the same blocks may give other chunks."""

MIN_TOKENS = 32
SPECIAL_TOKENS = 2
"""What the model puts around a text."""

_TERM_LEVEL = 1000
_GAP = "\n\n"


def chunk_page(
    key: str, title: str, blocks: Sequence[Block], offsets: Offsets, max_tokens: int
) -> list[Chunk]:
    """Return the chunks of a page, in order.

    ``offsets`` gives the character span of each token of a text. No chunk
    crosses a heading, a signature or a block with both an anchor and a title,
    and none has an ``embed_text`` of more than ``max_tokens`` tokens, the two
    special ones included.

    Raises:
        ValueError: ``max_tokens`` is below 32.
    """
    if max_tokens < MIN_TOKENS:
        raise ValueError(f"chunks need a limit of at least {MIN_TOKENS} tokens, not {max_tokens}")
    tokens = Tokens(offsets)
    chunks: list[Chunk] = []
    seen: Counter[str] = Counter()
    for section in _sections(title, blocks):
        for text, embed_text in _passages(section, tokens, max_tokens):
            digest = sha256(embed_text.encode("utf-8", "replace")).hexdigest()
            number = chunk_id(key, digest, seen[digest])
            seen[digest] += 1
            place = (len(chunks), [*section.path], section.anchor)
            chunks.append(Chunk(number, key, *place, text, digest, embed_text))
    return chunks


def chunk_id(key: str, embed_digest: str, occurrence: int) -> int:
    """Return the positive 63-bit id of the n-th (from 0) chunk of a page with this digest."""
    name = f"{embed_digest}\0{occurrence}\0{key}".encode("utf-8", "replace")
    return int.from_bytes(sha256(name).digest()[:8], "big") >> 1 or 1


@dataclass(slots=True)
class _Section:
    """What stands under one heading, signature or term, up to the next."""

    path: list[str]
    anchor: str
    blocks: list[Block] = field(default_factory=list)

    @property
    def has_body(self) -> bool:
        return any(block.kind != "rule" for block in self.blocks)


def _sections(title: str, blocks: Sequence[Block]) -> list[_Section]:
    """Return the sections that have a body, or else one made of all headings."""
    blocks = [block for block in blocks if block.text.strip()]
    lead = _page_lead(title, blocks)
    sections = [section for section in _divide(title, lead, blocks) if section.has_body]
    headings = [block for block in blocks if block.kind == "heading"]
    if headings and not sections:
        sections.append(_Section(lead or [_title(headings[0])], headings[0].anchor, headings))
    return sections


def _page_lead(title: str, blocks: Iterable[Block]) -> list[str]:
    """Return the page's title, unless it only adds the site's name to the first H1.

    Such a name often has a version in it, which would change every chunk at each release.
    """
    title = " ".join(title.split())
    first = next((_title(block) for block in blocks if block.level == 1), "")
    named = bool(first) and first.casefold() in title.casefold()
    return [title] if title and not named else []


def _relative(names: Iterable[str]) -> Iterator[str]:
    """Yield names without the dotted name that they share with the one before.

    ``orm.Session`` and ``orm.Session.close`` become ``orm.Session`` and
    ``close``: the same to a reader, and far fewer tokens.
    """
    before = ""
    for name in names:
        yield name.removeprefix(before + ".") if before else name
        before = name


def _divide(title: str, lead: list[str], blocks: Iterable[Block]) -> Iterator[_Section]:
    """Yield the stretches between headings, with the titles that they stand under."""
    stack: list[tuple[int, str, str]] = []
    # What stands before the first heading still belongs to the page.
    section = _Section([" ".join(title.split())] if title.strip() else lead, "")
    for block in blocks:
        if level := _section_level(block):
            yield section
            while stack and stack[-1][0] >= level:
                stack.pop()
            anchor = block.anchor or (stack[-1][2] if stack else "")
            stack.append((level, _title(block), anchor))
            section = _Section([*lead, *_relative(name for _, name, _ in stack if name)], anchor)
        if block.kind != "heading":
            section.blocks.append(block)
    yield section


def _section_level(block: Block) -> int:
    """Return the level of a block that starts a section, 0 for others."""
    if block.kind in {"heading", "signature"}:
        return max(block.level, 1 if block.kind == "heading" else 7)
    return _TERM_LEVEL if block.anchor and block.title else 0


def _title(block: Block) -> str:
    return " ".join((block.title or block.plain.lstrip("# ")).split())


def _passages(section: _Section, tokens: Tokens, max_tokens: int) -> Iterator[tuple[str, str]]:
    """Yield text and embedded text of the section's chunks."""
    lead = _embedded_path(section.path, max_tokens // 3, tokens)
    limit = max_tokens - SPECIAL_TOKENS
    budget = limit - tokens.count(lead)
    parts = [split_block(block, budget, tokens) for block in section.blocks]
    for group in _pack(parts, budget, tokens):
        yield from _fitting(lead, group, limit, tokens)


def _embedded_path(path: list[str], limit: int, tokens: Tokens) -> str:
    """Return the line that goes before the text: as many of the last titles as fit."""
    for first in range(len(path)):
        line = " > ".join(path[first:])
        if tokens.count(line + "\n") <= limit:
            return line + "\n"
    line = path[-1] if path else ""
    starts = [at for at, _ in tokens.offsets(line)]
    for size in range(min(limit, len(starts) - 1), 0, -1):
        cut = line[: starts[size]].rstrip() + "\n"
        if tokens.count(cut) <= limit:
            return cut
    return ""


def _pack(blocks: Iterable[list[Block]], budget: int, tokens: Tokens) -> Iterator[list[Block]]:
    """Yield runs of parts that go into one chunk; parts of the same block are not joined."""
    run: list[Block] = []
    for parts in blocks:
        for number, part in enumerate(parts):
            if number:
                yield from _groups(run, budget, tokens)
                run = []
            run.append(part)
    yield from _groups(run, budget, tokens)


def _groups(run: list[Block], budget: int, tokens: Tokens) -> Iterator[list[Block]]:
    gap = tokens.count(_GAP)
    led = [False, *(block.plain.rstrip().endswith(":") for block in run)]
    parts = [
        # what announces a list or an example stays with it
        Part(tokens.count(block.plain) + gap, (int(led[at]), mark(_telling(run, at))), -gap)
        for at, block in enumerate(run)
    ]
    for start, end in divide(parts, budget):
        yield run[start:end]


def _telling(run: list[Block], at: int) -> str:
    """Return what a block is ranked by: its text, and what follows if it is short."""
    told = ""
    while at < len(run) and len(told) < TELLING:
        told += run[at].plain + _GAP
        at += 1
    return told


def _fitting(
    lead: str, group: list[Block], limit: int, tokens: Tokens
) -> Iterator[tuple[str, str]]:
    """Yield the group as one chunk, or as several where the counts did not add up."""
    embed_text = lead + _GAP.join(block.plain for block in group)
    excess = tokens.count(embed_text) - limit
    parts = _smaller(group, excess, tokens) if excess > 0 else []
    if not parts:
        yield _GAP.join(block.text for block in group), embed_text
    for part in parts:
        yield from _fitting(lead, part, limit, tokens)


def _smaller(group: list[Block], excess: int, tokens: Tokens) -> list[list[Block]]:
    """Return smaller groups; none if the group is as small as it can get."""
    if len(group) > 1:
        return [group[:-1], group[-1:]]
    size = tokens.count(group[0].plain)
    parts = split_block(group[0], max(size - excess, 1), tokens)
    if any(tokens.count(part.plain) >= size for part in parts):
        return []
    return [[part] for part in parts]
