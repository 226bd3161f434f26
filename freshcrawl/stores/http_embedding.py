"""Text to vectors by an OpenAI-compatible embeddings endpoint. No torch."""

from __future__ import annotations

import hashlib
import json
import time
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from freshcrawl.core.chunks import MIN_TOKENS
from freshcrawl.core.hosts import is_near
from freshcrawl.posting import post
from freshcrawl.stores.base import EmbeddingError, StoreError
from freshcrawl.stores.embedding_options import DEFAULT_OPTIONS, EmbedOptions
from freshcrawl.stores.embedding_reply import (
    FEWER_STATUS,
    ReplyError,
    is_passing,
    read_vectors,
    refusal,
    server_words,
)
from freshcrawl.stores.tokenizing import TOKENIZER, Tokenizer, estimated_offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.posting import Answer
    from freshcrawl.stores.base import Matrix

PATH = "/embeddings"
REPLY_BYTES, TEXT_BYTES = 65_536, 524_288
"""Bytes of a reply that are read: so many, and so many more for each text (32 a number)."""
QUERY_WAIT_SECS, QUERY_MAX_WAIT_SECS = 0.5, 2.0
"""Wait before a question is sent again, and the longest one that the endpoint may ask for."""


class HttpEmbedder:
    """Embedder that asks an endpoint; any thread may call it.

    ``model`` is the endpoint's name for it, and ``revision`` the operator's word for the version
    that is served there. The address is no part of the identity: the same model behind another
    one keeps its vectors. ``options.url`` is the base of the endpoint, as ``https://host/v1``.

    Raises:
        StoreError: the tokenizer's file is missing, or the document prompt is too long.
    """

    def __init__(
        self, model: str, revision: str = "", options: EmbedOptions = DEFAULT_OPTIONS
    ) -> None:
        self._name, self._revision, self._options = model, revision, options
        self._url = options.url.rstrip("/").removesuffix(PATH) + PATH
        self._key = options.api_key.strip()
        self._tokenizer = (
            Tokenizer(Path(options.tokenizer) / TOKENIZER, "FRESHCRAWL_EMBED_TOKENIZER")
            if options.tokenizer
            else None
        )
        self._dimension = options.dimension
        self._lock = Lock()
        self.prompts = {"document": options.document_prompt, "query": options.query_prompt}
        """What is put before each ``document`` and ``query``, "" for nothing."""
        prompt_tokens = len(self.token_offsets(options.document_prompt))
        self._max_tokens = options.chunk_tokens - prompt_tokens
        if self._max_tokens < MIN_TOKENS:
            raise StoreError(
                f"FRESHCRAWL_EMBED_DOCUMENT_PROMPT has {prompt_tokens} tokens, which leaves less "
                f"than {MIN_TOKENS} of FRESHCRAWL_CHUNK_TOKENS={options.chunk_tokens}"
            )
        self._most_texts = 0
        """Texts of one request at most, as a reply has told; 0: no limit is known."""

    @property
    def host(self) -> str:
        """Host and port of the endpoint: what may be shown of its URL."""
        return urlsplit(self._url).netloc

    @cached_property
    def model(self) -> str:
        """Identity of the model: name, length of its vectors and prompt if set, and revision."""
        length = f"-{self._options.dimension}" if self._options.dimension else ""
        prompt = self._options.document_prompt
        digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:8]
        revision = f"@{self._revision}" if self._revision else ""
        return self._name + length + (f"+{digest}" if prompt else "") + revision

    @property
    def dimension(self) -> int:
        """Length of a vector: as set, as expected, or of the first reply; 0 before that."""
        return self._dimension

    def expect(self, dimension: int) -> None:
        """Take vectors of this length only, as those that are kept of the same ``model``.

        Raises:
            EmbeddingError: there were others of it already, or others are set.
        """
        with self._lock:
            self._dimension = self._dimension or dimension
            known = self._dimension
        if dimension and dimension != known:
            raise self._error(_other_length(f"vectors of {known} numbers, not {dimension}"))

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included, less the document prompt."""
        return self._max_tokens

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, no special tokens.

        They are estimated, rather too many, unless the endpoint's tokenizer is known.

        Raises:
            StoreError: the tokenizer's file cannot be read.
        """
        if not text or self._tokenizer is None:
            return estimated_offsets(text)
        return self._tokenizer.offsets(text)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text, by one request.

        By several if the endpoint wants fewer texts in one. Nothing is tried again here.

        Raises:
            EmbeddingError: see the message.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        prompt = self._options.document_prompt
        return np.concatenate(self._parts([prompt + text for text in texts]))

    def encode_query(self, text: str) -> Matrix:
        """Return the normalised vector of a question, with the query prompt.

        It is asked for once more, after two seconds at most, if that may help.

        Raises:
            EmbeddingError: see the message.
        """
        asked = [self._options.query_prompt + text]
        try:
            return self._row(asked)
        except EmbeddingError as error:
            wait = max(error.retry_after, QUERY_WAIT_SECS)
            if not error.again or wait > QUERY_MAX_WAIT_SECS:
                raise
        time.sleep(wait)
        return self._row(asked)

    def _row(self, texts: Sequence[str]) -> Matrix:
        [[row]] = self._parts(texts)
        return cast("Matrix", row)

    def _parts(self, texts: Sequence[str]) -> list[Matrix]:
        """Return the rows of the texts in order, by as few requests as the endpoint takes."""
        done: list[Matrix] = []
        waiting = [texts]
        while waiting:
            part = waiting.pop()
            size = min(self._most_texts or len(part), len(part))
            if size == len(part):
                answer = self._post(part)
                if size == 1 or answer.status not in FEWER_STATUS:
                    done.append(self._rows(answer, part))
                    continue
                size = (size + 1) // 2
                if answer.status == 413:  # the others may be about a single text
                    self._most_texts = size
            waiting += [part[size:], part[:size]]
        return done

    def _post(self, texts: Sequence[str]) -> Answer:
        asked: dict[str, Any] = {"model": self._name, "input": list(texts)}
        asked["encoding_format"] = "float"  # some clients' default is base64, some servers' too
        if self._options.dimension:
            asked["dimensions"] = self._options.dimension
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": "freshcrawl",
        }
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return post(
            self._url,
            json.dumps(asked).encode(),
            headers,
            self._options.timeout_secs,
            most=REPLY_BYTES + TEXT_BYTES * len(texts),
            # A proxy cannot reach what is near, and would see the key.
            proxies=not is_near(self._url),
        )

    def _rows(self, answer: Answer, texts: Sequence[str]) -> Matrix:
        """Return the vectors of an answer.

        Raises:
            EmbeddingError: it has none that can be used.
        """
        if not 200 <= answer.status < 300:
            raise self._refused(answer, texts)
        if answer.problem:
            raise self._error(answer.problem, again=True)
        try:
            rows = read_vectors(answer.body, len(texts), self._dimension)
        except ReplyError as error:
            problem = str(error) if error.again else _other_length(str(error))
            words = server_words(answer.body, self._key)
            shown = f"{problem} ({words})" if words else problem
            raise self._error(shown, again=error.again) from None
        self.expect(rows.shape[1])
        return rows

    def _refused(self, answer: Answer, texts: Sequence[str]) -> EmbeddingError:
        """Return the error that an answer without vectors means."""
        if answer.status:
            again = is_passing(answer.status)
            words = server_words(answer.body, self._key)
            problem = refusal(answer.status, words, len(texts[0]))
            return self._error(problem, again=again, retry_after=answer.retry_after if again else 0)
        if answer.untrusted:
            return self._error(f"{answer.problem}: look at SSL_CERT_FILE")
        return self._error(answer.problem, again=True)

    def _error(
        self, problem: str, *, again: bool = False, retry_after: float = 0.0
    ) -> EmbeddingError:
        message = f"embeddings endpoint {self.host}: {problem}"
        return EmbeddingError(message, again=again, retry_after=retry_after)


def _other_length(problem: str) -> str:
    return f"{problem}: look at FRESHCRAWL_EMBED_MODEL and FRESHCRAWL_EMBED_DIMENSION"
