"""The int8 file of a model: made once by PyTorch and ONNX, then kept in a cache folder."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.model_facts import pooling
from freshcrawl.stores.onnx_session import HIDDEN, OnnxSession
from freshcrawl.stores.torch_model import load_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.stores.model_files import ModelFiles

logger = logging.getLogger(__name__)

_FORM = "int8-1"
"""Raised when files are made in another way, so that older ones are not used."""
_OPSET = 17
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_SAMPLES = (
    "How do I connect?",
    "Opening a Connection to the SQL server: `create_engine()` keeps a pool of up to 5 of them.",
    "Each row that is loaded becomes an object; what changes in it is written at a flush. " * 30,
)
_LEAST_COSINE = 0.9
"""Between int8 and float vectors; well-made models stay above 0.97."""


def int8_file(files: ModelFiles) -> Path:
    """Return the int8 file of a model, which is made if it is not there yet.

    Only a whole file, one whose vectors were compared with the model's, gets its name; others
    who want it meanwhile wait.

    Raises:
        StoreError: the model cannot be converted, or the cache folder cannot be used.
    """
    folder = _cache_folder()
    path = folder / f"{files.identity.replace('/', '--')}.{_FORM}.onnx"
    try:
        if path.is_file():
            return path
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(path):
            if not path.is_file():
                _make(files, path)
    except OSError as error:
        raise StoreError(
            f"{error.filename or folder}: the int8 file of {files.identity} cannot be kept "
            f"({error.strerror}): set XDG_CACHE_HOME to a folder that can be written"
        ) from error
    return path


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "freshcrawl" / "onnx"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait for other processes that make the same file; the kernel ends a dead one's turn."""
    with path.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(files: ModelFiles, path: Path) -> None:
    pooling(files.folder)  # refuses what cannot be converted, before anything is loaded
    for left in path.parent.glob(f"{path.name}.*.tmp"):
        shutil.rmtree(left)  # by a process that was killed
    work = Path(tempfile.mkdtemp(dir=path.parent, prefix=f"{path.name}.", suffix=".tmp"))
    logger.info("making the int8 file of %s, once", files.identity)
    try:
        # Attention in plain steps: the fused kind is not converted for all lengths of text.
        model = load_model(files, model_kwargs={"attn_implementation": "eager"})
        with _silence():
            try:
                _export(model[0], work / "float.onnx")
                _quantize(work / "float.onnx", work / "int8.onnx")
            except Exception as error:  # of several libraries
                reason = str(error).strip().partition("\n")[0] or type(error).__name__
                raise StoreError(
                    f"{files.identity}: cannot be converted ({reason}): "
                    "set FRESHCRAWL_EMBED_BACKEND to torch"
                ) from error
        _compare(model, work / "int8.onnx", files)
        with (work / "int8.onnx").open("rb") as file:
            os.fsync(file.fileno())
        (work / "int8.onnx").replace(path)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _export(transformer: Any, path: Path) -> None:
    """Write the graph that makes the vectors of tokens."""
    import torch

    names = [name for name in _INPUTS if name in transformer.tokenizer.model_input_names]

    class Tokens(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = transformer.auto_model.eval()

        def forward(self, *columns: Any) -> Any:
            return self.inner(**dict(zip(names, columns, strict=True)))[HIDDEN]

    ones = torch.ones((2, 8), dtype=torch.long)
    columns = tuple(ones * (name != "token_type_ids") for name in names)
    axes = {name: {0: "texts", 1: "tokens"} for name in (*names, HIDDEN)}
    with torch.no_grad():
        torch.onnx.export(
            Tokens(),
            columns,
            str(path),
            input_names=names,
            output_names=[HIDDEN],
            dynamic_axes=axes,
            opset_version=_OPSET,
            dynamo=False,  # the other exporter needs one more package
        )


def _quantize(source: Path, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # 7 of 8 bits for weights: sums of more overflow on processors without VNNI, so that a model
    # would have other vectors there.
    quantize_dynamic(
        source, target, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
    )


def _compare(model: Any, path: Path, files: ModelFiles) -> None:
    """Compare vectors of short and long texts with the model's own.

    Raises:
        StoreError: they differ by more than int8 explains.
    """
    texts = list(_SAMPLES)
    right = model.encode(texts, prompt="", normalize_embeddings=True, show_progress_bar=False)
    ours = OnnxSession(path, files.folder).vectors(texts, right.shape[1])
    least = float((ours * right).sum(axis=1).min())
    if not least >= _LEAST_COSINE:
        raise StoreError(
            f"{files.identity}: its int8 vectors are too far from its own (cosine {least:.2f}): "
            "set FRESHCRAWL_EMBED_BACKEND to torch"
        )


@contextmanager
def _silence() -> Iterator[None]:
    """Keep quiet what the converters say of each model."""
    root = logging.getLogger()
    root.addFilter(_is_ours)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        root.removeFilter(_is_ours)


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name != "root"
