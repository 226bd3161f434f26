"""From staged changes to a published generation: embed, write, switch, tidy.

Knows nothing of Scrapy. The order of steps is the commit protocol: vectors and
content (durable, seen by nobody) -> index file -> one transaction that makes
the generation current. A crash between any two steps repeats work.
"""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from freshcrawl.core.embedding_plan import Waiting, day_of, portions, rank, without_movers
from freshcrawl.core.pages import Status
from freshcrawl.embedding import Embedding
from freshcrawl.generations import (
    MADE_TODAY,
    PROMPTS,
    drop_old,
    made_as,
    write_index,
)
from freshcrawl.seams import Seam, reached
from freshcrawl.staging import check_limit, content_of, cut_anew, to_edit
from freshcrawl.stores.advice import in_one_line
from freshcrawl.stores.base import EmbeddingError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.published import Chunk, Edit, Published, Staged
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder, Matrix, Snapshot

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class PublishResult:
    """What a publish did."""

    generation: int
    pages: dict[str, Published] = field(default_factory=dict)
    """The rows that were published, by key."""
    waiting: set[str] = field(default_factory=set)
    """Keys of what could not be published yet: texts without vectors, moves to such pages."""
    embedded: int = 0
    reused: int = 0
    removed: int = 0
    missing: int = 0
    """Passages of what waits that have no vector yet, as far as they were cut."""
    problem: str = ""
    """Why embedding stopped before its end, "" if it did not."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What vectors are of a generation."""

    model: str
    """Identity of the model."""
    dimension: int
    prompts: Mapping[str, Any]
    """What the manifest says of prompts, if anything is known."""


def prompts_of(embedder: Embedder) -> dict[str, Any]:
    """Return what a manifest says of an embedder's prompts; nothing where its class has none."""
    prompts = getattr(embedder, "prompts", None)
    return {} if prompts is None else {PROMPTS: prompts}


def worth_little(entry: Staged, missing: tuple[str, ...]) -> Waiting:
    """Return what is known of a page's worth without a ledger: when it was found."""
    return Waiting(entry.key, missing, is_live=False, since=entry.staged_at)


class Publisher:
    """Publishes staged changes of one site."""

    def __init__(self, state: SiteState, config: Config, embedder: Callable[[], Embedder]) -> None:
        self._state = state
        self._config = config
        self._embedder = embedder
        self.embedding = Embedding(config)

    def interrupt(self) -> None:
        """Make a publish that is embedding stop after its batch. Any thread may call."""
        self.embedding.interrupt()

    def publish(
        self,
        staged: Sequence[Staged],
        run_id: str,
        clock: Clock,
        *,
        allowance: int | None = None,
        worth: Callable[[Staged, tuple[str, ...]], Waiting] = worth_little,
    ) -> PublishResult:
        """Embed ``staged``, and publish what is whole as the next generation. Blocking.

        At most ``allowance`` passages are embedded (None: any number), the most valuable pages
        first: ``worth`` is called with a page's work and what is missing of it. Where embedding
        fails for now, what is whole by then is published, and the result says why.

        Raises:
            StoreError: the model differs from that of the site, or a store failed.
            PublishInterrupted: ``interrupt`` was called.
        """
        embedder = self._embedder()
        self.check_model()
        entries = {entry.key: cut_anew(entry, embedder) for entry in staged}
        edits = {key: to_edit(entry) for key, entry in entries.items()}
        missing = self._missing(edits, embedder.model)
        ranked = rank((worth(entries[key], digests) for key, digests in missing.items()), clock())
        result = PublishResult(0)
        texts = {c.embed_digest: c.embed_text for edit in edits.values() for c in edit.chunks}
        left = self._embed_ranked(
            ranked, texts, embedder, clock=clock, allowance=allowance, result=result
        )
        result.missing = len(left)
        whole = {key for key, digests in missing.items() if left.isdisjoint(digests)}
        ready = {key: edits[key] for key in whole}
        kind = Kind(embedder.model, self.dimension(embedder), prompts_of(embedder))
        self._switch(entries, ready, kind, run_id=run_id, clock=clock, result=result)
        chunks = sum(len(edits[key].chunks) for key in result.pages)
        result.reused = max(chunks - result.embedded, 0)
        return result

    def publish_without_model(
        self, staged: Sequence[Staged], run_id: str, clock: Clock
    ) -> PublishResult:
        """Publish what needs no vectors, pages that leave; texts wait for ``scrapy embed``.

        Raises:
            StoreError: a store failed.
        """
        entries = {entry.key: entry for entry in staged}
        edits = {k: to_edit(entry) for k, entry in entries.items() if entry.status != Status.LIVE}
        result = PublishResult(0)
        with closing(self._state.corpus.snapshot()) as current:
            info = current.info() if current.generation else {}
            made = made_as(self._state, current.generation)
        prompts = {name: made[name] for name in made if name == PROMPTS}
        kind = Kind(str(info.get("model", "")), int(info.get("dimension", 0)), prompts)
        self._switch(entries, edits, kind, run_id=run_id, clock=clock, result=result)
        return result

    def _switch(
        self,
        entries: Mapping[str, Staged],
        edits: Mapping[str, Edit],
        kind: Kind,
        *,
        run_id: str,
        clock: Clock,
        result: PublishResult,
    ) -> None:
        """Publish ``edits`` in one generation, but moves to pages that wait; fill the result."""
        with closing(self._state.corpus.snapshot()) as current:
            result.generation = current.generation
            targets = {entry.alias_of for entry in entries.values() if entry.alias_of}
            rows = [page for key in targets if (page := current.page(key))]
        live = {page.key for page in rows if page.status == Status.LIVE}
        ready = sorted(without_movers(edits, entries, live))
        result.waiting = entries.keys() - set(ready)
        if not ready:
            return
        chosen = [edits[key] for key in ready]
        result.pages = {edit.page.key: edit.page for edit in chosen}
        self._state.corpus.put_content(
            {
                edit.page.content: content_of(entries[edit.page.key])
                for edit in chosen
                if edit.page.content
            }
        )
        reached(Seam.CONTENT_KEPT)
        result.removed = self._removed(chosen)
        result.generation = self._state.corpus.publish(
            chosen,
            run_id=run_id,
            model=kind.model,
            dimension=kind.dimension,
            published_at=clock(),
            build=lambda snapshot: write_index(
                self._state, snapshot, (kind.model, kind.dimension), {**kind.prompts, **MADE_TODAY}
            ),
        )
        reached(Seam.SWITCHED)

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
        made = {**prompts_of(embedder), **made}
        write_index(self._state, snapshot, (embedder.model, self.dimension(embedder)), made)

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
            StoreError: the models differ, or the configured one cannot be found or used.
        """
        embedder = self._embedder()
        check_limit(embedder)
        model = self.indexed_with()
        if model not in {None, embedder.model}:
            raise StoreError(
                f"site {self._state.name} is indexed with the model {model}, not with "
                f"{embedder.model}: run scrapy reindex --site {self._state.name} to index it with "
                "that one, or set FRESHCRAWL_EMBED_MODEL back"
            )

    def spent_on(self, day: str) -> int:
        """Return how many passages the site's runs have embedded on a day (ISO date, UTC)."""
        return self._state.corpus.spent(day)

    def missing(self, digests: Iterable[str]) -> int:
        """Return how many of these texts would have to be embedded."""
        return len(self._state.corpus.missing_vectors(self._embedder().model, digests))

    def embed(self, chunks: Sequence[Chunk], embedder: Embedder, result: PublishResult) -> None:
        """Embed what has no vector yet, batch by batch durable; add the counts to ``result``.

        Raises:
            PublishInterrupted: ``interrupt`` was called.
            EmbeddingError: a batch could not be embedded; those before it are kept.
        """
        texts = {chunk.embed_digest: chunk.embed_text for chunk in chunks}
        missing = self._state.corpus.missing_vectors(embedder.model, texts)
        result.embedded += len(missing)
        result.reused += len(chunks) - len(missing)
        self.embedding.begin(len(missing))
        try:
            self._embed({digest: texts[digest] for digest in missing}, embedder, set(missing))
        finally:
            self.embedding.begin(0)

    def _missing(self, edits: Mapping[str, Edit], model: str) -> dict[str, tuple[str, ...]]:
        """Return by page which of its texts have no vector, in the page's order."""
        digests = {key: [c.embed_digest for c in edit.chunks] for key, edit in edits.items()}
        wanted = {digest for of_page in digests.values() for digest in of_page}
        lacking = self._state.corpus.missing_vectors(model, wanted)
        return {
            key: tuple(dict.fromkeys(digest for digest in of_page if digest in lacking))
            for key, of_page in digests.items()
        }

    def _embed_ranked(
        self,
        ranked: Sequence[Waiting],
        texts: Mapping[str, str],
        embedder: Embedder,
        *,
        clock: Clock,
        allowance: int | None,
        result: PublishResult,
    ) -> set[str]:
        """Embed what may be embedded; return the digests of what is left."""
        left = {digest for page in ranked for digest in page.missing}
        self.embedding.begin(len(left) if allowance is None else min(len(left), allowance))
        before = self.embedding.made
        try:
            for _, digests in portions(ranked, allowance, self.embedding.portion):
                wanted = {digest: texts[digest] for digest in digests}
                self._embed(wanted, embedder, left, day_of(clock()))
        except EmbeddingError as error:
            result.problem = str(error)
        finally:
            result.embedded = self.embedding.made - before
            self.embedding.begin(0)
        return left

    def _embed(
        self, texts: Mapping[str, str], embedder: Embedder, left: set[str], day: str = ""
    ) -> None:
        """Embed and keep; take what is kept out of ``left``, and count it as spent on ``day``."""

        def keep(vectors: dict[str, Matrix]) -> None:
            self._state.corpus.put_vectors(embedder.model, vectors, day=day)
            left.difference_update(vectors)

        self.embedding.embed(embedder, texts, keep, self.dimension(embedder))

    def dimension(self, embedder: Embedder) -> int:
        """Return the length of the model's vectors: of those that are kept, if there are any."""
        with closing(self._state.corpus.snapshot()) as current:
            info = current.info() if current.generation else {}
        if info.get("model") == embedder.model:
            return int(info["dimension"])
        return embedder.dimension or self._state.corpus.vector_length(embedder.model)

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
