"""The chunkers that are compared, each set to the same tokenizer and the same limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.core.chunks import SPECIAL_TOKENS, chunk_page
from freshcrawl.core.pieces import Tokens
from freshcrawl.stores.model_files import MINILM, find_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.chunk_edits import Page
    from freshcrawl.core.pieces import Offsets


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk: what is embedded, and the part of it that stands in the page in a row."""

    embedded: str
    body: str


def chunkers(offsets: Offsets, limit: int) -> dict[str, Callable[[Page], list[Piece]]]:
    """Return the chunkers by name, freshcrawl's first.

    ``limit`` is in tokens with the model's special ones. The peers are told the
    number without them, as they count text alone.
    """
    room = limit - SPECIAL_TOKENS
    return {
        "freshcrawl": lambda page: _ours(page, offsets, limit),
        **_langchain(Tokens(offsets).count, room),  # counts each text once, as freshcrawl does
        **_semantic(room),
    }


def _ours(page: Page, offsets: Offsets, limit: int) -> list[Piece]:
    chunks = chunk_page(page.url, page.title, page.blocks, offsets, limit)
    return [
        Piece(
            chunk.embed_text,
            chunk.embed_text.partition("\n")[2] if chunk.heading_path else chunk.embed_text,
        )
        for chunk in chunks
    ]


def _langchain(count: Callable[[str], int], room: int) -> dict[str, Callable[[Page], list[Piece]]]:
    from langchain_text_splitters import (
        MarkdownHeaderTextSplitter,
        MarkdownTextSplitter,
        RecursiveCharacterTextSplitter,
    )

    options: dict[str, Any] = {"chunk_size": room, "chunk_overlap": 0, "length_function": count}
    headers = MarkdownHeaderTextSplitter([("#" * level, f"h{level}") for level in range(1, 7)])
    recursive = RecursiveCharacterTextSplitter(**options)
    markdown = MarkdownTextSplitter(**options)

    def by_headers(page: Page) -> list[Piece]:
        parts = recursive.split_documents(headers.split_text(page.markdown))
        return [Piece(part.page_content, part.page_content) for part in parts]

    return {
        "LangChain, headers then recursive": by_headers,
        "LangChain, MarkdownTextSplitter": lambda page: _plain(markdown.split_text(page.markdown)),
    }


def _semantic(room: int) -> dict[str, Callable[[Page], list[Piece]]]:
    from semantic_text_splitter import MarkdownSplitter
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(find_model(MINILM, "").folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    splitter = MarkdownSplitter.from_huggingface_tokenizer(tokenizer, room)
    return {"semantic-text-splitter": lambda page: _plain(splitter.chunks(page.markdown))}


def _plain(texts: list[str]) -> list[Piece]:
    return [Piece(text, text) for text in texts]
