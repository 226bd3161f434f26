"""What the small files of a sentence-transformers model say. No torch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from pathlib import Path

NO_LIMIT = 2**31
"""Tokens that a model reads which reads texts of any length."""
_DOCUMENT_NAMES = ("document", "passage", "corpus")
_LARGEST_HEADER = 100_000_000
_POOLED = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}


def token_limit(folder: Path) -> int:
    """Return the longest input in tokens, special tokens included.

    Raises:
        StoreError: no file says it.
    """
    if is_static(folder):
        return NO_LIMIT
    said = ("sentence_bert_config.json", "max_seq_length")
    bounds = (
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    )
    if (limit := _number(folder, (said,))) is not None:
        return limit
    found = [number for place in bounds if (number := _number(folder, (place,))) is not None]
    return min(found) if found else _first_number(folder, (said, *bounds))


def vector_length(folder: Path) -> int:
    """Return the dimension of the vectors: what the last module that changes it puts out.

    Raises:
        StoreError: no file says it.
    """
    paths = [f"{path}/config.json" for _, path in reversed(_modules(folder)) if path]
    names = ("out_features", "embedding_dimension", "word_embedding_dimension")
    places = tuple((path, name) for path in paths for name in names)
    if is_static(folder):
        return _number(folder, places) or _table_width(_first_folder(folder) / "model.safetensors")
    return _first_number(folder, (*places, ("config.json", "hidden_size")))


def tokenizer_file(folder: Path) -> Path:
    """Return the path of the fast tokenizer.

    Raises:
        StoreError: there is none.
    """
    path = _first_folder(folder) / "tokenizer.json"
    if not path.is_file():
        path = folder / "tokenizer.json"
    if not path.is_file():
        raise StoreError(f"{path}: missing; FRESHCRAWL_EMBED_MODEL needs a fast tokenizer")
    return path


def is_static(folder: Path) -> bool:
    """Tell whether the vector of a text is the mean of those of its tokens in a table."""
    return [kind for kind, _ in _modules(folder)][:1] == ["StaticEmbedding"]


def own_prompts(folder: Path) -> dict[str, str]:
    """Return what the model wants before each ``document`` and ``query``, usually nothing."""
    saved = _saved_prompts(folder)
    document = next((saved[name] for name in _DOCUMENT_NAMES if saved.get(name)), "")
    return {"document": document, "query": saved.get("query") or ""}


def library_prompt(folder: Path) -> str:
    """Return what sentence-transformers puts before documents if it is not told anything.

    That is not ``passage`` or ``corpus``, as it takes an empty ``document`` for granted.
    """
    return _saved_prompts(folder).get("document") or ""


def pooling(folder: Path) -> str:
    """Return how vectors are made of those of tokens, ``mean`` or ``cls``.

    Raises:
        StoreError: the model is not a Transformer with one of these poolings, and no more.
    """
    modules = _modules(folder)
    kinds = [kind for kind, _ in modules]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise _no_onnx(folder, f"its modules are {', '.join(kinds) or 'not listed'}")
    config = read_json(folder / modules[1][1] / "config.json", dict)
    modes = config.get("pooling_mode") or [
        _POOLED.get(name, name)
        for name, value in config.items()
        if name.startswith("pooling_mode_") and value is True
    ]
    modes = [modes] if isinstance(modes, str) else list(modes)
    if len(modes) != 1 or modes[0] not in _POOLED.values():
        raise _no_onnx(folder, f"its pooling is {' and '.join(map(str, modes)) or 'not named'}")
    if config.get("include_prompt") is False:
        raise _no_onnx(folder, "its pooling leaves out the prompt")
    return str(modes[0])


def read_json(path: Path, kind: type[Any]) -> Any:
    """Return the list or dict in ``path``, empty if there is no such file.

    Raises:
        StoreError: it is not JSON of that kind.
    """
    if not path.is_file():
        return kind()
    try:
        return kind(json.loads(path.read_bytes()))
    except (ValueError, TypeError) as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


def _no_onnx(folder: Path, reason: str) -> StoreError:
    return StoreError(
        f"{folder}: {reason}; FRESHCRAWL_EMBED_BACKEND=onnx needs Transformer, Pooling (mean or "
        "cls) and perhaps Normalize: set it to torch"
    )


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return class name and subfolder of each module, in order."""
    listed = read_json(folder / "modules.json", list)
    return [(str(entry.get("type", "")).rpartition(".")[2], entry["path"]) for entry in listed]


def _first_folder(folder: Path) -> Path:
    return next((folder / path for _, path in _modules(folder)), folder)


def _saved_prompts(folder: Path) -> dict[str, str]:
    return read_json(folder / "config_sentence_transformers.json", dict).get("prompts") or {}


def _table_width(path: Path) -> int:
    """Return how long the vectors are in the table of a static model, from the file's header."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(size, _LARGEST_HEADER)))
        table = header.get("embedding.weight") or header["embeddings"]
        return int(table["shape"][1])
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreError(f"{path}: not the table of a static model: {error!r}") from error


def _first_number(folder: Path, places: tuple[tuple[str, str], ...]) -> int:
    value = _number(folder, places)
    if value is None:
        wanted = " or ".join(f"{field} in {name}" for name, field in places)
        raise StoreError(f"{folder}: not a sentence-transformers model, it lacks {wanted}")
    return value


def _number(folder: Path, places: tuple[tuple[str, str], ...]) -> int | None:
    for name, field in places:
        value = read_json(folder / name, dict).get(field)
        if isinstance(value, int):
            return value
    return None
