"""How a page's blocks are read: parted from the site's boilerplate, with title and digests."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import astuple
from typing import TYPE_CHECKING

from freshcrawl.core import volatile
from freshcrawl.core.boilerplate import BODY, find, without
from freshcrawl.core.changes import content_digest, digests
from freshcrawl.core.chunks import CHUNKER_VERSION
from freshcrawl.embedding_config import DEFAULT_CHUNK_TOKENS
from freshcrawl.extract import EXTRACTOR_VERSION

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from freshcrawl.core.blocks import Document
    from freshcrawl.items import PageItem
    from freshcrawl.sites import SiteConfig

TITLE_TAIL = re.compile(r"\s+[\u2014\u2013|\xb7]\s+.*$", re.DOTALL)
_CUT = re.compile(r"\.\d+(?::(\d+))?")


def made_by(site: SiteConfig, chunk_tokens: int) -> str:
    """Return what tells how this code reads and cuts the pages of a site.

    ``chunk_tokens`` is the setting's; its default is not named, so that pages of before it
    could be set stand.
    """
    size = f":{chunk_tokens}" if chunk_tokens != DEFAULT_CHUNK_TOKENS else ""
    versions = f"{EXTRACTOR_VERSION}.{CHUNKER_VERSION}{size}"
    table = [site.keep, site.drop, site.volatile_patterns]
    if not any(table):
        return versions
    return f"{versions}-{hashlib.sha256(json.dumps(table).encode()).hexdigest()[:12]}"


def read_alike(one: str, other: str) -> bool:
    """Tell whether two values of ``made_by`` differ in chunker version and chunk size at most."""
    return _CUT.sub("", one, count=1) == _CUT.sub("", other, count=1)


def cut_as(read: str, cut: str) -> str:
    """Return a value of ``made_by`` that reads as the first one and cuts as the second."""
    found = _CUT.search(cut)
    return _CUT.sub(found.group(), read, count=1) if found else read


def chunk_size(made: str) -> int:
    """Return the chunk size that a value of ``made_by`` stands for."""
    found = _CUT.search(made)
    return int(found.group(1) or DEFAULT_CHUNK_TOKENS) if found else DEFAULT_CHUNK_TOKENS


def recipe(site: SiteConfig, *, links: bool) -> str:
    """Return what identifies how bodies of a site are read; another one voids validators.

    That is also which links and canonical links lead to pages of the site, and
    whether links are followed.
    """
    reading = [site.keep, site.drop, site.noindex, site.render, site.volatile_patterns]
    pages = [astuple(site.scope), astuple(site.rules), site.allow, site.deny, site.urls, links]
    digest = hashlib.sha256(json.dumps(reading + pages).encode()).hexdigest()
    return f"{EXTRACTOR_VERSION}-{digest[:12]}"


def page_title(document: Document) -> str:
    """Return the first H1, else the title of the head without the site's name."""
    for block in document.blocks:
        if block.kind == "heading" and block.level == 1 and block.title:
            return block.title
    return TITLE_TAIL.sub("", document.title).strip()


def part(document: Document, known: Collection[str], patterns: Sequence[str]) -> None:
    """Move blocks whose fingerprints are ``known`` as site boilerplate to ``left_out``.

    Only where no main element was found. ``patterns`` are the site's ``volatile_patterns``.
    """
    if not known or document.generator != BODY:
        return
    # Seen and kept as the others are once they are shown, since that is what is learned from.
    blocks = volatile.for_display(document.blocks, patterns)
    places = find(blocks, frozenset(known))
    document.left_out = {place: blocks[place] for place in places}
    document.blocks = without(document.blocks, places)


def fill_digests(item: PageItem, document: Document, patterns: Sequence[str]) -> None:
    """Fill in the digests; what the site calls volatile takes no part in them."""
    blocks = document.blocks
    if patterns:
        item.shown_digest = content_digest(item.title, blocks)
        item.title = volatile.mask(item.title, patterns)
        blocks = volatile.for_comparison(blocks, patterns)
        document.blocks = volatile.for_display(document.blocks, patterns)
    place = (item.title, item.cited_url, item.canonical)
    item.digest, item.links_digest = digests(place, blocks, document.left_out.values())
