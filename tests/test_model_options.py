"""Prompts, dimension, device and threads of a local model."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from freshcrawl.config import Config
from freshcrawl.core.published import Edit, Published
from freshcrawl.generations import MADE_TODAY, made_as
from freshcrawl.publishing import Publisher
from freshcrawl.state import open_in_memory
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.cores import usable_cores
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.model_files import MINILM
from tests.support.embedder import HashEmbedder
from tests.support.models import minilm_copy, minilm_folder, plain

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "Opening a connection to the SQL server"
OWN = {"query": "query: ", "document": "passage: "}


def embedder(model: object, **options: object) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(model), "", EmbedOptions(**options))  # type: ignore[arg-type]


def suffix(prompt: str) -> str:
    return "+" + hashlib.sha256(prompt.encode()).hexdigest()[:6]


@pytest.mark.model
@pytest.mark.parametrize(
    ("options", "document", "query"),
    [
        ({}, "passage: ", "query: "),
        ({"document_prompt": "text: "}, "text: ", "query: "),
        ({"query_prompt": "question: "}, "passage: ", "question: "),
    ],
    ids=["the model's own", "another for texts", "another for questions"],
)
def test_prompts_go_before_texts_and_questions(
    tmp_path: Path, options: dict[str, str], document: str, query: str
) -> None:
    folder = minilm_copy(tmp_path / "e5", prompts=OWN)
    ours = embedder(folder, **options)
    bare = plain(minilm_folder())
    assert ours.prompts == {"document": document, "query": query}
    expected = bare.encode([document + TEXT, query + TEXT, TEXT], normalize_embeddings=True)
    assert ours.encode([TEXT])[0] == pytest.approx(expected[0], abs=1e-5)
    assert ours.encode_query(TEXT) == pytest.approx(expected[1], abs=1e-5)
    assert np.abs(expected[0] - expected[2]).max() > 1e-3
    assert np.abs(expected[1] - expected[2]).max() > 1e-3


@pytest.mark.model
@pytest.mark.parametrize("name", ["document", "passage"])
def test_only_the_prompt_that_the_library_uses_by_itself_leaves_the_identity_as_it_was(
    tmp_path: Path, name: str
) -> None:
    folder = minilm_copy(tmp_path / "e5", prompts={name: "passage: "})
    ours, library = embedder(folder), plain(folder)
    assert ours.prompts == {"document": "passage: ", "query": ""}
    by_itself = library.encode_document([TEXT], normalize_embeddings=True)
    same = bool(np.allclose(ours.encode([TEXT]), by_itself, atol=1e-5))
    assert same is (name == "document")
    assert ours.model.endswith(suffix("passage: ")) is not same


def test_prompt_for_texts_is_part_of_the_identity_and_takes_tokens(tmp_path: Path) -> None:
    folder = minilm_copy(tmp_path / "e5", prompts=OWN)
    own = embedder(folder)
    assert own.max_tokens == 256 - 2
    assert embedder(folder, document_prompt="passage: ").model == own.model
    assert embedder(folder, query_prompt="ask: ").model == own.model
    other = embedder(folder, document_prompt="a text of these: ")
    assert other.model == own.model + suffix("a text of these: ")
    assert other.max_tokens == 256 - 5
    assert embedder(MINILM).prompts == {"document": "", "query": ""}


def test_prompt_that_leaves_no_room_is_refused_at_once() -> None:
    with pytest.raises(StoreError, match=r"leaves 28 of 48 tokens.*FRESHCRAWL_CHUNK_TOKENS"):
        embedder(MINILM, document_prompt="word " * 20, chunk_tokens=48)


@pytest.mark.model
def test_shorter_vectors_are_the_first_numbers_normalised() -> None:
    whole, short = embedder(MINILM), embedder(MINILM, dimension=128)
    assert (short.dimension, short.model) == (128, f"{whole.model}-128")
    vectors, first = short.encode([TEXT, "x"]), whole.encode([TEXT, "x"])[:, :128]
    assert vectors.shape == (2, 128)
    assert vectors == pytest.approx(first / np.linalg.norm(first, axis=1, keepdims=True), abs=1e-5)
    assert short.encode_query(TEXT) == pytest.approx(vectors[0], abs=1e-5)


def test_whole_length_is_no_other_model() -> None:
    assert embedder(MINILM, dimension=384).model == embedder(MINILM).model


def test_longer_vectors_than_the_model_has_are_refused_at_once() -> None:
    with pytest.raises(StoreError, match=r"FRESHCRAWL_EMBED_DIMENSION is 385.*have 384 numbers"):
        embedder(MINILM, dimension=385)


def test_all_parts_of_an_identity() -> None:
    both = embedder(MINILM, dimension=64, document_prompt="text: ")
    assert both.model == f"{MINILM}@53aa51172d14-64{suffix('text: ')}"


@pytest.mark.model
@pytest.mark.parametrize("device", ["cuda:7", "toaster", "cpu:1", "meta"])
def test_device_that_is_not_there_is_named_with_those_that_are(device: str) -> None:
    with pytest.raises(StoreError, match=rf"FRESHCRAWL_EMBED_DEVICE is '{device}'.*: cpu") as error:
        embedder(MINILM, device=device).encode(["text"])
    assert "\n" not in str(error.value)


def test_making_an_embedder_leaves_the_device_alone() -> None:
    assert embedder(MINILM, device="toaster").token_offsets("text") == [(0, 4)]


@pytest.mark.model
@pytest.mark.parametrize("threads", [0, 3])
def test_threads_are_set_when_the_model_loads(threads: int) -> None:
    code = (
        "import sys\n"
        "from freshcrawl.stores.embedding import SentenceTransformerEmbedder\n"
        "from freshcrawl.stores.embedding_options import EmbedOptions\n"
        f"made = SentenceTransformerEmbedder({MINILM!r}, '', EmbedOptions(threads={threads}))\n"
        "assert 'torch' not in sys.modules\n"
        "made.encode(['text'])\n"
        "import torch\n"
        "print(torch.get_num_threads())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == (threads or usable_cores())


@pytest.mark.parametrize(
    ("files", "own", "cores"),
    [
        ({}, "0::/", 64),
        ({"cpu.max": "max 100000"}, "0::/", 64),
        ({"cpu.max": "250000 100000"}, "0::/", 3),
        ({"job/cpu.max": "50000 100000"}, "0::/job", 1),
        ({"job/cpu.max": "200000 100000"}, "0::/job/step", 2),
        ({"cpu/cpu.cfs_quota_us": "150000", "cpu/cpu.cfs_period_us": "50000"}, "3:cpu:/", 3),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "50000"}, "3:cpu:/", 64),
        ({"cpu/a/cpu.cfs_quota_us": "9", "cpu/a/cpu.cfs_period_us": "9"}, "3:cpu,cpuacct:/a", 1),
    ],
)
def test_quota_of_control_groups_bounds_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], own: str, cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "own").write_text(f"12:memory:/elsewhere\n{own}\n")
    assert usable_cores(tmp_path, tmp_path / "own") == cores


def test_affinity_bounds_the_cores(tmp_path: Path) -> None:
    assert usable_cores(tmp_path, tmp_path / "none") == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("prompts", [{"document": "text: ", "query": ""}, None])
def test_manifest_says_which_prompts_vectors_were_made_with(prompts: dict[str, str] | None) -> None:
    made = HashEmbedder()
    if prompts is not None:
        made.prompts = prompts  # type: ignore[attr-defined]
    state = open_in_memory("site")
    publisher = Publisher(state, Config(), lambda: made)
    page = Published("docs.example.com/a", "https://docs.example.com/a", digest="d")
    number = state.corpus.publish(
        [Edit(page, [])],
        run_id="run",
        model=made.model,
        dimension=made.dimension,
        published_at=1.0,
        build=lambda snapshot: publisher.write_index(snapshot, made),
    )
    assert state.index.manifest(number).get("prompts") == prompts
    expected = {} if prompts is None else {"prompts": prompts}
    assert made_as(state, number) == {**MADE_TODAY, **expected}
