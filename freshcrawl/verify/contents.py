"""Kept content against the page that it is the content of."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshcrawl.core.changes import content_digest
from freshcrawl.core.chunks import CHUNKER_VERSION, chunk_page
from freshcrawl.extract import EXTRACTOR_VERSION
from freshcrawl.reading import chunk_size
from freshcrawl.staging import Content
from freshcrawl.stores.base import DamagedContentError
from freshcrawl.verify.findings import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.core.published import Chunk, Published
    from freshcrawl.stores.base import Embedder
    from freshcrawl.verify.view import View

VERSIONS = f"{EXTRACTOR_VERSION}.{CHUNKER_VERSION}"
WAITS = "the next crawl downloads the page and keeps it again"


@dataclass(frozen=True, slots=True)
class Kept:
    """The content of a published page."""

    page: Published
    content: Content

    @property
    def is_ours(self) -> bool:
        """Whether this version read and cut the page, into chunks of whatever size."""
        return self.content.made_by.partition("-")[0].partition(":")[0] == VERSIONS

    def is_cut_for(self, chunk_tokens: int) -> bool:
        """Tell whether cutting it into chunks of this size must give those that it has."""
        return self.is_ours and chunk_size(self.content.made_by) == chunk_tokens

    def chunks(self, embedder: Embedder) -> list[Chunk]:
        """Return the page's chunks as they are cut today."""
        blocks = self.content.shown_blocks()
        limits = (embedder.token_offsets, embedder.max_tokens)
        return chunk_page(self.page.key, self.page.title, blocks, *limits)


def read_kept(view: View, page: Published) -> Kept | None:
    """Return what is kept of a page, None if nothing is.

    Raises:
        DamagedContentError: it cannot be read, or is that of another text.
    """
    data = view.corpus.content(page.content)
    if data is None:
        return None
    kept = Kept(page, read_content(data))
    if kept.is_ours:
        digest = content_digest(page.title, kept.content.shown_blocks())
        if digest != page.digest:
            raise DamagedContentError("its text is not the published one")
    return kept


def read_content(data: bytes) -> Content:
    """Return content as it is stored.

    Raises:
        DamagedContentError: it cannot be read.
    """
    try:
        content = Content.read(zlib.decompress(data))
        content.shown_blocks()
    except (zlib.error, json.JSONDecodeError, UnicodeError) as error:
        raise DamagedContentError(f"it cannot be read ({error})") from error
    except (TypeError, AttributeError, KeyError, IndexError) as error:
        raise DamagedContentError("it is no content of a page") from error
    return content


def usable(view: View) -> Iterator[Kept]:
    """Yield the content of the live pages whose content is as it should be."""
    for page in view.live():
        try:
            kept = read_kept(view, page)
        except DamagedContentError:
            continue
        if kept is not None:
            yield kept


def check_content(view: View, page: Published) -> tuple[Kept | None, list[Finding]]:
    """Return a live page's content, and what is wrong with it."""
    try:
        kept = read_kept(view, page)
    except DamagedContentError as error:
        what = f"its kept content is damaged: {error}"
        return None, [Finding(Kind.CONTENT_DAMAGED, page.key, what)]
    if kept is not None or not page.content:
        return kept, []
    waits = view.is_waiting(page.key)
    what = f"its kept content is gone; {WAITS}" if waits else "its kept content is gone"
    return None, [Finding(Kind.CONTENT_MISSING, page.key, what, damage=not waits)]


def check_unused_content(view: View) -> list[Finding]:
    """Look at the content that no live page has: that of older generations and staged work."""
    used = {page.content for page in view.live()}
    findings = []
    for digest, data in view.corpus.contents():
        if digest not in used:
            try:
                read_content(data)
            except DamagedContentError as error:
                findings.append(
                    Finding(Kind.CONTENT_OLD, digest, f"content of no live page: {error}")
                )
    return findings
