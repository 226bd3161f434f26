"""Tokens of a text: by a model's tokenizer, or estimated where that is not known."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.chunks import chunk_page
from freshcrawl.extract import extract
from freshcrawl.reading import page_title
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.http_embedding import HttpEmbedder
from freshcrawl.stores.model_files import MINILM
from freshcrawl.stores.tokenizing import TOKENIZER, Tokenizer, estimated_offsets

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.stores.base import Embedder

URL = "http://127.0.0.1:1/v1"
MINILM_FOLDER = SentenceTransformerEmbedder(MINILM)._files.folder


def estimated(text: str) -> list[str]:
    return [text[start:end] for start, end in estimated_offsets(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" \n\t ", []),
        ("Call create_engine()", ["Call", "crea", "te", "_", "engi", "ne", "(", ")"]),
        ("MetaData XML", ["Meta", "Data", "XM", "L"]),
        ("12345, 3.14", ["123", "45", ",", "3", ".", "14"]),
        ("表示 é", ["表", "示", "é"]),
        ("```\n    a\n```", ["`", "`", "`", "a", "`", "`", "`"]),
    ],
)
def test_estimate(text: str, pieces: list[str]) -> None:
    assert estimated(text) == pieces


@given(st.text())
def test_estimated_tokens_are_all_that_is_no_space(text: str) -> None:
    assert "".join(estimated(text)) == "".join(text.split())
    spans = estimated_offsets(text)
    assert spans == sorted(spans)


def counts(pages: list[Path], embedder: Embedder) -> list[tuple[int, int]]:
    """Return real and estimated tokens of the passages that the embedder's limits give."""
    real = SentenceTransformerEmbedder(MINILM)
    found = []
    for path in pages:
        document = extract(path.read_bytes(), f"https://docs.example.com/{path.name}")
        limits = (embedder.token_offsets, embedder.max_tokens)
        for chunk in chunk_page(path.name, page_title(document), document.blocks, *limits):
            text = chunk.embed_text
            found.append((len(real.token_offsets(text)), len(estimated_offsets(text))))
    return found


def test_estimate_is_rather_too_many_on_real_documentation(
    mako_trees: tuple[Path, Path], sqlalchemy_44: Path
) -> None:
    pages = sorted(mako_trees[1].glob("*.html")) + sorted((sqlalchemy_44 / "orm").glob("s*.html"))
    found = counts(pages, HttpEmbedder("m", "", EmbedOptions(url=URL)))
    assert len(found) > 1_000
    fewer = [real / guess for real, guess in found if real > guess]
    assert len(fewer) < 0.01 * len(found)
    assert max(fewer, default=0) < 1.25
    total = sum(guess for _, guess in found) / sum(real for real, _ in found)
    assert 1.1 < total < 1.4


def test_tokenizer_of_the_endpoints_model(tmp_path: Path) -> None:
    shutil.copy(MINILM_FOLDER / "tokenizer.json", tmp_path)
    real = SentenceTransformerEmbedder(MINILM)
    options = EmbedOptions(url=URL, tokenizer=str(tmp_path), document_prompt="passage: ")
    embedder = HttpEmbedder("m", "", options)
    text = "Héllo `create_engine()` 中 " * 200
    assert embedder.token_offsets(text) == real.token_offsets(text)
    assert embedder.token_offsets("") == []
    assert embedder.max_tokens == 256 - 2


def test_tokenizer_that_is_missing_or_broken(tmp_path: Path) -> None:
    options = EmbedOptions(url=URL, tokenizer=str(tmp_path))
    with pytest.raises(StoreError, match=r"tokenizer\.json: missing; FRESHCRAWL_EMBED_TOKENIZER"):
        HttpEmbedder("m", "", options)
    (tmp_path / "tokenizer.json").write_text("{\n")
    with pytest.raises(StoreError, match=r"tokenizer\.json: cannot be read: ") as caught:
        Tokenizer(tmp_path / TOKENIZER, "X").offsets("text")
    assert len(str(caught.value).splitlines()) == 1


def test_limit_of_passages() -> None:
    def limit(**options: str | int) -> int:
        return HttpEmbedder("m", "", EmbedOptions(url=URL, **options)).max_tokens  # type: ignore[arg-type]

    assert limit() == 256
    assert limit(chunk_tokens=500, document_prompt="search_document: ") == 500 - 6
    with pytest.raises(StoreError, match="FRESHCRAWL_EMBED_DOCUMENT_PROMPT has 40 tokens"):
        limit(chunk_tokens=64, document_prompt="word " * 40)
