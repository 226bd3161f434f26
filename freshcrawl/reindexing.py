"""A site's index made anew from what is kept of its pages: another model, chunker or extractor.

Nothing is asked of the site. Vectors and content are durable as they are made and seen by nobody;
one publish then makes them current, so that a reindex that was cut off goes on where it was.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from freshcrawl.clock import new_run_id
from freshcrawl.core.pages import Status
from freshcrawl.core.words import count
from freshcrawl.embedding import PublishInterrupted
from freshcrawl.ledger import NO_VALIDATORS, Ledger
from freshcrawl.packed_edits import PackedEdits
from freshcrawl.progress import Snapshot
from freshcrawl.publishing import Publisher, PublishResult
from freshcrawl.remaking import Remaker, differs, not_kept
from freshcrawl.seams import Seam, reached
from freshcrawl.staging import check_limit
from freshcrawl.state import make_embedder
from freshcrawl.stores.base import EmbeddingError
from freshcrawl.stores.http_embedding import HttpEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.published import Edit, Published
    from freshcrawl.remaking import Remade
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState

BATCH = 50
"""Pages whose passages are embedded together."""
CONTENT_BYTES = 4_000_000
"""Content that is made anew and held in memory before it is kept."""


@dataclass(slots=True)
class Reindexed:
    """What a reindex of a site did."""

    site: str
    model: str
    """Identity of the model that the site is indexed with now."""
    pages: int = 0
    chunks: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0
    read_again: int = 0
    """Pages whose kept body was read anew."""
    left: int = 0
    """Pages of which nothing is kept: their passages stay as they are."""
    changed: bool = False
    """Whether there is a new generation; not where it would equal the one before."""
    generation: int = 0
    duration_s: float = 0.0

    def as_contract(self) -> dict[str, Any]:
        """Return it as ``reindex --json`` shows it."""
        return asdict(self)


class Reindexing:
    """Makes the next generation of one site, whose state is open for writing.

    Raises:
        StoreError: the model cannot be found or used, or the state cannot be read.
    """

    def __init__(self, state: SiteState, site: SiteConfig, config: Config, clock: Clock) -> None:
        self._state, self._clock = state, clock
        self._embedder = make_embedder(config)
        check_limit(self._embedder)
        self._ledger = Ledger(state, clock())
        self._publisher = Publisher(state, config, lambda: self._embedder)
        if isinstance(self._embedder, HttpEmbedder):
            # Where all vectors are kept it is asked for nothing, and would not know.
            self._embedder.expect(self._publisher.dimension(self._embedder))
        self._remaker = Remaker(
            site, self._embedder, self._ledger.boilerplate.fingerprints, config.chunk_tokens
        )
        self._pages = [p for p in self._ledger.published.values() if p.status == Status.LIVE]
        self._done = 0
        self._stops = threading.Event()
        self._edits = PackedEdits()
        self._counts = PublishResult(0)
        self._under_way: set[str] = set()
        """Embed digests of the passages that are being embedded."""
        self._result = Reindexed(state.name, self._embedder.model, pages=len(self._pages))

    def progress(self) -> Snapshot:
        """Return how far it is. Any thread may call."""
        return Snapshot(self._done, len(self._pages), *self._publisher.embedding.progress)

    def stop(self) -> None:
        """Make it end after the batch that is embedded now. Any thread may call.

        Not once all is embedded: then it publishes.
        """
        self._stops.set()
        self._publisher.interrupt()

    def run(self) -> Reindexed:
        """Embed and publish. Blocking; it may be killed at any time, and run again.

        Raises:
            StoreError: pages cannot be embedded as nothing is kept of them, or a store failed.
            EmbeddingError: texts could not be embedded; the message says what is kept.
            PublishInterrupted: ``stop`` was called; the message says what is kept.
        """
        began = self._clock()
        self._refuse_what_is_not_kept()
        try:
            for start in range(0, len(self._pages), BATCH):
                self._prepare(self._pages[start : start + BATCH])
        except PublishInterrupted:
            raise PublishInterrupted(f"{self._state.name}: stopped; {self._words()}") from None
        except EmbeddingError as error:
            message = f"site {self._state.name}: {error}; {self._words()}"
            again, after = error.again, error.retry_after
            raise EmbeddingError(message, again=again, retry_after=after) from error
        reached(Seam.CONTENT_KEPT)
        self._publish()
        result = self._result
        result.chunks_embedded, result.chunks_reused = self._counts.embedded, self._counts.reused
        result.chunks = self._ledger.published_chunks()
        result.duration_s = round(self._clock() - began, 3)
        return result

    def _publish(self) -> None:
        now, before = self._clock(), self._ledger.generation
        self._result.generation = self._state.corpus.publish(
            self._edits,
            run_id=new_run_id(now),
            model=self._embedder.model,
            dimension=self._embedder.dimension,
            published_at=now,
            build=lambda snapshot: self._publisher.write_index(snapshot, self._embedder),
        )
        self._result.changed = self._result.generation != before
        reached(Seam.SWITCHED)
        self._ledger.commit_records()
        reached(Seam.RECORDS_COMMITTED)
        self._publisher.tidy(now)

    def _prepare(self, pages: Sequence[Published]) -> None:
        """Embed some pages; keep in memory what differs from what stands, and how it was made."""
        made = list(self._remade(pages))
        chunks = [chunk for one in made for chunk in one.edit.chunks]
        self._under_way = {chunk.embed_digest for chunk in chunks}
        self._publisher.embed(chunks, self._embedder, self._counts)
        self._under_way = set()
        for one in made:
            key, record = one.edit.page.key, one.record
            if self._ledger.pages[key].made_by != record["made_by"]:
                self._ledger.set(key, **record)
        self._edits.add(self._differing(made))
        self._done += len(pages)

    def _remade(self, pages: Sequence[Published]) -> Iterator[Remade]:
        """Yield those pages of which something is kept; their content is kept, not in memory.

        Raises:
            PublishInterrupted: it is to stop.
        """
        contents: dict[str, bytes] = {}
        for page in pages:
            if self._stops.is_set():
                raise PublishInterrupted
            kept = self._ledger.published_content(page.key)
            if kept is None:
                self._result.left += 1
                continue
            made = self._remaker.remake(page, kept)
            self._result.read_again += made.read_again
            if made.content is not None:
                contents[made.edit.page.content] = made.content
            if sum(map(len, contents.values())) >= CONTENT_BYTES:
                self._state.corpus.put_content(contents)
                contents = {}
            yield replace(made, content=None)
        self._state.corpus.put_content(contents)

    def _differing(self, made: Sequence[Remade]) -> Iterator[Edit]:
        snapshot = self._state.corpus.snapshot()
        try:
            for edit in (one.edit for one in made):
                if differs(edit, self._ledger.published[edit.page.key], snapshot):
                    yield edit
        finally:
            snapshot.close()

    def _words(self) -> str:
        """Return what is kept of a reindex that ends here, and what to do."""
        left = self._state.corpus.missing_vectors(self._embedder.model, self._under_way)
        kept = self._counts.embedded - len(left)
        what = f"{count(kept, 'passage')} embedded so far stay kept, and " if kept else ""
        return f"{what}the same command goes on from there"

    def _refuse_what_is_not_kept(self) -> None:
        """Refuse another model if the text that it embeds is not kept: it is not the one shown.

        These pages are made due, so that a run with the model of the index brings them back.

        Raises:
            StoreError: there are such pages.
        """
        model = self._publisher.indexed_with()
        if model is None or model == self._embedder.model:
            return
        lost = [p for p in self._pages if self._ledger.published_content(p.key) is None]
        if not lost:
            return
        for page in lost:
            self._ledger.set(page.key, made_by="", next_due=0.0, **NO_VALIDATORS)
        self._ledger.commit_records()
        raise not_kept(self._state.name, model, lost, "due now")
