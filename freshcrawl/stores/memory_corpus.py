"""The corpus in dicts: whole generations, sharing what did not change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from freshcrawl.core.forgetting import Forgotten
from freshcrawl.core.pages import Status
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus_history import not_kept
from freshcrawl.stores.memory_generation import (
    Generation,
    Versions,
    drop_versions,
    note_versions,
    trusted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from freshcrawl.core.published import Chunk, Edit, Published
    from freshcrawl.core.rollback import Rollback
    from freshcrawl.core.versions import Retention, Version
    from freshcrawl.stores.base import Snapshot


@dataclass
class MemoryCorpusData:
    """What a MemoryCorpus keeps: hand it on to open the same corpus again."""

    generations: list[Generation] = field(default_factory=lambda: [Generation()])
    """The kept ones, ascending; generation 0 until one is published."""
    times: dict[int, float] = field(default_factory=dict)
    vectors: dict[tuple[str, str], Any] = field(default_factory=dict)
    used_at: dict[tuple[str, str], float] = field(default_factory=dict)
    """When a vector last left the current generation."""
    content: dict[str, bytes] = field(default_factory=dict)
    published_content: set[str] = field(default_factory=set)
    versions: Versions = field(default_factory=dict)
    rollback: Rollback | None = None
    spent: dict[str, int] = field(default_factory=dict)
    """Vectors by the latest day that they count for."""


class MemorySnapshot:
    """Snapshot of one generation."""

    def __init__(self, data: MemoryCorpusData, generation: Generation) -> None:
        self._of = generation
        self._kept = {of.number: of for of in data.generations if of.number}
        self._versions = {key: list(rows) for key, rows in data.versions.items()}
        self._rollback = data.rollback
        self._times = {**data.times, generation.number: generation.published_at}
        self._vectors = {
            chunk.id: data.vectors[generation.model, chunk.embed_digest]
            for chunk in generation.all_chunks()
        }

    @property
    def generation(self) -> int:
        """Number of the generation; 0 before the first publish."""
        return self._of.number

    def info(self, generation: int | None = None) -> dict[str, Any]:
        """Return ``published_at, run_id, model, dimension, pages, chunks`` of it, or of another."""
        of = self._of if generation is None else self._kept[generation]
        return {
            "published_at": of.published_at,
            "run_id": of.run_id,
            "model": of.model,
            "dimension": of.dimension,
            "pages": sum(page.status == Status.LIVE for page in of.pages.values()),
            "chunks": sum(1 for _ in of.all_chunks()),
        }

    def pages(self) -> Iterator[Published]:
        """Yield the rows of all statuses, by key."""
        for key in sorted(self._of.pages):
            yield replace(self._of.pages[key])

    def page(self, key: str) -> Published | None:
        """Return one row."""
        page = self._of.pages.get(key)
        return replace(page) if page else None

    def chunks(self, key: str | None = None) -> Iterator[Chunk]:
        """Yield live chunks by (key, ordinal); ``embed_text`` is not stored."""
        of_page = self._of.chunks.get(key, []) if key is not None else self._of.all_chunks()
        for chunk in of_page:
            yield replace(chunk)

    def chunks_by_id(self, ids: Sequence[int]) -> dict[int, Chunk]:
        """Return the live chunks among ``ids``."""
        wanted = set(ids)
        return {chunk.id: chunk for chunk in self.chunks() if chunk.id in wanted}

    def vectors(self) -> Iterator[tuple[int, Any]]:
        """Yield ``(chunk id, float32 vector)`` of live chunks, by id."""
        yield from sorted(self._vectors.items(), key=lambda item: item[0])

    def published_at(self, generation: int) -> float:
        """Return when a generation was published (epoch seconds), 0 if unknown."""
        return self._times.get(generation, 0.0)

    def generations(self) -> list[int]:
        """Return the numbers of the generations that are kept whole, ascending."""
        return list(self._kept)

    def versions(self, key: str) -> list[Version]:
        """Return the kept versions of a page, newest first, whatever the generation."""
        return [replace(row, page=replace(row.page)) for row in self._versions.get(key, ())]

    def changed_since(self, generation: int) -> Iterator[tuple[Published | None, Published | None]]:
        """Yield the row that a page had in a generation and the one it has now, by key."""
        for key, rows in sorted(self._versions.items()):
            ends = {row.to_gen or 0 for row in rows} | {row.page.from_gen for row in rows}
            if max(ends) > generation:
                old = next((row.page for row in rows if row.is_in(generation)), None)
                yield old and replace(old), self.page(key)

    def rollback(self) -> Rollback | None:
        """Return the last rollback, released or not."""
        return self._rollback and replace(self._rollback)

    def forgotten(self) -> Forgotten:
        """Return no mark: only what is on disk is purged."""
        return Forgotten()

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """Yield ``(key, URL, digest)`` of every kept version of a page, each once, by key."""
        pages = [row.page for rows in self._versions.values() for row in rows]
        yield from sorted({(page.key, page.url, page.digest) for page in pages})

    def close(self) -> None:
        """Release the snapshot."""
        self._vectors.clear()


class MemoryCorpus:
    """Corpus over ``data``."""

    def __init__(self, data: MemoryCorpusData | None = None) -> None:
        self._data = MemoryCorpusData() if data is None else data

    @property
    def keeps_writers_out(self) -> bool:
        """Never."""
        return False

    def snapshot(self, generation: int | None = None) -> MemorySnapshot:
        """Return the generation that is current now, or an older one.

        Raises:
            StoreError: ``generation`` is not kept.
        """
        kept = {of.number: of for of in self._data.generations}
        number = self._data.generations[-1].number if generation is None else generation
        if number not in kept:
            raise not_kept(number, [known for known in kept if known])
        return MemorySnapshot(self._data, kept[number])

    def put_vectors(self, model: str, vectors: Mapping[str, Any], *, day: str = "") -> None:
        """Keep ``embed digest -> float32 vector`` of a model, and count it as spent on ``day``."""
        import numpy as np

        if day:
            self._data.spent = {day: self.spent(day) + len(vectors)}

        for digest, vector in vectors.items():
            self._data.vectors[model, digest] = np.array(vector, dtype=np.float32)
            self._data.used_at.pop((model, digest), None)

    def spent(self, day: str) -> int:
        """Return how many vectors were put that count as spent on a day (ISO date)."""
        return self._data.spent.get(day, 0)

    def vector_length(self, model: str) -> int:
        """Return the length of the kept vectors of a model, 0 if there are none."""
        kept = (vector for (of, _), vector in self._data.vectors.items() if of == model)
        return len(next(kept, ()))

    def missing_vectors(self, model: str, digests: Iterable[str]) -> set[str]:
        """Return those of ``digests`` for which no vector is kept."""
        return {digest for digest in digests if (model, digest) not in self._data.vectors}

    def put_content(self, contents: Mapping[str, bytes]) -> None:
        """Keep ``digest -> bytes``."""
        for digest, content in contents.items():
            self._data.content.setdefault(digest, content)
            self._data.published_content.discard(digest)

    def get_content(self, digest: str) -> bytes | None:
        """Return kept bytes, or None."""
        return self._data.content.get(digest)

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
        """Apply ``edits`` as the next generation and make it current; see Corpus."""
        before = self._data.generations[-1]
        after = Generation(before.number + 1, run_id, model, dimension, published_at)
        after.fill(before, edits, withdrawn)
        switched = before.number and (before.model, before.dimension) != (model, dimension)
        same = not switched and rollback is None
        if same and (before.pages, before.chunks) == (after.pages, after.chunks):
            return before.number
        self._check_vectors(after)
        build(MemorySnapshot(self._data, after))
        if distrust:
            self._data.generations[:] = trusted(self._data.generations, after)
        self._make_current(before, after)
        self._data.rollback = rollback or self._data.rollback
        return after.number

    def release(self, now: float) -> None:
        """Note that the last rollback is released, unless it is."""
        rollback = self._data.rollback
        if rollback is not None and rollback.pinned:
            self._data.rollback = replace(rollback, pinned=False, released_at=now)

    def retain(self, retention: Retention) -> list[int]:
        """Drop what is past its retention; return the numbers of the generations still kept."""
        data = self._data
        kept = data.generations[-max(1, retention.generations) :]
        data.generations[:] = kept
        drop_versions(data.versions, kept[0].number, retention)
        rows = [version for versions in data.versions.values() for version in versions]
        dated = {number for row in rows for number in (row.page.from_gen, row.to_gen)}
        dated.update(of.number for of in kept)
        data.times = {number: at for number, at in data.times.items() if number in dated}
        models, digests = {of.model for of in kept}, set().union(*(of.digests() for of in kept))
        for name in [n for n, at in data.used_at.items() if at < retention.unused_since]:
            if not (name[0] in models and name[1] in digests):
                del data.vectors[name], data.used_at[name]
        for digest in data.published_content - {row.page.content for row in rows}:
            data.published_content.discard(digest)
            data.content.pop(digest, None)
        return [of.number for of in kept if of.number]

    def close(self) -> None:
        """Release the corpus."""
        self._data = MemoryCorpusData()

    def _check_vectors(self, after: Generation) -> None:
        missing = self.missing_vectors(after.model, after.digests())
        wrong = {
            digest
            for digest in after.digests() - missing
            if len(self._data.vectors[after.model, digest]) != after.dimension
        }
        if missing | wrong:
            raise StoreError(
                f"{len(missing | wrong)} live chunks have no vector of {after.model}; "
                "embed them first"
            )

    def _make_current(self, before: Generation, after: Generation) -> None:
        data = self._data
        left = {(before.model, d) for d in before.digests()}
        left -= {(after.model, d) for d in after.digests()}
        data.used_at.update((name, after.published_at) for name in left)
        data.published_content.update(
            page.content for page in after.pages.values() if page.from_gen == after.number
        )
        note_versions(data.versions, before, after)
        data.times[after.number] = after.published_at
        data.generations.append(after)
