"""Edits of real pages, as their authors make them: seeded, so that each run has the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from freshcrawl.core.blocks import Block
from freshcrawl.extract import extract
from freshcrawl.reading import page_title
from tests.support.corpora import corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from freshcrawl.core.pieces import Tokens

VERSIONS = {
    "alembic": ("1.16.4", "1.16.5"),
    "lxml": ("6.0.0", "6.0.2"),
    "mako": ("1.3.8", "1.3.10"),
    "sqlalchemy": ("2.0.43", "2.0.44"),
}
"""Older and newer version of the real documentations."""
PARAGRAPHS = 3
"""Paragraphs that a page has at least, to be edited."""
WORDS = 10
"""Words that a paragraph has at least, to be put into another page."""
LONG = 400
"""Tokens from which a block or a section counts as long: more than one chunk holds."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is cut: title and main content of one page."""

    url: str
    title: str
    blocks: tuple[Block, ...]

    @property
    def markdown(self) -> str:
        """The main content without link targets, as every chunker gets it."""
        return "\n\n".join(block.plain for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: the page before and after."""

    kind: str
    before: Page
    after: Page


def pages_of(name: str, version: str) -> dict[str, Page]:
    """Return the pages of one version that have main content, by path."""
    root = corpus(name, version)
    pages = {}
    for file in sorted(root.rglob("*.html")):
        path = file.relative_to(root).as_posix()
        document = extract(file.read_bytes(), f"https://docs.example.com/{path}")
        if document.blocks and not document.index_page:
            url = f"https://docs.example.com/{name}/{path}"
            pages[path] = Page(url, page_title(document), tuple(document.blocks))
    return pages


def releases(
    pages: dict[str, tuple[dict[str, Page], dict[str, Page]]],
) -> Iterator[Edit]:
    """Yield the pages that two versions have and whose main content differs."""
    for name, (old, new) in pages.items():
        for path in sorted(old.keys() & new.keys()):
            if old[path].markdown != new[path].markdown:
                yield Edit(name, old[path], new[path])


class Author:
    """Edits pages at random; what is put in comes from other pages."""

    def __init__(self, pages: Sequence[Page], tokens: Tokens, seed: int) -> None:
        self._random = Random(seed)
        self._tokens = tokens
        self._pages = [page for page in pages if len(_paragraphs(page)) >= PARAGRAPHS]
        self._donors = [
            (page.url, block)
            for page in self._pages
            for block in (page.blocks[at] for at in _paragraphs(page))
            if len(block.plain.split()) >= WORDS
        ]
        self._long = [
            (page, at)
            for page in pages
            for at, block in enumerate(page.blocks)
            if block.kind in {"code", "list", "table"} and tokens.count(block.plain) >= LONG
        ]
        self._sections = [
            (page, start)
            for page in self._pages
            for start, end in _sections(page)
            if sum(tokens.count(block.plain) for block in page.blocks[start:end]) >= LONG
        ]

    def paragraphs(self, count: int) -> Iterator[Edit]:
        """Yield ``count`` edits of paragraphs, as many of each kind."""
        kinds: list[tuple[str, Callable[[Page], tuple[Block, ...]]]] = [
            ("paragraph inserted", self._insert),
            ("paragraph deleted", self._delete),
            ("words of a paragraph changed", self._change),
            ("paragraph inserted at the top", self._top),
        ]
        for number in range(count):
            kind, edit = kinds[number % len(kinds)]
            page = self._random.choice(self._pages)
            yield Edit(kind, page, replace(page, blocks=edit(page)))

    def long_blocks(self, count: int) -> Iterator[Edit]:
        """Yield ``count`` edits at the top of a long section or of a line of a long block."""
        for number in range(count):
            if number % 2:
                page, at = self._random.choice(self._sections)
                blocks = (*page.blocks[:at], self._donor(page), *page.blocks[at:])
                yield Edit("top of a long section", page, replace(page, blocks=blocks))
            else:
                page, at = self._random.choice(self._long)
                block = self._line(page.blocks[at])
                blocks = (*page.blocks[:at], block, *page.blocks[at + 1 :])
                yield Edit(f"line of a long {block.kind}", page, replace(page, blocks=blocks))

    def _donor(self, page: Page) -> Block:
        while True:
            url, block = self._random.choice(self._donors)
            if url != page.url:
                return Block("paragraph", block.plain)

    def _insert(self, page: Page) -> tuple[Block, ...]:
        at = self._random.choice(_paragraphs(page)) + self._random.randrange(2)
        return (*page.blocks[:at], self._donor(page), *page.blocks[at:])

    def _top(self, page: Page) -> tuple[Block, ...]:
        at = next((n + 1 for n, block in enumerate(page.blocks) if block.kind == "heading"), 0)
        return (*page.blocks[:at], self._donor(page), *page.blocks[at:])

    def _delete(self, page: Page) -> tuple[Block, ...]:
        at = self._random.choice(_paragraphs(page))
        return (*page.blocks[:at], *page.blocks[at + 1 :])

    def _change(self, page: Page) -> tuple[Block, ...]:
        """Replace up to ten words in a row by as many of another page."""
        at = self._random.choice(_paragraphs(page))
        words = page.blocks[at].plain.split(" ")
        size = self._random.randint(1, min(10, len(words)))
        start = self._random.randint(0, len(words) - size)
        words[start : start + size] = self._donor(page).text.split()[:size]
        return (*page.blocks[:at], Block("paragraph", " ".join(words)), *page.blocks[at + 1 :])

    def _line(self, block: Block) -> Block:
        """Insert, delete or change one line that is not a table's head or a fence."""
        lines = block.plain.split("\n")
        inner = [n for n in range(2, len(lines) - 1) if "```" not in lines[n]]
        at = self._random.choice(inner)
        kind = self._random.choice(("insert", "delete", "change"))
        if kind == "insert":
            lines.insert(at, lines[self._random.choice(inner)].replace("e", "a"))
        elif kind == "change":
            lines[at] = lines[at] + " changed" if block.kind != "table" else "| new " + lines[at]
        else:
            del lines[at]
        return replace(block, text="\n".join(lines), bare="")


def _paragraphs(page: Page) -> list[int]:
    """Return the places of the paragraphs that are not headings of sections."""
    return [
        at
        for at, block in enumerate(page.blocks)
        if block.kind == "paragraph" and not block.title and block.plain.split()
    ]


def _sections(page: Page) -> Iterator[tuple[int, int]]:
    """Yield start and end of what stands below each heading."""
    heads = [
        at
        for at, block in enumerate(page.blocks)
        if block.kind in {"heading", "signature"} or (block.anchor and block.title)
    ]
    for head, end in zip(heads, [*heads[1:], len(page.blocks)], strict=True):
        yield head + 1, end
