"""One page as each method sees it: what is equal for two versions is "no change" to it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trafilatura

from benchmarks.change_themes import Theme, Truth, digest, full_text, truth
from freshcrawl.core.changes import compare, content_digest, links_digest
from freshcrawl.core.pages import Verdict
from freshcrawl.core.published import Published
from freshcrawl.core.simhash import hamming, simhash
from freshcrawl.extract import extract
from freshcrawl.reading import page_title

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Document

SIMHASH_BITS = 3


@dataclass(frozen=True, slots=True)
class Ours:
    """What freshcrawl compares of a page."""

    digest: str
    links: str
    simhash: int
    words: int

    def verdict_after(self, before: Ours) -> str:
        """Return the verdict on this body where ``before`` is what is published."""
        published = Published("k", "u", digest=before.digest, links_digest=before.links)
        return str(compare(published, self.digest, self.links))

    def bits_from(self, before: Ours) -> int:
        """Return how many bits of the simhash differ."""
        return hamming(before.simhash, self.simhash)


@dataclass(frozen=True, slots=True)
class View:
    """All methods' view of one page."""

    raw: str
    full: str
    peer: str
    truth: Truth | None
    ours: Ours


def read(html: bytes, place: str) -> tuple[Document, str]:
    """Return the document of a page as the pipelines make it, and its title."""
    document = extract(html.decode("utf-8", "replace"), f"https://docs.example.com/{place}")
    return document, page_title(document)


def our_view(html: bytes, place: str) -> Ours:
    """Return what freshcrawl compares of a page."""
    document, title = read(html, place)
    return Ours(
        content_digest(title, document.blocks),
        links_digest("u", "", document.blocks),
        simhash(document.bare_markdown),
        len(document.bare_markdown.split()),
    )


def peer_view(html: bytes) -> str:
    """Return the digest of the main text as trafilatura finds it."""
    return digest([trafilatura.extract(html.decode("utf-8", "replace"), include_tables=True) or ""])


def view(html: bytes, place: str, theme: Theme, peer: str = "") -> View:
    """Return all views of a page; ``peer`` is trafilatura's where it is known."""
    text = html.decode("utf-8", "replace")
    return View(
        hashlib.sha256(html).hexdigest(),
        digest([full_text(text)]),
        peer or peer_view(html),
        truth(text, theme),
        our_view(html, place),
    )


def label(old: Truth | None, new: Truth | None) -> str:
    """Return what really became of a main text: same, volatile, reordered, real or unknown."""
    if old is None or new is None:
        return "unknown"
    if old.exact == new.exact:
        return "same"
    if old.masked == new.masked:
        return "volatile"
    return "reordered" if old.unordered == new.unordered else "real"


def is_changed(verdict: str) -> bool:
    """Tell whether a verdict says that the text is another."""
    return verdict == Verdict.CHANGED
