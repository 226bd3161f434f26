"""Text to vectors in int8 by ONNX Runtime: a local model without PyTorch, once it is converted."""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from threading import RLock
from typing import TYPE_CHECKING

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.embedding_options import DEFAULT_OPTIONS, EmbedOptions
from freshcrawl.stores.local_model import LocalModel
from freshcrawl.stores.model_facts import pooling
from freshcrawl.stores.onnx_session import OnnxSession

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.stores.base import Matrix

PACKAGES = ("onnx", "onnxruntime")


class OnnxEmbedder(LocalModel):
    """Embedder of one sentence-transformers model in int8 on the CPU; any thread may call it.

    Raises:
        StoreError: as of LocalModel; or packages are missing, the model is not a Transformer
            with pooling, or another device is wanted.
    """

    COMPUTED_AS = "+int8"

    def __init__(
        self, model: str, revision: str = "", options: EmbedOptions = DEFAULT_OPTIONS
    ) -> None:
        if missing := [name for name in PACKAGES if find_spec(name) is None]:
            raise StoreError(
                f"FRESHCRAWL_EMBED_BACKEND=onnx needs what is not installed ({', '.join(missing)}):"
                " pip install -r requirements-onnx.txt"
            )
        if options.device != "cpu":
            raise StoreError(
                f"FRESHCRAWL_EMBED_DEVICE is {options.device!r}: FRESHCRAWL_EMBED_BACKEND=onnx "
                "computes on the cpu: set one of them back"
            )
        super().__init__(model, revision, options)
        pooling(self._files.folder)
        self._lock = RLock()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text; converts the model if that was never done.

        Raises:
            StoreError: the model cannot be converted or loaded.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self._vectors([self.prompts["document"] + text for text in texts])

    def encode_query(self, text: str) -> Matrix:
        """Return the normalised vector of a question, with the prompt for questions.

        Raises:
            StoreError: the model cannot be converted or loaded.
        """
        vector: Matrix = self._vectors([self.prompts["query"] + text])[0]
        return vector

    def _vectors(self, texts: Sequence[str]) -> Matrix:
        with self._lock:
            return self._session.vectors(texts, self.dimension)

    @cached_property
    def _session(self) -> OnnxSession:
        from freshcrawl.stores.onnx_export import int8_file

        path = int8_file(self._files)
        return OnnxSession(path, self._files.folder, self._options.threads)
