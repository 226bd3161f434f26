"""What one HTML page says: blocks of its main content, and its head."""

from __future__ import annotations

from dataclasses import dataclass, field

from freshcrawl.core.pages import JsonRecord


@dataclass(slots=True)
class Block(JsonRecord):
    """One block of main content.

    ``kind`` is one of heading, paragraph, list, code, table, signature,
    admonition, quote, rule. ``text`` is Markdown for display; ``bare`` is the
    same without link targets (``""``: equal to ``text``). ``level`` is 1-6 for
    a heading; for a signature 7 plus its depth of nesting. ``title`` is the
    plain text of a heading, or the short name of a signature.
    """

    kind: str
    text: str
    bare: str = ""
    level: int = 0
    anchor: str = ""
    title: str = ""

    @property
    def plain(self) -> str:
        """Markdown without link targets: what is compared and embedded."""
        return self.bare or self.text


@dataclass(slots=True)
class Document:
    """Main content and head of one HTML page."""

    title: str = ""
    blocks: list[Block] = field(default_factory=list)
    left_out: dict[int, Block] = field(default_factory=dict)
    """Blocks that are none of the page's own, by their place among all (site boilerplate)."""
    links: list[str] = field(default_factory=list)
    """Absolute URLs of all ``a href`` of the whole page, in order, without repeats."""
    canonical: str = ""
    description: str = ""
    language: str = ""
    robots: str = ""
    """Contents of ``meta name=robots``, one a line, and of others as ``name: content``."""
    refresh: str = ""
    """Absolute target of an immediate ``meta http-equiv=refresh``, or ``""``."""
    generator: str = ""
    """Name of the rule that found the main content, ``body`` for none."""
    index_page: bool = False
    """A page that the generator makes of links alone (Sphinx genindex, search)."""
    head_title: str = ""
    """Title in the head as it is, with the site's name."""
    wall: str = ""
    """What stands in front of the page: ``login form`` and so on (`extract.walls`), or ``""``."""
    wall_sign: str = ""
    """What it is known by, in words."""

    @property
    def wall_words(self) -> str:
        """What stands in front of the page and what it is known by, in words."""
        return f"the answer is a {self.wall}, not the page ({self.wall_sign})"

    @property
    def markdown(self) -> str:
        """Displayed Markdown."""
        return "\n\n".join(block.text for block in self.blocks)

    @property
    def bare_markdown(self) -> str:
        """Markdown without link targets: the text whose digest decides."""
        return "\n\n".join(block.plain for block in self.blocks)
