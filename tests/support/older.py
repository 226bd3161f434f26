"""Embedders that bring an earlier release along: named by the setting, they change what reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl import run, staging
from freshcrawl.core.chunks import chunk_page
from freshcrawl.extract import extract
from freshcrawl.pipelines import normalize
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.core.blocks import Block
    from freshcrawl.core.pieces import Offsets
    from freshcrawl.core.published import Chunk


class OlderChunker(HashEmbedder):
    """With a chunker that made chunks of a quarter of the limit."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _say_older()
        vars(staging)["chunk_page"] = _chunk_smaller


class OlderReader(HashEmbedder):
    """With an extractor that lost the last block of each page."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _say_older()
        vars(run)["recipe"] = lambda site, *, links: "older"
        vars(normalize)["extract"] = _extract_less


def _chunk_smaller(
    key: str, title: str, blocks: Sequence[Block], offsets: Offsets, max_tokens: int
) -> list[Chunk]:
    return chunk_page(key, title, blocks, offsets, max_tokens // 4)


def _extract_less(*args: Any, **options: Any) -> Any:
    document = extract(*args, **options)
    del document.blocks[-1:]
    return document


def _say_older() -> None:
    vars(run)["made_by"] = lambda site, chunk_tokens: "older"
