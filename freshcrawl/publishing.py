"""From staged changes to a published generation: embed, write, switch, tidy.

Knows nothing of Scrapy. The order of steps is the commit protocol: vectors and
content (durable, seen by nobody) -> index file -> one transaction that makes
the generation current. A crash between any two steps repeats work.
"""

from __future__ import annotations

import logging
import threading
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from freshcrawl.core.chunks import CHUNKER_VERSION
from freshcrawl.extract import EXTRACTOR_VERSION
from freshcrawl.policies import retention_policy
from freshcrawl.seams import Seam, reached
from freshcrawl.staging import content_of, cut_anew, to_edit
from freshcrawl.stores.advice import in_one_line
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.published import Chunk, Edit, Published, Staged
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder, Matrix, Snapshot

logger = logging.getLogger(__name__)

MADE_TODAY = {"extractor": EXTRACTOR_VERSION, "chunker": CHUNKER_VERSION}
"""What a manifest says of how its generation was read and cut."""


@dataclass(slots=True)
class PublishResult:
    """What a publish did."""

    generation: int
    pages: dict[str, Published] = field(default_factory=dict)
    """The rows that were published, by key."""
    embedded: int = 0
    reused: int = 0
    removed: int = 0


class PublishInterrupted(Exception):
    """A publish was asked to stop between two batches; what was embedded is kept."""


class Publisher:
    """Publishes staged changes of one site."""

    def __init__(self, state: SiteState, config: Config, embedder: Callable[[], Embedder]) -> None:
        self._state = state
        self._config = config
        self._embedder = embedder
        self._interrupted = threading.Event()
        self.embedding = (0, 0)
        """Passages done and to be done of the embedding under way; any thread may read it."""

    def interrupt(self) -> None:
        """Make a publish that is embedding stop after its batch. Any thread may call."""
        self._interrupted.set()

    def publish(self, staged: Sequence[Staged], run_id: str, clock: Clock) -> PublishResult:
        """Embed and publish ``staged`` as the next generation. Blocking.

        Raises:
            StoreError: the model differs from that of the site, or a store failed.
            PublishInterrupted: ``interrupt`` was called.
        """
        embedder = self._embedder()
        self.check_model()
        staged = [cut_anew(entry, embedder) for entry in staged]
        edits = [to_edit(entry) for entry in staged]
        result = PublishResult(0, {edit.page.key: edit.page for edit in edits})
        self.embed([chunk for edit in edits for chunk in edit.chunks], embedder, result)
        self._state.corpus.put_content(
            {
                edit.page.content: content_of(entry)
                for edit, entry in zip(edits, staged, strict=True)
                if edit.page.content
            }
        )
        reached(Seam.CONTENT_KEPT)
        result.removed = self._removed(edits)
        result.generation = self._state.corpus.publish(
            edits,
            run_id=run_id,
            model=embedder.model,
            dimension=embedder.dimension,
            published_at=clock(),
            build=lambda snapshot: self.write_index(snapshot, embedder),
        )
        reached(Seam.SWITCHED)
        return result

    def tidy(self, now: float) -> None:
        """Drop what is past its retention; what keeps that from being done is logged.

        Only room is lost by it, until the next publish: what was published stands.
        """
        try:
            drop_old(self._state, self._config, now)
        except (StoreError, OSError, MemoryError) as error:
            logger.error("old generations could not be dropped: %s", in_one_line(error))

    def write_index(
        self, snapshot: Snapshot, embedder: Embedder, made: Mapping[str, Any] = MADE_TODAY
    ) -> None:
        """Write the index file of a generation that is not visible yet.

        ``made`` is what its manifest says of how it was read and cut.

        Raises:
            StoreError: the site's folder was replaced, or the file cannot be written.
        """
        write_index(self._state, snapshot, (embedder.model, embedder.dimension), made)

    def indexed_with(self) -> str | None:
        """Return the identity of the model of the current generation, None before the first."""
        snapshot = self._state.corpus.snapshot()
        try:
            return str(snapshot.info()["model"]) if snapshot.generation else None
        finally:
            snapshot.close()

    def check_model(self) -> None:
        """Refuse to work with another model than the one that the site is indexed with.

        Raises:
            StoreError: the models differ, or the configured one cannot be found.
        """
        embedder = self._embedder()
        model = self.indexed_with()
        if model not in {None, embedder.model}:
            raise StoreError(
                f"site {self._state.name} is indexed with the model {model}, not with "
                f"{embedder.model}: run scrapy reindex --site {self._state.name} to index it with "
                "that one, or set FRESHCRAWL_EMBED_MODEL back"
            )

    def missing(self, digests: Iterable[str]) -> int:
        """Return how many of these texts would have to be embedded."""
        return len(self._state.corpus.missing_vectors(self._embedder().model, digests))

    def embed(self, chunks: Sequence[Chunk], embedder: Embedder, result: PublishResult) -> None:
        """Embed what has no vector yet, batch by batch durable; add the counts to ``result``.

        Raises:
            PublishInterrupted: ``interrupt`` was called.
        """
        texts = {chunk.embed_digest: chunk.embed_text for chunk in chunks}
        missing = self._state.corpus.missing_vectors(embedder.model, texts)
        result.embedded += len(missing)
        result.reused += len(chunks) - len(missing)
        # Texts of like length share a batch, so that little of it is padding.
        todo = sorted(missing, key=lambda digest: (len(texts[digest]), digest))
        self.embedding = (0, len(todo))
        try:
            for done, batch in _batches(todo, self._config.embed_batch):
                if self._interrupted.is_set():
                    raise PublishInterrupted
                vectors = embedder.encode([texts[digest] for digest in batch])
                reached(Seam.ENCODED)
                kept = dict(zip(batch, vectors, strict=True))
                self._state.corpus.put_vectors(embedder.model, kept)
                reached(Seam.VECTORS_KEPT)
                self.embedding = (done, len(todo))
        finally:
            self.embedding = (0, 0)

    def _removed(self, edits: Sequence[Edit]) -> int:
        snapshot = self._state.corpus.snapshot()
        try:
            return sum(
                len(
                    {chunk.id for chunk in snapshot.chunks(edit.page.key)}
                    - {chunk.id for chunk in edit.chunks}
                )
                for edit in edits
            )
        finally:
            snapshot.close()


def write_index(
    state: SiteState, snapshot: Snapshot, embedding: tuple[str, int], made: Mapping[str, Any]
) -> None:
    """Write the index file of a generation; ``embedding`` is its model and its dimension.

    Raises:
        StoreError: the site's folder was replaced, or the file cannot be written.
    """
    reached(Seam.ROWS_WRITTEN)
    state.check_own()  # the index is written by its name
    ids, matrix = gather_vectors(snapshot)
    manifest = {
        "generation": snapshot.generation,
        "run_id": snapshot.info()["run_id"],
        "model": embedding[0],
        "dimension": embedding[1],
        **made,
    }
    state.index.write(snapshot.generation, ids, matrix, manifest)


def made_as(state: SiteState, generation: int) -> dict[str, Any]:
    """Return what the manifest of a generation, if it is there, says of how that was made."""
    try:
        known = state.index.manifest(generation)
    except (OSError, StoreError):
        known = {}
    return {name: known[name] for name in MADE_TODAY if name in known}


def drop_old(state: SiteState, config: Config, now: float) -> int:
    """Drop what is past its retention: generations, versions of pages, vectors, index files.

    And what crashes left of the latter. Returns how many index files and manifests were dropped.

    Raises:
        StoreError: a store failed, or the site's folder was replaced.
        OSError: a file cannot be removed.
    """
    kept = state.corpus.retain(retention_policy(config, now))
    reached(Seam.ROWS_DROPPED)
    state.check_own()  # from here on files are opened and dropped by their names
    with closing(state.corpus.snapshot()) as current:
        # An older file has vectors of what was purged since; nobody needs it.
        oldest = current.forgotten().generation
    dropped = state.index.retain([number for number in kept if number >= oldest])
    reached(Seam.TIDIED)
    return dropped


def gather_vectors(snapshot: Snapshot) -> tuple[list[int], Matrix]:
    """Return the chunk ids of a generation, ascending, and their vectors, one row each."""
    import numpy as np

    pairs = list(snapshot.vectors())
    if not pairs:
        return [], np.empty((0, snapshot.info().get("dimension") or 0), dtype=np.float32)
    return [chunk_id for chunk_id, _ in pairs], np.vstack([vector for _, vector in pairs])


def _batches(items: Sequence[str], size: int) -> Iterator[tuple[int, Sequence[str]]]:
    for start in range(0, len(items), size):
        batch = items[start : start + size]
        yield start + len(batch), batch
