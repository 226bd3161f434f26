"""Model folders that tests make: of the wheel's real model, and static ones."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from freshcrawl.stores.model_files import MINILM, find_model

if TYPE_CHECKING:
    from pathlib import Path

    from sentence_transformers import SentenceTransformer


def minilm_folder() -> Path:
    """Return the folder of the real model in the wheel."""
    return find_model(MINILM, "").folder


def minilm_copy(folder: Path, **config: object) -> Path:
    """Make a folder with the real model and its own ``config_sentence_transformers.json``."""
    source = minilm_folder()
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "model.safetensors").symlink_to(source / "model.safetensors")
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config))
    return folder


def static_model(folder: Path, *, subfolder: bool = False) -> Path:
    """Save a static model with the word embeddings of the real one; loads PyTorch.

    ``subfolder``: the module lies in ``0_StaticEmbedding``, as some releases save it.
    """
    from safetensors.numpy import load_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    source = minilm_folder()
    weights = load_file(source / "model.safetensors")["embeddings.word_embeddings.weight"]
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_truncation()
    static = StaticEmbedding(tokenizer, embedding_weights=weights)
    SentenceTransformer(modules=[static], device="cpu").save(str(folder), create_model_card=False)
    if subfolder:
        inner = folder / "0_StaticEmbedding"
        inner.mkdir()
        for name in ("tokenizer.json", "model.safetensors"):
            (folder / name).rename(inner / name)
        modules = json.loads((folder / "modules.json").read_text())
        modules[0]["path"] = inner.name
        (folder / "modules.json").write_text(json.dumps(modules))
    return folder


def plain(folder: Path) -> SentenceTransformer:
    """Return a model as sentence-transformers loads it by itself."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def tiny_model(folder: Path, pooling: str = "mean", *, dense: bool = False) -> Path:
    """Save a BERT of two small layers with random weights and the real tokenizer."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import (
        Dense,
        Normalize,
        Pooling,
        Transformer,
    )
    from transformers import AutoTokenizer, BertConfig, BertModel

    torch.manual_seed(1)
    inner = folder.with_name(f"{folder.name}-inner")
    config = BertConfig(
        hidden_size=32, intermediate_size=64, num_attention_heads=2, num_hidden_layers=2
    )
    BertModel(config).save_pretrained(inner)
    AutoTokenizer.from_pretrained(minilm_folder()).save_pretrained(inner)
    modules = [Transformer(str(inner)), Pooling(32, pooling_mode=pooling), Normalize()]
    if dense:
        modules.insert(2, Dense(32, 16))
    SentenceTransformer(modules=modules, device="cpu").save(str(folder), create_model_card=False)
    return folder
