"""Answers: search over the published generations of one or several sites."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.core.freshness import doubt
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.report import iso
from freshcrawl.publishing import gather_vectors
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.memory import MemoryIndex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from freshcrawl.core.published import Chunk, Published
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder, Snapshot, VectorIndex

logger = logging.getLogger(__name__)

ATTEMPTS = 3


@dataclass(slots=True)
class Hit:
    """One passage that answers, with where it is and when it was checked."""

    url: str
    anchor: str
    title: str
    heading_path: list[str]
    text: str
    score: float
    site: str
    content_digest: str
    last_checked: str | None
    last_changed: str | None
    indexed_at: str | None
    stale: bool

    def to_json(self) -> dict[str, Any]:
        """Return the hit as the contract has it."""
        return asdict(self)

    @property
    def link(self) -> str:
        """URL with the anchor of the passage."""
        return f"{self.url}#{self.anchor}" if self.anchor else self.url


@dataclass(slots=True)
class Clocks:
    """Clocks of the pages of one generation."""

    records: dict[str, PageRecord]
    snapshot: Snapshot
    now: float
    max_age: float

    def of(self, page: Published) -> dict[str, Any]:
        """Return ``last_checked, last_changed, indexed_at, stale`` of a page."""
        record = self.records.get(page.key)
        return {
            "last_checked": iso(record.last_checked if record else 0.0),
            "last_changed": iso(page.changed_at),
            "indexed_at": iso(self.snapshot.published_at(page.from_gen)),
            "stale": bool(doubt(record, self.now, self.max_age)),
        }


def search(
    states: list[SiteState],
    embedder: Embedder,
    text: str,
    k: int,
    *,
    now: float,
    max_ages: Mapping[str, float],
) -> list[Hit]:
    """Return the ``k`` best passages of all sites, best first, by cosine.

    ``max_ages`` gives, by name of a site, the seconds after which an answer is stale.

    Raises:
        StoreError: a site is indexed with another model.
    """
    vector = embedder.encode_query(text)
    hits = [
        hit
        for state in states
        for hit in _search_site(state, embedder.model, vector, k, (now, max_ages[state.name]))
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.link))[:k]


def has_answers(state: SiteState) -> bool:
    """Tell whether anything of a site was ever published."""
    snapshot = state.corpus.snapshot()
    try:
        return snapshot.generation > 0
    finally:
        snapshot.close()


def _search_site(
    state: SiteState, model: str, vector: Any, k: int, age: tuple[float, float]
) -> list[Hit]:
    snapshot, index = open_generation(state)
    try:
        if not snapshot.generation:
            return []
        if snapshot.info()["model"] != model:
            raise StoreError(
                f"site {state.name} is indexed with the model {snapshot.info()['model']}, not "
                f"with {model}: set FRESHCRAWL_EMBED_MODEL to the model of the index"
            )
        found = index.search(vector, k)
        chunks = snapshot.chunks_by_id([chunk_id for chunk_id, _ in found])
        clocks = Clocks(state.pages(), snapshot, *age)
        return [
            _hit(state.name, page, chunks[chunk_id], score, clocks)
            for chunk_id, score in found
            if chunk_id in chunks and (page := snapshot.page(chunks[chunk_id].key))
        ]
    finally:
        snapshot.close()


def _hit(site: str, page: Published, chunk: Chunk, score: float, clocks: Clocks) -> Hit:
    return Hit(
        url=page.url,
        anchor=chunk.anchor,
        title=page.title,
        heading_path=chunk.heading_path,
        text=chunk.text,
        score=round(score, 6),
        site=site,
        content_digest=page.digest,
        **clocks.of(page),
    )


def open_generation(state: SiteState) -> tuple[Snapshot, VectorIndex]:
    """Return one whole generation: its rows and its index.

    If the index file went away between the two (a later publish tidied up),
    the newer generation is read; if it is missing for good or damaged, the
    index is built from the vectors that the corpus holds.
    """
    for _ in range(ATTEMPTS):
        snapshot = state.corpus.snapshot()
        try:
            return snapshot, state.index.open(snapshot.generation)
        except FileNotFoundError:
            snapshot.close()
        except StoreError as error:
            logger.warning("%(error)s; searched without it, which is slower", {"error": error})
            snapshot.close()
            break
    snapshot = state.corpus.snapshot()
    return snapshot, index_of(snapshot)


def index_of(snapshot: Snapshot) -> VectorIndex:
    """Build the index of a generation from the vectors that the corpus holds."""
    ids, vectors = gather_vectors(snapshot)
    return MemoryIndex(ids, vectors)


def export_rows(state: SiteState, *, now: float, max_age: float) -> Iterator[dict[str, Any]]:
    """Yield the live chunks of a site by key and place, as ``export`` prints them."""
    snapshot = state.corpus.snapshot()
    try:
        pages = {page.key: page for page in snapshot.pages() if page.status == Status.LIVE}
        clocks = Clocks(state.pages(), snapshot, now, max_age)
        for chunk in snapshot.chunks():
            page = pages[chunk.key]
            yield {
                "id": chunk.id,
                "key": chunk.key,
                "url": page.url,
                "anchor": chunk.anchor,
                "heading_path": chunk.heading_path,
                "text": chunk.text,
                "content_digest": page.digest,
                "site": state.name,
                "title": page.title,
                **clocks.of(page),
            }
    finally:
        snapshot.close()
