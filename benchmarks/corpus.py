"""Pages that are scored, and what is known of them from other code than ours.

A module of `benchmarks.corpora` stands for one generator. It has ``FAMILY`` (its
name), ``UNSEEN`` (true if nobody looked at its pages while tuning) and
``pages(work)``, which downloads and builds into the folder ``work`` what is not
there yet, and returns the pages.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Gold:
    """Main content of a page, in the order of the page, as plain text without Markdown."""

    text: list[str]
    """Every text of the main content, one per block: titles, paragraphs, cells, code and all."""
    headings: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    """Code blocks, verbatim."""
    rows: list[list[str]] = field(default_factory=list)
    """Cells of the rows of tables."""
    signatures: list[str] = field(default_factory=list)
    """API signatures, each on one line."""
    source: str = "main element"
    """Where it comes from: ``Markdown``, ``reST doctree``, ... or ``main element``."""


@dataclass(slots=True)
class Page:
    """One page as it is served."""

    url: str
    html: bytes
    gold: Gold
