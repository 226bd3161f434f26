"""An embedder without a model, for tests and simulations."""

from __future__ import annotations

import hashlib
import re
import time
from typing import TYPE_CHECKING

from freshcrawl.stores.base import EmbeddingError
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.model_files import MINILM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.stores.base import Matrix

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Embedder whose vectors are sums of pseudo-random ones, one a word.

    Texts that share words are near. The tokenizer and its limit are those of
    the real MiniLM, so that chunks are cut where they would be cut. Its identity
    is ``hash-64``; another name or revision makes another model with other vectors.
    """

    def __init__(self, model: str = "hash", revision: str = "", dimension: int = 64) -> None:
        name = "hash" if model == MINILM else model  # the setting's default
        self.model = "@".join(filter(None, (f"{name}-{dimension}", revision)))
        self.dimension = dimension
        self._real = SentenceTransformerEmbedder(MINILM)
        self.max_tokens = self._real.max_tokens

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, no special tokens."""
        return self._real.token_offsets(text)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text."""
        import numpy as np

        rows = [self._vector(text) for text in texts]
        return np.asarray(np.reshape(rows, (len(rows), self.dimension)), dtype=np.float32)

    def encode_query(self, text: str) -> Matrix:
        """Return the normalised vector of a question."""
        return self._vector(text)

    def _vector(self, text: str) -> Matrix:
        import numpy as np

        total = np.zeros(self.dimension, dtype=np.float32)
        for word in _WORD.findall(text.lower()) or [""]:
            total += self._word_vector(word)
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)

    def _word_vector(self, word: str) -> Matrix:
        """Return a vector of +1 and -1, the same for the same word of the same model."""
        import numpy as np

        digest = hashlib.shake_128(f"{self.model}\0{word}".encode()).digest(self.dimension)
        bits = np.frombuffer(digest, dtype=np.uint8) & 1
        return np.asarray(bits * 2.0 - 1.0, dtype=np.float32)


class StuckEmbedder(HashEmbedder):
    """The same vectors, which come only after a minute."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text, too late."""
        time.sleep(60)
        return super().encode(texts)


class SlowEmbedder(HashEmbedder):
    """The same vectors, a fifth of a second a call: time for a test to interrupt."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text, after a while."""
        time.sleep(0.2)
        return super().encode(texts)


class SmallerEmbedder(HashEmbedder):
    """Another model (``hash-32``): half the dimensions, and texts of at most 64 tokens."""

    def __init__(self, model: str = "hash", revision: str = "") -> None:
        super().__init__(model, revision, 32)
        self.max_tokens = 64


class CutShorter(HashEmbedder):
    """The same model and vectors where ``FRESHCRAWL_CHUNK_TOKENS`` is 64."""

    def __init__(self, model: str = "hash", revision: str = "") -> None:
        super().__init__(model, revision)
        self.max_tokens = 64


class TinyEmbedder(HashEmbedder):
    """A model (``hash-16``) that reads too little for chunks."""

    def __init__(self, model: str = "hash", revision: str = "") -> None:
        super().__init__(model, revision, 16)
        self.max_tokens = 16


class SlowShorter(CutShorter):
    """As where ``FRESHCRAWL_CHUNK_TOKENS`` is 64, a twentieth of a second a call."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text, after a while."""
        time.sleep(0.05)
        return super().encode(texts)


class RefusingEmbedder(HashEmbedder):
    """An endpoint whose third request is refused."""

    requests = 0

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text.

        Raises:
            EmbeddingError: it is the third call or a later one.
        """
        self.requests += 1
        if self.requests > 2:
            raise EmbeddingError("the endpoint answers 402: no credit is left")
        return super().encode(texts)
