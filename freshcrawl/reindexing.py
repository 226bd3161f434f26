"""A site's index made anew from what is kept of its pages: another model, chunker or extractor.

Nothing is asked of the site. Vectors and content are durable as they are made and seen by nobody;
one publish then makes them current, so that a reindex that was cut off goes on where it was.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from freshcrawl.clock import new_run_id
from freshcrawl.core.pages import Status
from freshcrawl.core.published import Edit
from freshcrawl.core.words import count
from freshcrawl.ledger import NO_VALIDATORS, Ledger
from freshcrawl.publishing import Publisher, PublishResult
from freshcrawl.remaking import Remaker
from freshcrawl.seams import Seam, reached
from freshcrawl.state import make_embedder
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.http_embedding import HttpEmbedder
from freshcrawl.summary import some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.published import Published
    from freshcrawl.remaking import Remade
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState

BATCH = 50
"""Pages whose passages are embedded together."""


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
        StoreError: the model cannot be found, or the state cannot be read.
    """

    def __init__(self, state: SiteState, site: SiteConfig, config: Config, clock: Clock) -> None:
        self._state, self._clock = state, clock
        self._embedder = make_embedder(config)
        self._ledger = Ledger(state, clock())
        self._publisher = Publisher(state, config, lambda: self._embedder)
        if isinstance(self._embedder, HttpEmbedder):
            # Where all vectors are kept it is asked for nothing, and would not know.
            self._embedder.expect(self._publisher.dimension(self._embedder))
        self._remaker = Remaker(
            site, self._embedder, self._ledger.boilerplate.fingerprints, config.chunk_tokens
        )
        self._pages = [p for p in self._ledger.published.values() if p.status == Status.LIVE]
        self._edits: list[Edit] = []
        self._counts = PublishResult(0)
        self._result = Reindexed(state.name, self._embedder.model, pages=len(self._pages))

    def run(self) -> Reindexed:
        """Embed and publish. Blocking; it may be killed at any time, and run again.

        Raises:
            StoreError: pages cannot be embedded as nothing is kept of them, or a store failed.
        """
        began = self._clock()
        self._refuse_what_is_not_kept()
        for start in range(0, len(self._pages), BATCH):
            self._prepare(self._pages[start : start + BATCH])
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
        """Embed some pages; keep in memory what differs from what stands."""
        kept = [(page, self._ledger.published_content(page.key)) for page in pages]
        made = [self._remaker.remake(page, content) for page, content in kept if content]
        self._result.left += len(pages) - len(made)
        self._result.read_again += sum(one.read_again for one in made)
        chunks = [chunk for one in made for chunk in one.edit.chunks]
        self._publisher.embed(chunks, self._embedder, self._counts)
        self._state.corpus.put_content(
            {one.edit.page.content: one.content for one in made if one.content is not None}
        )
        for one in made:
            key, record = one.edit.page.key, one.record
            if self._ledger.pages[key].made_by != record["made_by"]:
                self._ledger.set(key, **record)
        self._edits += self._differing(made)

    def _differing(self, made: Sequence[Remade]) -> Iterator[Edit]:
        snapshot = self._state.corpus.snapshot()
        try:
            for edit in (one.edit for one in made):
                chunks = [replace(chunk, embed_text="") for chunk in edit.chunks]
                stands = self._ledger.published[edit.page.key]
                same = replace(edit.page, from_gen=stands.from_gen) == stands
                if not same or chunks != list(snapshot.chunks(edit.page.key)):
                    yield Edit(edit.page, chunks)
        finally:
            snapshot.close()

    def _refuse_what_is_not_kept(self) -> None:
        """Refuse another model if the text that it embeds is not kept: it is not the one shown.

        These pages are made due, so that a run with the model of the index brings them back.

        Raises:
            StoreError: there are such pages.
        """
        model = self._publisher.indexed_with()
        if model in {None, self._embedder.model}:
            return
        lost = [p for p in self._pages if self._ledger.published_content(p.key) is None]
        if not lost:
            return
        for page in lost:
            self._ledger.set(page.key, made_by="", next_due=0.0, **NO_VALIDATORS)
        self._ledger.commit_records()
        name = self._state.name
        raise StoreError(
            f"site {name}: the text of {count(len(lost), 'page')} is not kept "
            f"({some([page.url for page in lost], len(lost))}), so another model cannot embed it; "
            f"due now: run scrapy crawl docs -a site={name} with the model of the index ({model}), "
            "then scrapy reindex"
        )
