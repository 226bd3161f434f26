"""Text to vectors by sentence-transformers, loaded when something is encoded."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.embedding_options import DEFAULT_OPTIONS, EmbedOptions
from freshcrawl.stores.local_model import LocalModel, unit_rows
from freshcrawl.stores.torch_model import load_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.stores.base import Matrix

_BATCH_TEXTS = 32


class SentenceTransformerEmbedder(LocalModel):
    """Embedder of one sentence-transformers model in PyTorch; any thread may call it."""

    def __init__(
        self, model: str, revision: str = "", options: EmbedOptions = DEFAULT_OPTIONS
    ) -> None:
        super().__init__(model, revision, options)
        self._lock = RLock()

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
            encode = self._model.encode_document
            return unit_rows(encode(list(texts), **self._how("document")))

    def encode_query(self, text: str) -> Matrix:
        """Return the normalised vector of a question, with the prompt for questions.

        Raises:
            StoreError: the model cannot be loaded.
        """
        with self._lock:
            return unit_rows(self._model.encode_query(text, **self._how("query")))

    def _how(self, kind: str) -> dict[str, Any]:
        return {
            "prompt": self.prompts[kind],
            "batch_size": _BATCH_TEXTS,
            "normalize_embeddings": True,
            "show_progress_bar": False,
            "truncate_dim": self._options.dimension or None,
        }

    @cached_property
    def _model(self) -> Any:
        options = self._options
        return load_model(self._files, device=options.device, threads=options.threads)
