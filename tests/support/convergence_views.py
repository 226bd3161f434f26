"""What a state shows at one moment, read as a reader reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from freshcrawl.answers import export_rows
from freshcrawl.core.listings import Listings
from freshcrawl.core.pages import Status
from freshcrawl.core.urls import normalize_url
from freshcrawl.extract import extract
from freshcrawl.items import Outcome, PageItem
from freshcrawl.reader import index_of
from freshcrawl.reading import fill_digests, page_title
from freshcrawl.staging import chunks_of
from freshcrawl.state import SiteState, open_for_reading
from tests.support.in_process import NAME
from tests.support.project import CLOCKS

if TYPE_CHECKING:
    from freshcrawl.config import Config
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Published, Staged
    from freshcrawl.stores.base import Embedder, Snapshot, VectorIndex

LONG = 1e12


@dataclass(slots=True)
class View:
    """One site's answers and records."""

    generation: int = 0
    pages: dict[str, Published] = field(default_factory=dict)
    """Rows of all statuses by key."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """As ``export`` gives them, without clocks."""
    vectors: dict[int, bytes] = field(default_factory=dict)
    """By chunk id, of the corpus."""
    indexed: dict[int, bytes] = field(default_factory=dict)
    """By chunk id, of the index file."""
    records: dict[str, PageRecord] = field(default_factory=dict)
    staged: dict[str, Staged] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    """Keys that sources lead to, as the records have it."""
    unread: set[str] = field(default_factory=set)
    """Ids of sources that the last run could not read, as those that list nothing any more."""
    kept: dict[str, set[str]] = field(default_factory=dict)
    """Embed digests of the vectors that are kept, by model."""

    @property
    def live(self) -> set[str]:
        """Keys of the pages in the answers."""
        return {key for key, page in self.pages.items() if page.status == Status.LIVE}

    def texts(self) -> dict[str, list[str]]:
        """Return the chunk texts of each page, in order."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            found.setdefault(row["key"], []).append(row["text"])
        return found


def view_of(config: Config, now: float) -> View:
    """Return what a reader finds; an empty view before the first run.

    Raises:
        AssertionError: what is stored of the current generation does not belong together.
    """
    if not (config.state_path() / NAME / "records.sqlite").exists():
        return View()
    state = open_for_reading(config, NAME)
    try:
        return _read(state, now)
    finally:
        state.close()


def _read(state: SiteState, now: float) -> View:
    snapshot = state.corpus.snapshot()
    try:
        index = _index_of(state, snapshot)
        pages = {page.key: page for page in snapshot.pages()}
        live = {key for key, page in pages.items() if page.status == Status.LIVE}
        with_chunks = {chunk.key for chunk in snapshot.chunks()}
        assert with_chunks == live, "live pages and pages with chunks differ"
        exported = export_rows(state, now=now, max_age=LONG)
        view = View(
            snapshot.generation,
            pages,
            [{k: v for k, v in row.items() if k not in CLOCKS} for row in exported],
            {number: vector.tobytes() for number, vector in snapshot.vectors()},
            records=state.pages(),
            staged={entry.key: entry for entry in state.staged()},
            reached=Listings(state.sources()).reached(),
            unread={source.id for source in state.sources() if source.unread_runs},
            kept=_kept(snapshot),
        )
        if view.generation:
            view.indexed = _indexed(state, view.generation, index)
        return view
    finally:
        snapshot.close()


def _index_of(state: SiteState, snapshot: Snapshot) -> VectorIndex:
    try:
        return index_of(state, snapshot)
    except FileNotFoundError as error:
        raise AssertionError(f"generation {snapshot.generation} has no index file") from error


def _kept(snapshot: Snapshot) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    rows: Any = snapshot._conn.execute("SELECT model, embed_digest FROM vectors")  # type: ignore[attr-defined]
    for model, digest in rows:
        found.setdefault(model, set()).add(digest)
    return found


def _indexed(state: SiteState, generation: int, index: VectorIndex) -> dict[int, bytes]:
    """Return the vectors of the index file, of which each must find itself."""
    import faiss

    inner = getattr(index, "_index", None)
    assert inner is not None, f"the index file of generation {generation} cannot be used"
    ids = [int(number) for number in faiss.vector_to_array(inner.id_map)]
    found = {number: inner.reconstruct(number) for number in ids}
    for number, vector in found.items():
        score = max(score for _, score in index.search(vector, 1))
        assert score > 0.999, f"chunk {number} is not found by its own vector"
    return {number: np.asarray(vector, "<f4").tobytes() for number, vector in found.items()}


@dataclass(frozen=True, slots=True)
class Version:
    """One served body, as it is to be published."""

    digest: str
    title: str
    texts: tuple[str, ...]


class Versions:
    """Reads bodies with the product's own pure functions; each once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, bytes], Version] = {}

    def of(self, key: str, url: str, body: bytes) -> Version:
        """Return what a body of a page would be in the answers."""
        found = self._known.get((url, body))
        if found is None:
            document = extract(body.decode(), url)
            item = PageItem(key=key, url=url, outcome=Outcome.FETCHED, fetched_at=0.0)
            item.cited_url, item.title = normalize_url(url), page_title(document)
            fill_digests(item, document, ())
            chunks = chunks_of(key, item.title, document.blocks, self._embedder)
            texts = tuple(str(chunk["text"]) for chunk in chunks)
            found = self._known[url, body] = Version(item.digest, item.title, texts)
        return found
