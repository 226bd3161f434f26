"""Staged work: made from an outcome, packed for the store, turned into an edit of the corpus."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.core import boilerplate, evidence
from freshcrawl.core.blocks import Block, Document
from freshcrawl.core.chunks import MIN_TOKENS, chunk_page
from freshcrawl.core.pages import JsonRecord, Status, Verdict
from freshcrawl.core.published import Chunk, Edit, Published, Staged
from freshcrawl.core.trust import gist_digest
from freshcrawl.stores.base import DamagedContentError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.core.evidence import Finding
    from freshcrawl.items import PageItem
    from freshcrawl.stores.base import Corpus, Embedder

logger = logging.getLogger(__name__)


def staged_content(
    item: PageItem, document: Document, embedder: Embedder | None, changed_at: float, made_by: str
) -> Staged:
    """Return the work that makes a fetched text current; without embedder, not cut yet."""
    return Staged(
        key=item.key,
        url=item.cited_url,
        status=Status.LIVE,
        verdict=item.verdict,
        staged_at=item.fetched_at,
        changed_at=changed_at,
        digest=item.digest,
        links_digest=item.links_digest,
        title=item.title,
        simhash=item.simhash,
        gist=gist_digest(item.title, document.bare_markdown, item.cited_url),
        essence=item.essence,
        canonical=item.canonical,
        generator=document.generator,
        left_out=sorted(document.left_out),
        blocks=pack_blocks(boilerplate.whole(document.blocks, document.left_out)),
        made_by=made_by,
        body=pack(item.body),
        **cut(item.key, item.title, document.blocks, embedder),
    )


def cut(key: str, title: str, blocks: Sequence[Block], embedder: Embedder | None) -> dict[str, Any]:
    """Return ``chunks`` and ``cut_for`` of a page as staged work has them; none without embedder.

    Who embeds and publishes it cuts it then (``cut_anew``).
    """
    if embedder is None:
        return {"chunks": [], "cut_for": ""}
    return {"chunks": chunks_of(key, title, blocks, embedder), "cut_for": limit_of(embedder)}


def chunks_of(
    key: str, title: str, blocks: Sequence[Block], embedder: Embedder
) -> list[dict[str, Any]]:
    """Return the chunks of a page as staged work has them."""
    chunks = chunk_page(key, title, blocks, embedder.token_offsets, embedder.max_tokens)
    return [chunk.to_json() for chunk in chunks]


def limit_of(embedder: Embedder) -> str:
    """Return what tells for which model, and which size, chunks are cut."""
    return f"{embedder.model}:{embedder.max_tokens}"


def check_limit(embedder: Embedder) -> None:
    """Refuse a model, or a chunk size, that leaves too little room for a chunk.

    Raises:
        StoreError: the message says what to set.
    """
    limit = embedder.max_tokens
    if limit < MIN_TOKENS:
        raise StoreError(
            f"{embedder.model}: chunks need a limit of at least {MIN_TOKENS} tokens, not {limit}: "
            f"set FRESHCRAWL_CHUNK_TOKENS higher by {MIN_TOKENS - limit} or more, or another "
            "FRESHCRAWL_EMBED_MODEL if this one reads no more"
        )


def cut_anew(entry: Staged, embedder: Embedder) -> Staged:
    """Return whole staged work cut for this model and size: both may have changed meanwhile."""
    if not entry.blocks or entry.cut_for == limit_of(embedder):
        return entry
    shown = boilerplate.without(unpack_blocks(entry.blocks), entry.left_out)
    return replace(entry, **cut(entry.key, entry.title, shown, embedder))


def leaving(key: str, url: str, finding: Finding, verdict: str, found_at: float) -> Staged:
    """Return the work that takes a page out of the answers."""
    return Staged(
        key=key,
        url=url,
        status=finding.status,
        verdict=verdict,
        staged_at=found_at,
        changed_at=found_at,
        reason=finding.reason,
        cause=finding.cause,
        alias_of=finding.alias_of,
        target=finding.target,
    )


def copy_of(key: str, url: str, canonical: str, now: float) -> Staged:
    """Return the work that makes a page an alias of its canonical page."""
    return leaving(key, url, evidence.copy_of(canonical), Verdict.MOVED, now)


def to_edit(staged: Staged) -> Edit:
    """Return the part of a publish that a staged change stands for."""
    live = staged.status == Status.LIVE
    page = Published(
        key=staged.key,
        url=staged.url,
        status=staged.status,
        digest=staged.digest,
        links_digest=staged.links_digest,
        title=staged.title,
        simhash=staged.simhash,
        changed_at=staged.changed_at,
        content=_content_name(staged) if live else "",
    )
    return Edit(page, [Chunk.from_json(data) for data in staged.chunks] if live else [])


def is_published(entry: Staged, published: Published | None) -> bool:
    """Tell whether staged work is what is published of its page."""
    if published is None:
        return entry.status != Status.LIVE
    return (published.status, published.digest, published.links_digest) == (
        entry.status,
        entry.digest if entry.status == Status.LIVE else published.digest,
        entry.links_digest if entry.status == Status.LIVE else published.links_digest,
    )


def _content_name(staged: Staged) -> str:
    """Return the name of a page's kept content: of this page, text, body and way of reading."""
    parts = (staged.key, staged.digest, staged.links_digest, staged.body, staged.made_by)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def content_of(staged: Staged) -> bytes:
    """Return what is kept of a page's content: JSON with all of its blocks and its body."""
    return json.dumps(
        {
            "url": staged.url,
            "canonical": staged.canonical,
            "generator": staged.generator,
            "left_out": staged.left_out,
            "made_by": staged.made_by,
            "blocks": json.loads(unpack(staged.blocks)),
            "body": unpack(staged.body),
        },
        ensure_ascii=False,
    ).encode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Content(JsonRecord):
    """Kept content of a page (``content_of``); ``blocks`` are all, as JSON has them."""

    url: str
    body: str = ""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    canonical: str = ""
    generator: str = ""
    left_out: list[int] = field(default_factory=list)
    made_by: str = ""

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Return what ``content_of`` made."""
        return cls.from_json(json.loads(content.decode("utf-8", "surrogatepass")))

    def all_blocks(self) -> list[Block]:
        """Return the blocks, those that are site boilerplate too."""
        return [Block.from_json(block) for block in self.blocks]

    def shown_blocks(self) -> list[Block]:
        """Return the blocks that are published."""
        return boilerplate.without(self.all_blocks(), self.left_out)


def kept_content(corpus: Corpus, page: Published) -> Content | None:
    """Return what is kept of a page as published, None if nothing can be read.

    Any thread may call.
    """
    try:
        content = corpus.get_content(page.content) if page.content else None
        return Content.read(content) if content else None
    except DamagedContentError as error:
        problem = str(error)
    except (ValueError, TypeError, KeyError, AttributeError):
        problem = "the kept content of the page is damaged; run scrapy verify --repair"
    logger.warning("%(key)s: %(error)s", {"key": page.key, "error": problem})
    return None


def pack(text: str) -> str:
    """Return text compressed, as ASCII."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 6)).decode("ascii")


def unpack(packed: str) -> str:
    """Return the text of ``pack``; "" for ""."""
    if not packed:
        return ""
    return zlib.decompress(base64.b64decode(packed)).decode("utf-8", "surrogatepass")


def unpack_blocks(packed: str) -> list[Block]:
    """Return the blocks of ``pack_blocks``."""
    return [Block.from_json(block) for block in json.loads(unpack(packed) or "[]")]


def pack_blocks(blocks: Sequence[Block]) -> str:
    """Return blocks as packed JSON."""
    return pack(json.dumps([block.to_json() for block in blocks], ensure_ascii=False))
