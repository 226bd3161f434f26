"""Answers: search over the published generations of one or several sites."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.core.freshness import NEWER_TEXT, doubt
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.report import iso
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from freshcrawl.core.published import Chunk, Published
    from freshcrawl.reader import SiteReader
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder, Snapshot


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
        indexed_at = self.snapshot.published_at(page.from_gen)
        why = doubt(record, self.now, self.max_age)
        # A record may be behind, where a process died before it knew what it had published.
        caught_up = why == NEWER_TEXT and record is not None and indexed_at >= record.newer_since
        return {
            "last_checked": iso(record.last_checked if record else 0.0),
            "last_changed": iso(page.changed_at),
            "indexed_at": iso(indexed_at),
            "stale": bool(why) and not caught_up,
        }


def search(
    readers: Sequence[SiteReader],
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
        StoreError: a site is indexed with another model, or cannot be read.
    """
    vector = embedder.encode_query(text)
    hits = [
        hit
        for reader in readers
        for hit in _search_site(reader, embedder.model, vector, k, (now, max_ages[reader.name]))
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.link))[:k]


def _search_site(
    reader: SiteReader, model: str, vector: Any, k: int, age: tuple[float, float]
) -> list[Hit]:
    with reader.current() as view:
        snapshot = view.snapshot
        if not snapshot.generation:
            return []
        if snapshot.info()["model"] != model:
            raise StoreError(
                f"site {reader.name} is indexed with the model {snapshot.info()['model']}, not "
                f"with {model}: set FRESHCRAWL_EMBED_MODEL to the model of the index, or run "
                f"scrapy reindex --site {reader.name}"
            )
        found = view.index.search(vector, k)
        chunks = snapshot.chunks_by_id([chunk_id for chunk_id, _ in found])
        rows = [snapshot.page(key) for key in {chunk.key for chunk in chunks.values()}]
        pages = {page.key: page for page in rows if page}
        clocks = Clocks(view.state.pages_of(pages), snapshot, *age)
        return [
            _hit(reader.name, page, chunks[chunk_id], score, clocks)
            for chunk_id, score in found
            if chunk_id in chunks and (page := pages.get(chunks[chunk_id].key))
        ]


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
