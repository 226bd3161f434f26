"""Static models: facts without torch, vectors, a crawl."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.embedding_options import EmbedOptions
from tests.support.models import plain, static_model

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.model

FACTS = """
import sys
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
made = SentenceTransformerEmbedder(sys.argv[1])
assert made.token_offsets("some text") == [(0, 4), (5, 9)]
assert "torch" not in sys.modules and "numpy" not in sys.modules
print(made.dimension, made.max_tokens)
"""


@pytest.fixture(scope="module", params=[False, True], ids=["at the top", "in a subfolder"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return static_model(tmp_path_factory.mktemp("models") / "static", subfolder=request.param)


def test_facts_without_torch(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FACTS, str(folder)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("384 256\n", "")


def test_length_of_chunks_is_by_the_setting_alone(folder: Path) -> None:
    made = SentenceTransformerEmbedder(str(folder), "", EmbedOptions(chunk_tokens=4_000))
    assert made.max_tokens == 4_000


def test_vectors_are_those_of_sentence_transformers(folder: Path) -> None:
    made = SentenceTransformerEmbedder(str(folder), "", EmbedOptions(query_prompt="question: "))
    texts = ["Opening a connection", "long text " * 900, "x"]
    expected = plain(folder).encode([*texts, "question: x"], normalize_embeddings=True)
    assert made.encode(texts) == pytest.approx(expected[:3], abs=1e-6)
    assert made.encode_query("x") == pytest.approx(expected[3], abs=1e-6)


def test_text_without_a_known_word_has_a_vector_of_length_1_too(folder: Path) -> None:
    vectors = SentenceTransformerEmbedder(str(folder)).encode(["", "text"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(2), abs=1e-6)


def test_identity_is_by_table_and_tokenizer(folder: Path, tmp_path: Path) -> None:
    before = SentenceTransformerEmbedder(str(folder)).model
    other = tmp_path / folder.name
    shutil.copytree(folder, other)
    assert SentenceTransformerEmbedder(str(other)).model == before
    path = next(other.rglob("tokenizer.json"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "added": 1}))
    assert SentenceTransformerEmbedder(str(other)).model != before


@pytest.mark.parametrize("header", [b"", b"\5\0\0\0\0\0\0\0[1,2]", b"\2\0\0\0\0\0\0\0{}"])
def test_table_that_cannot_be_read(folder: Path, tmp_path: Path, header: bytes) -> None:
    shutil.copytree(folder, tmp_path / "static")
    next((tmp_path / "static").rglob("model.safetensors")).write_bytes(header)
    with pytest.raises(StoreError, match=r"model.safetensors: not the table of a static model"):
        SentenceTransformerEmbedder(str(tmp_path / "static"))
