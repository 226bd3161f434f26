"""Texts to vectors, batch by batch durable: retries, order, progress. Knows nothing of a publish.

A batch that cannot be embedded for now is tried again, after the wait that an endpoint asks for;
then it is given up with the reason, and what was done before stays.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from freshcrawl.seams import Seam, reached
from freshcrawl.stores.base import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from freshcrawl.config import Config
    from freshcrawl.stores.base import Embedder, Matrix

    Keep = Callable[[dict[str, Matrix]], None]

PORTION_BATCHES = 32
"""Batches whose texts are sorted by length together: more save hardly any padding."""
FIRST_WAIT_SECS = 1.0
"""Pause after a first failure that asks for none; it doubles with each further one."""
UNIT = 0.01
"""How far the length of a vector may be from 1."""


class PublishInterrupted(Exception):
    """Work was asked to stop between two batches; what was embedded is kept."""


class Embedding:
    """Embeds texts for one site."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._interrupted = threading.Event()
        self.progress = (0, 0)
        """Passages done and to be done of what is under way; any thread may read it."""
        self.made = 0
        """Passages embedded and kept since this was made."""

    @property
    def portion(self) -> int:
        """How many texts are best embedded together."""
        return self._config.embed_batch * PORTION_BATCHES

    def interrupt(self) -> None:
        """Make work under way stop after its batch. Any thread may call."""
        self._interrupted.set()

    def check(self) -> None:
        """Stop if that was asked for.

        Raises:
            PublishInterrupted: ``interrupt`` was called.
        """
        if self._interrupted.is_set():
            raise PublishInterrupted

    def pause(self, secs: float) -> None:
        """Wait, but not longer than until work is asked to stop.

        Raises:
            PublishInterrupted: ``interrupt`` was called.
        """
        if self._interrupted.wait(secs):
            raise PublishInterrupted

    def embed(
        self, embedder: Embedder, texts: Mapping[str, str], keep: Keep, dimension: int = 0
    ) -> None:
        """Give ``keep`` the vectors of all ``texts`` (by embed digest), a batch at a time.

        ``keep`` gets ``digest -> float32 vector`` and makes that durable. ``dimension`` is that
        of the vectors which the site has, 0 if it has none. Texts of like length share a batch,
        so that little of it is padding.

        Raises:
            PublishInterrupted: ``interrupt`` was called.
            EmbeddingError: a batch could not be embedded; those before it are kept.
        """
        todo = sorted(texts, key=lambda digest: (len(texts[digest]), digest))
        for batch in _batches(todo, self._config.embed_batch):
            self.check()
            vectors = self._encode(embedder, [texts[digest] for digest in batch])
            check_vectors(vectors, len(batch), dimension or embedder.dimension, embedder.model)
            reached(Seam.ENCODED)
            keep(dict(zip(batch, vectors, strict=True)))
            reached(Seam.VECTORS_KEPT)
            self.made += len(batch)
            done, whole = self.progress
            self.progress = (done + len(batch), whole)

    def begin(self, whole: int) -> None:
        """Note how many passages are to be embedded now, for the display of progress."""
        self.progress = (0, whole)

    def _encode(self, embedder: Embedder, texts: Sequence[str]) -> Matrix:
        """Embed a batch, trying again where that may help.

        Raises:
            PublishInterrupted: ``interrupt`` was called.
            EmbeddingError: it did not help, or the endpoint asks for too long a wait.
        """
        attempts = self._config.embed_attempts
        for attempt in range(1, attempts + 1):
            try:
                return embedder.encode(texts)
            except EmbeddingError as error:
                wait = error.retry_after or FIRST_WAIT_SECS * 2 ** (attempt - 1)
                if not error.again or attempt == attempts:
                    raise
                if wait > self._config.embed_max_wait_secs:
                    raise EmbeddingError(
                        f"{error}; it asks for {wait:.0f} s of peace, more than "
                        "FRESHCRAWL_EMBED_MAX_WAIT_SECS allows"
                    ) from error
                self.pause(wait)
        raise AssertionError("unreachable")


def check_vectors(vectors: Matrix, rows: int, dimension: int, model: str) -> None:
    """Refuse what no index may hold: another shape, or rows that are not of length 1.

    Raises:
        EmbeddingError: see the message.
    """
    import numpy as np

    if vectors.shape != (rows, dimension or vectors.shape[-1]):
        raise EmbeddingError(
            f"{model} gave vectors of shape {vectors.shape}, not {(rows, dimension)}: if that is "
            "another model, run scrapy reindex"
        )
    # Of NaN this is false, too.
    if not bool(np.all(np.abs(np.linalg.norm(vectors, axis=1) - 1.0) <= UNIT)):
        raise EmbeddingError(f"{model} gave vectors that are no directions (zero, or no numbers)")


def _batches(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
