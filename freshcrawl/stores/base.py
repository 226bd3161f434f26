"""Protocols of the stores. All calls are synchronous; the caller chooses the thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from freshcrawl.core.forgetting import Forgotten
    from freshcrawl.core.published import Chunk, Edit, Published
    from freshcrawl.core.rollback import Rollback
    from freshcrawl.core.versions import Retention, Version

    Matrix = npt.NDArray[np.float32]


class StoreError(Exception):
    """A store cannot be used; the message is one line that says what to do."""


class EmbeddingError(StoreError):
    """Texts could not be embedded, and nothing is wrong with the state; the message says why.

    ``again``: the same may work soon, after ``retry_after`` seconds if these were named (else 0).
    """

    def __init__(self, message: str, *, again: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.again = again
        self.retry_after = retry_after


class DamagedContentError(StoreError):
    """What is kept of one page's content cannot be used; the message says why."""


class RecordStore(Protocol):
    """Named JSON objects with one transaction. Names start ``page:``, ``run:``, ..."""

    @property
    def keeps_writers_out(self) -> bool:
        """Whether a writer has to wait until this is closed: it reads where nothing is shared."""

    def get(self, name: str) -> dict[str, Any] | None:
        """Return the object, or None."""

    def items(self, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield ``(name, object)`` of names that start with ``prefix``, sorted by name."""

    def put(self, name: str, value: Mapping[str, Any]) -> None:
        """Set an object; seen by ``get`` at once, durable after ``commit``."""

    def delete(self, name: str) -> None:
        """Remove a name; nothing happens if it is not there."""

    def commit(self) -> None:
        """Make all that was put and deleted durable, in one transaction."""

    def close(self) -> None:
        """Drop what is not committed and release the store."""


class Snapshot(Protocol):
    """One whole generation, as a reader sees it. Unchanged by later publishes."""

    @property
    def generation(self) -> int:
        """Number of the generation; 0 before the first publish."""

    def info(self, generation: int | None = None) -> dict[str, Any]:
        """Return ``published_at, run_id, model, dimension, pages, chunks`` of it, or of another.

        Another one must be kept as of this snapshot.
        """

    def pages(self) -> Iterator[Published]:
        """Yield the rows of all statuses, by key."""

    def page(self, key: str) -> Published | None:
        """Return one row."""

    def chunks(self, key: str | None = None) -> Iterator[Chunk]:
        """Yield live chunks by (key, ordinal); ``embed_text`` is not stored."""

    def chunks_by_id(self, ids: Sequence[int]) -> dict[int, Chunk]:
        """Return the live chunks among ``ids``."""

    def vectors(self) -> Iterator[tuple[int, Any]]:
        """Yield ``(chunk id, float32 vector)`` of live chunks, by id."""

    def published_at(self, generation: int) -> float:
        """Return when a generation was published (epoch seconds), 0 if unknown."""

    def generations(self) -> list[int]:
        """Return the numbers of the generations that are kept whole, ascending."""

    def versions(self, key: str) -> list[Version]:
        """Return the kept versions of a page, newest first, whatever the generation."""

    def changed_since(self, generation: int) -> Iterator[tuple[Published | None, Published | None]]:
        """Yield the row that a page had in a generation and the one it has now, by key.

        Of the pages with another row since; None for no row. ``generation`` need not be kept: then
        rows of before it may be missing.
        """

    def rollback(self) -> Rollback | None:
        """Return the last rollback, released or not."""

    def forgotten(self) -> Forgotten:
        """Return the marks of the pages that were purged for good."""

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """Yield ``(key, URL, digest)`` of every kept version of a page, each once, by key."""

    def close(self) -> None:
        """Release the snapshot."""


class Corpus(Protocol):
    """Published pages, chunks, vectors and content, by generation."""

    @property
    def keeps_writers_out(self) -> bool:
        """Whether a writer has to wait until this is closed: it reads where nothing is shared."""

    def snapshot(self, generation: int | None = None) -> Snapshot:
        """Return the generation that is current now, or an older one.

        Raises:
            StoreError: ``generation`` is not kept.
        """

    def put_vectors(self, model: str, vectors: Mapping[str, Any], *, day: str = "") -> None:
        """Keep ``embed digest -> float32 vector`` of a model; durable on return.

        They count as spent on ``day`` (ISO date), unless that is "".
        """

    def spent(self, day: str) -> int:
        """Return how many vectors were put that count as spent on a day (ISO date).

        Only the latest day that was named to ``put_vectors`` is known.
        """

    def vector_length(self, model: str) -> int:
        """Return the length of the kept vectors of a model, 0 if there are none."""

    def missing_vectors(self, model: str, digests: Iterable[str]) -> set[str]:
        """Return those of ``digests`` for which no vector is kept."""

    def put_content(self, contents: Mapping[str, bytes]) -> None:
        """Keep ``digest -> bytes`` (compressed on disk); durable on return."""

    def get_content(self, digest: str) -> bytes | None:
        """Return kept bytes, or None."""

    def publish(
        self,
        edits: Sequence[Edit],
        *,
        run_id: str,
        model: str,
        dimension: int,
        published_at: float,
        build: Callable[[Snapshot], None],
        withdrawn: Collection[str] = (),
        rollback: Rollback | None = None,
        distrust: bool = False,
    ) -> int:
        """Apply ``edits`` as the next generation and make it current.

        ``build`` is called with the new generation before it is visible to
        anyone else (to write its index file); if it raises, nothing changed.
        Rows and chunks equal to what stands are left as they are. Pages of the keys
        ``withdrawn`` have no row in it. Returns the new generation's number. A
        ``rollback`` is noted with the switch, and makes a generation whatever it changes.
        With ``distrust`` the chunks that it replaces were never right: with the switch, no
        generation that has them is kept any more.

        Raises:
            StoreError: a live chunk has no vector of ``model``.
        """

    def release(self, now: float) -> None:
        """Note durably that the last rollback is released, unless it is."""

    def retain(self, retention: Retention) -> list[int]:
        """Drop what is past its retention; return the numbers of the generations still kept.

        Chunks go with their last kept generation, and vectors when no kept chunk has them.
        Rows of pages outlive that, with their content and the dates of their generations.
        """

    def close(self) -> None:
        """Release the corpus."""


class VectorIndex(Protocol):
    """Search over one generation's vectors."""

    def __len__(self) -> int:
        """Return the number of vectors."""

    def search(self, vector: Any, k: int) -> list[tuple[int, float]]:
        """Return up to ``k`` ``(chunk id, cosine)`` pairs, best first."""


class IndexStore(Protocol):
    """The index files, one a generation."""

    def write(
        self, generation: int, ids: Sequence[int], vectors: Matrix, manifest: Mapping[str, Any]
    ) -> None:
        """Write, sync, reopen and check one generation's index.

        ``manifest`` is stored beside it with ``count`` and ``sha256`` added.

        Raises:
            StoreError: the file read back differs, or a vector does not find itself.
        """

    def open(self, generation: int) -> VectorIndex:
        """Open one generation.

        Raises:
            FileNotFoundError: there is no such generation (any more).
            StoreError: the file does not fit its manifest.
        """

    def manifest(self, generation: int) -> dict[str, Any]:
        """Return the manifest of a generation."""

    def version(self, generation: int) -> tuple[Any, ...]:
        """Return what is another once a generation was written again, or is gone."""

    def generations(self) -> list[int]:
        """Return the numbers that are there, ascending."""

    def drop(self, generation: int) -> None:
        """Remove one generation; nothing happens if it is not there."""

    def retain(self, generations: Collection[int]) -> int:
        """Remove all others, whole or not, and drafts that a killed writer left.

        Returns how many files that were.
        """


class Embedder(Protocol):
    """Turns text into vectors. The tokenizer works without loading the model."""

    @property
    def model(self) -> str:
        """Identity of the model (name and revision): equal means same vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included."""

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, no special tokens."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text; loads the model when first called."""

    def encode_query(self, text: str) -> Matrix:
        """Return the normalised vector of a question, with the model's query prompt."""
