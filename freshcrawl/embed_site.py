"""``scrapy embed`` for one site: what waits for vectors is embedded and published, page by page.

The site is locked for moments only, to read what waits, to keep a batch and to publish, so that
crawls go on meanwhile; while one does, batches are kept in memory. Nothing is open in between:
the state may be shared with another machine.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.backlog import left_to_embed, waits_for_vectors, worth_in
from freshcrawl.clock import new_run_id
from freshcrawl.core.embedding_plan import Waiting, day_of, portions, rank, without_movers
from freshcrawl.core.pages import Status
from freshcrawl.core.words import count
from freshcrawl.embedding import Embedding, PublishInterrupted
from freshcrawl.ledger import Ledger
from freshcrawl.progress import Snapshot
from freshcrawl.publishing import Publisher
from freshcrawl.seams import Seam, reached
from freshcrawl.staged_work import StagedWork
from freshcrawl.staging import cut_anew, to_edit
from freshcrawl.state import make_embedder, open_for_reading, open_for_writing
from freshcrawl.stores.base import EmbeddingError
from freshcrawl.stores.locks import EMBEDDING, LockedError, SiteLock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.published import Staged
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Matrix

COMMAND = "embed"
SLICE = 200
"""Pages that are cut while the site is locked once."""
PAUSE_SECS = 0.5
"""Between two looks whether who writes to the site has ended."""
BUSY_SECS = 5.0
"""The same while there is something to embed."""


@dataclass(slots=True)
class Embedded:
    """What was done for a site."""

    site: str
    model: str = ""
    pages: int = 0
    """Pages that were published."""
    chunks_embedded: int = 0
    pending_embed: int = 0
    """Pages that still wait for vectors."""
    chunks_pending: int = 0
    """Passages without vectors of these."""
    generation: int = 0
    pinned: str = ""
    """Why nothing may be published, if the site was rolled back and not released since."""
    problem: str = ""
    """Why embedding stopped before its end."""
    stopped: bool = False
    """Whether a signal ended it."""
    duration_s: float = 0.0

    def as_contract(self) -> dict[str, Any]:
        """Return it as ``embed --json`` shows it."""
        return asdict(self)


class SiteEmbedding:
    """Works off what waits for vectors at one site; ``note`` is told whom it has to wait for.

    Raises:
        StoreError: the model cannot be found.
    """

    def __init__(
        self, config: Config, name: str, clock: Clock, note: Callable[[str], None]
    ) -> None:
        self._config, self._name, self._clock, self._note = config, name, clock, note
        self._embedder = make_embedder(config)
        self._result = Embedded(name, self._embedder.model)
        self.embedding = Embedding(config)
        self._dimension = 0
        self._allowance: int | None = None
        self._portion = self.embedding.portion
        self._seen: dict[str, tuple[str, ...]] = {}
        """What was planned for each page; another version of it is another run's."""
        self._planned: dict[str, Waiting] = {}
        self._owners: dict[str, set[str]] = {}
        """Pages by text (embed digest) of the portion under way."""
        self._unkept: dict[str, Matrix] = {}
        """Vectors that wait until the site is free."""
        self._busy_until = 0.0
        """When to look again whether it is (monotonic clock)."""

    def progress(self) -> Snapshot:
        """Return how far it is. Any thread may call."""
        return Snapshot(0, 0, *self.embedding.progress)

    def run(self) -> Embedded:
        """Embed and publish until nothing is left, or may be embedded now. Blocking.

        Raises:
            LockedError: another process writes to the site, or embeds for it.
            StoreError: the model differs from that of the site, or a store failed.
        """
        began, result = self._clock(), self._result
        lock = SiteLock(self._config.state_path() / self._name, EMBEDDING)
        with lock.acquire("scrapy embed", began):
            try:
                waits = self._look(wait=False)
                while waits and self._work_off():
                    waits = self._look(wait=True)
            except PublishInterrupted:  # while it waited for another process
                result.stopped = True
        self._sum_up()
        result.duration_s = round(self._clock() - began, 3)
        return result

    def _look(self, *, wait: bool) -> bool:
        """Plan what to embed, and in which order; tell whether anything waits."""
        with self._opened(wait=wait) as state:
            ledger = Ledger(state, self._clock())
            if ledger.pinned and ledger.rollback is not None:
                self._result.pinned = ledger.rollback.reason(self._name)
                return False
            publisher = Publisher(state, self._config, lambda: self._embedder)
            publisher.check_model()
            ledger.commit_records()
            self._dimension = publisher.dimension(self._embedder)
            spent = publisher.spent_on(day_of(self._clock()))
            self._allowance = left_to_embed(self._config, spent, self.embedding.made)
            growth = self._config.publish_growth_ratio * ledger.published_chunks()
            self._portion = max(self.embedding.portion, int(growth))
            worth = worth_in(ledger)
            keys = [e.key for e in ledger.staged.values() if waits_for_vectors(e)]
            released = any(entry.released for entry in ledger.staged.values())
        self._planned.clear()
        for start in range(0, len(keys), SLICE):
            with self._opened(wait=True) as state:
                for entry, missing in self._cut(state, keys[start : start + SLICE]):
                    self._seen[entry.key] = _version(entry)
                    self._planned[entry.key] = worth(entry, missing)
        return released

    def _cut(
        self, state: SiteState, keys: Sequence[str]
    ) -> Iterator[tuple[Staged, tuple[str, ...]]]:
        """Yield pages with the texts that have no vector; what was not cut yet is kept cut."""
        work = StagedWork(state.records, {})
        for key in keys:
            entry = state.staged_work(key)
            if entry is None or not waits_for_vectors(entry):
                continue
            whole = cut_anew(entry, self._embedder)
            if whole is not entry:
                work.restage(whole)
            digests = [chunk.embed_digest for chunk in to_edit(whole).chunks]
            lacking = state.corpus.missing_vectors(self._embedder.model, digests)
            yield whole, tuple(dict.fromkeys(d for d in digests if d in lacking))
        state.records.commit()

    def _work_off(self) -> bool:
        """Embed and publish what was planned; tell whether to look for more."""
        result, done_before = self._result, (self._result.pages, self.embedding.made)
        whole = {digest for page in self._planned.values() for digest in page.missing}
        limit = len(whole) if self._allowance is None else self._allowance
        self.embedding.begin(min(len(whole), limit))
        ranked = rank(self._planned.values(), self._clock())
        for keys, digests in [*portions(ranked, self._allowance, self._portion)] or [([], [])]:
            try:
                self._embed(keys, digests)
            except EmbeddingError as error:
                result.problem = str(error)
            except PublishInterrupted:
                result.stopped = True
            self._publish(keys)
            if result.problem or result.stopped or result.pinned:
                break
        self.embedding.begin(0)
        moved_on = (result.pages, self.embedding.made) != done_before
        return moved_on and not (result.problem or result.stopped or result.pinned)

    def _embed(self, keys: Sequence[str], digests: Collection[str]) -> None:
        """Embed texts of some pages; nothing of the site is open but to keep a batch."""
        if not digests:
            return
        wanted, texts = set(digests), dict[str, str]()
        self._owners = {}
        with self._opened(wait=True) as state:
            for key in keys:
                entry = state.staged_work(key)
                if entry is None or _version(entry) != self._seen[key]:
                    continue
                for chunk in to_edit(entry).chunks:
                    if chunk.embed_digest in wanted:
                        texts[chunk.embed_digest] = chunk.embed_text
                        self._owners.setdefault(chunk.embed_digest, set()).add(key)
        self.embedding.embed(self._embedder, texts, self._keep, self._dimension)

    def _keep(self, vectors: dict[str, Matrix]) -> None:
        """Make a batch durable, or keep it in memory while another process writes to the site."""
        self._unkept |= vectors
        if time.monotonic() < self._busy_until:
            return
        try:
            with self._opened(wait=False) as state:
                self._put(state)
        except LockedError:  # to look takes a while, and a crawl goes on for minutes
            self._busy_until = time.monotonic() + BUSY_SECS

    def _put(self, state: SiteState) -> None:
        """Make vectors durable, but of pages that were forgotten meanwhile."""
        records, owners = state.records, self._owners
        wanted = {
            digest: vector
            for digest, vector in self._unkept.items()
            if any(records.get(f"staged:{key}") for key in owners.get(digest, ()))
        }
        state.corpus.put_vectors(self._embedder.model, wanted, day=day_of(self._clock()))
        self._unkept.clear()

    def _publish(self, keys: Sequence[str]) -> None:
        """Publish those of some pages that are whole, and moves that waited for such."""
        result, chosen = self._result, set(keys)
        try:
            with self._opened(wait=not result.stopped) as state:
                self._put(state)
                ledger = Ledger(state, self._clock())
                if ledger.pinned and ledger.rollback is not None:
                    result.pinned = ledger.rollback.reason(self._name)
                    return
                may = {
                    key
                    for key, entry in ledger.staged.items()
                    if entry.released and (key in chosen or entry.status == Status.ALIAS)
                }
                # Not a move to a page that waits for a later portion.
                may = without_movers(may, ledger.staged, set(ledger.live_keys()))
                rows = [ledger.staged[key] for key in sorted(may)]
                publisher = Publisher(state, self._config, lambda: self._embedder)
                run_id = f"{COMMAND}-{new_run_id(self._clock())}"
                done = publisher.publish(ledger.whole(rows), run_id, self._clock, allowance=0)
                ledger.adopt(done.pages, done.generation)
                ledger.believe_listings()
                ledger.commit_records()
                reached(Seam.RECORDS_COMMITTED)
                publisher.tidy(self._clock())
                result.pages += len(done.pages)
        except LockedError as error:
            lost = count(len(self._unkept), "passage")
            result.problem = f"{lost} embedded and not kept: {error}"

    def _sum_up(self) -> None:
        """Say what is left."""
        result = self._result
        result.chunks_embedded = self.embedding.made
        with closing(open_for_reading(self._config, self._name)) as state:
            waiting = {entry.key for entry in state.staged() if waits_for_vectors(entry)}
            texts = {d for k, page in self._planned.items() if k in waiting for d in page.missing}
            lacking = state.corpus.missing_vectors(self._embedder.model, texts)
            with closing(state.corpus.snapshot()) as snapshot:
                result.generation = snapshot.generation
        result.pending_embed, result.chunks_pending = len(waiting), len(lacking)

    @contextmanager
    def _opened(self, *, wait: bool) -> Iterator[SiteState]:
        """Open the site as its only writer; ``wait`` until nobody else writes to it.

        Raises:
            LockedError: somebody does, and ``wait`` is false.
            PublishInterrupted: it was interrupted while it waited.
        """
        while True:
            try:
                state = open_for_writing(self._config, self._name, COMMAND, self._clock())
                break
            except LockedError as error:
                if not wait:
                    raise
                self._note(str(error))
                self.embedding.pause(PAUSE_SECS)
        try:
            yield state
        finally:
            state.close()


def _version(entry: Staged) -> tuple[str, ...]:
    return (entry.run_id, entry.digest, entry.links_digest)
