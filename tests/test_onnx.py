"""Models in int8 by ONNX Runtime: vectors, the file that is made once, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from freshcrawl.config import Config
from freshcrawl.state import make_embedder
from freshcrawl.stores import onnx_encoder, onnx_export
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.model_files import MINILM
from freshcrawl.stores.onnx_encoder import OnnxEmbedder
from freshcrawl.stores.onnx_session import OnnxSession
from tests.support.models import plain, static_model, tiny_model

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.model

LEAST_COSINE = 0.97
TEXTS = [
    "Opening a connection to the SQL server",
    "`create_engine()` keeps a pool of up to five connections; see `pool_size`.",
    "| Dialect | Driver |\n|---|---|\n| postgresql | psycopg2 |",
    "Héllo 中 and a word_that_nobody_knows",
    "Rows become objects, what changes in them is written at a flush. " * 40,
    "x",
]
AGAIN = """
import json, sys
from freshcrawl.stores.onnx_encoder import OnnxEmbedder
made = OnnxEmbedder(sys.argv[1])
vectors = made.encode(json.loads(sys.argv[2]))
loaded = {"torch", "transformers", "sentence_transformers", "onnx"} & set(sys.modules)
print(json.dumps([sorted(loaded), vectors.tolist()]))
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def in_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("models") / "tiny")


def onnx(model: object, **options: Any) -> OnnxEmbedder:
    return OnnxEmbedder(str(model), "", EmbedOptions(**options))


def kept(cache: Path, name: str) -> list[str]:
    """Return the files of a model, without its lock."""
    folder = cache / "freshcrawl" / "onnx"
    return sorted(p.name for p in folder.glob(f"{name}*") if p.suffix != ".lock")


def cosines(one: Any, other: Any) -> Any:
    return (one * other).sum(axis=-1)


def test_vectors_of_the_real_model_are_near_those_of_torch() -> None:
    ours, torchs = onnx(MINILM), SentenceTransformerEmbedder(MINILM)
    assert ours.model == f"{torchs.model}+int8"
    assert (ours.dimension, ours.max_tokens) == (torchs.dimension, torchs.max_tokens)
    vectors = ours.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert cosines(vectors, torchs.encode(TEXTS)).min() > LEAST_COSINE
    assert cosines(ours.encode_query(TEXTS[0]), torchs.encode_query(TEXTS[0])) > LEAST_COSINE
    assert ours.encode([]).shape == (0, 384)


@pytest.mark.parametrize("threads", [1, 3])
def test_vector_of_a_text_does_not_depend_on_the_others(tiny: Path, threads: int) -> None:
    made = onnx(tiny, threads=threads)
    together = made.encode(TEXTS)
    alone = np.vstack([made.encode([text]) for text in TEXTS])
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_pooling_and_prompts_are_the_models(tmp_path: Path, pooling: str) -> None:
    folder = tiny_model(tmp_path / "tiny", pooling)
    texts = [f"passage: {text}" for text in TEXTS]
    right = plain(folder).encode([*texts, "query: x"], normalize_embeddings=True)
    made = onnx(folder, document_prompt="passage: ", query_prompt="query: ")
    assert cosines(made.encode(TEXTS), right[:-1]).min() > LEAST_COSINE
    assert cosines(made.encode_query("x"), right[-1]) > LEAST_COSINE


def test_shorter_vectors(tiny: Path) -> None:
    whole, short = onnx(tiny).encode(TEXTS)[:, :8], onnx(tiny, dimension=8)
    right = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    assert short.encode(TEXTS) == pytest.approx(right, abs=1e-6)
    assert short.model.endswith("-8+int8")


def test_torch_is_not_needed_after_the_file_was_made(tiny: Path) -> None:
    here = onnx(tiny).encode(TEXTS)
    code = [sys.executable, "-c", AGAIN, str(tiny), json.dumps(TEXTS)]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    loaded, vectors = json.loads(done.stdout)
    assert loaded == []
    assert np.array_equal(np.array(vectors, dtype=np.float32), here)


def test_making_the_file_prints_nothing_and_two_at_once_make_it_once(
    tmp_path: Path, cache: Path
) -> None:
    folder = tiny_model(tmp_path / "twice")
    code = [sys.executable, "-W", "error", "-c", AGAIN, str(folder), json.dumps(TEXTS)]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(code, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in both]
    assert [errors for _, errors in told] == ["", ""]
    loaded = sorted(json.loads(out)[0] for out, _ in told)
    assert loaded[0] == []  # one waited for the other's file
    assert "torch" in loaded[1]
    assert json.loads(told[0][0])[1] == json.loads(told[1][0])[1]
    assert len(kept(cache, "twice")) == 1


def test_file_that_could_not_be_finished_leaves_nothing(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_model(tmp_path / "cut-off")
    made = onnx(folder)
    left = cache / "freshcrawl" / "onnx" / f"{made.model.removesuffix('+int8')}.int8-1.onnx.x.tmp"
    left.mkdir(parents=True)  # as of a process that was killed

    def quantize(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:1000])
        raise ValueError("no room\nfor it")

    with monkeypatch.context() as patched:
        patched.setattr(onnx_export, "_quantize", quantize)
        with pytest.raises(StoreError, match=r"cannot be converted \(no room\): set FRESHCRAWL"):
            made.encode(["text"])
    assert kept(cache, "cut-off") == []
    assert made.encode(["text"]).shape == (1, 32)
    assert len(kept(cache, "cut-off")) == 1


def test_file_with_other_vectors_than_the_models_is_not_kept(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_model(tmp_path / "other")
    monkeypatch.setattr(OnnxSession, "vectors", lambda *_: np.eye(3, 32))
    with pytest.raises(StoreError, match=r"int8 vectors are too far from its own \(cosine -?0\."):
        onnx(folder).encode(["text"])
    assert kept(cache, "other") == []


def test_damaged_file_says_what_to_do(tmp_path: Path, cache: Path) -> None:
    folder = tiny_model(tmp_path / "damaged")
    onnx(folder).encode(["text"])
    path = cache / "freshcrawl" / "onnx" / kept(cache, "damaged")[0]
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(StoreError, match=r"onnx: cannot be used, delete it: .*") as error:
        onnx(folder).encode(["text"])
    assert "\n" not in str(error.value)


def test_cache_folder_that_cannot_be_made(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match=r"cannot be kept \(Not a directory\): set XDG_CACHE_HOME"):
        onnx(tiny).encode(["text"])


@pytest.mark.parametrize(
    ("pooling", "dense", "reason"),
    [
        ("max", False, "its pooling is max"),
        ("mean", True, "its modules are Transformer, Pooling, Dense, Normalize"),
    ],
)
def test_other_architectures_are_refused_at_once(
    tmp_path: Path, pooling: str, dense: bool, reason: str
) -> None:
    folder = tiny_model(tmp_path / "odd", pooling, dense=dense)
    with pytest.raises(StoreError, match=rf"{reason}; FRESHCRAWL_EMBED_BACKEND=onnx needs"):
        onnx(folder)


def test_static_model_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"its modules are StaticEmbedding; FRESHCRAWL_EMBED_BACK"):
        onnx(static_model(tmp_path / "static"))


def test_pooling_without_the_prompt_is_refused_at_once(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "instructor"
    shutil.copytree(tiny, folder)
    path = folder / "1_Pooling" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "include_prompt": False}))
    with pytest.raises(StoreError, match="its pooling leaves out the prompt"):
        onnx(folder)


def test_missing_packages_are_named_with_what_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(onnx_encoder, "find_spec", lambda name: None)
    with pytest.raises(
        StoreError, match=r"\(onnx, onnxruntime\): pip install -r requirements-onnx\.txt$"
    ):
        onnx(MINILM)


def test_another_device_is_refused_at_once() -> None:
    with pytest.raises(StoreError, match="FRESHCRAWL_EMBED_DEVICE is 'cuda'"):
        onnx(MINILM, device="cuda")


def test_setting_chooses_the_embedder() -> None:
    assert isinstance(make_embedder(Config(embed_backend="onnx")), OnnxEmbedder)
    assert isinstance(make_embedder(Config()), SentenceTransformerEmbedder)
