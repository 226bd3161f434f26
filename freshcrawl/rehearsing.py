"""A reindex rehearsed: what it would do, what it would take, and nothing is written.

The site is open for reading, so that this runs beside a crawl. Pages are made as a reindex makes
them; of their texts only digests and lengths are held, and the few that are embedded to measure.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Status
from freshcrawl.remaking import Remaker, differs, not_kept
from freshcrawl.staging import check_limit, kept_content
from freshcrawl.state import make_embedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from freshcrawl.config import Config
    from freshcrawl.core.published import Published
    from freshcrawl.remaking import Remade
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Snapshot

SAMPLE = 64
"""Texts that are embedded to measure, at most."""
SAMPLE_BATCH = 8
"""Of these together: they are of all lengths, and what is long in a batch pads the others."""


@dataclass(slots=True)
class Rehearsed:
    """What a reindex of a site would do."""

    site: str
    generation: int
    """The current one; 0: nothing is published yet."""
    model_now: str
    """Identity of the model of the index."""
    model: str
    """Identity of the configured model."""
    dimension_now: int
    dimension: int
    pages: int = 0
    chunks: int = 0
    """Passages that there would be."""
    chunks_to_embed: int = 0
    """Those of which no vector of the configured model is kept, each text once."""
    chunks_reused: int = 0
    read_again: int = 0
    """Pages whose kept body would be read anew."""
    left: int = 0
    """Pages of which nothing is kept: their passages would stay as they are."""
    differing: int = 0
    """Pages whose row or passages would be others."""
    changed: bool = False
    """Whether there would be a new generation."""
    tokens: int = 0
    """Of the texts to be embedded, without special tokens and prompts."""
    sampled: int = 0
    """Texts that were embedded to measure."""
    seconds: float | None = None
    """How long it would take without loading the model, None if that was not measured."""
    price_per_million_tokens: float | None = None
    cost: float | None = None
    """Of the tokens, None without a price."""

    def as_contract(self) -> dict[str, Any]:
        """Return it as ``reindex --dry-run --json`` shows it."""
        return {"dry_run": True, **asdict(self)}


@dataclass(frozen=True, slots=True)
class _Text:
    """A text to be embedded, by its digest: which page has it, and how long it is."""

    page: int
    tokens: int


class Rehearsal:
    """Rehearses the reindex of one site, whose state is open for reading.

    Raises:
        StoreError: the model cannot be found or used.
    """

    def __init__(self, state: SiteState, site: SiteConfig, config: Config) -> None:
        self._state, self._config = state, config
        self._embedder = make_embedder(config)
        check_limit(self._embedder)
        known = state.boilerplate().fingerprints
        self._remaker = Remaker(site, self._embedder, known, config.chunk_tokens)
        self._texts: dict[bytes, _Text] = {}
        """What is to be embedded, by digest."""

    def run(self, *, sample: bool, price: float | None = None) -> Rehearsed:
        """Make all pages and say what came of it. Blocking.

        ``sample``: embed some texts to measure. ``price`` is that of a million tokens.

        Raises:
            StoreError: the reindex would be refused, or a store failed.
        """
        with closing(self._state.corpus.snapshot()) as snapshot:
            info = snapshot.info()
            now = (str(info["model"]), int(info["dimension"]))
            then = (self._embedder.model, self._embedder.dimension)
            found = Rehearsed(
                self._state.name, snapshot.generation, now[0], then[0], now[1], then[1]
            )
            pages = [page for page in snapshot.pages() if page.status == Status.LIVE]
            found.pages = len(pages)
            if snapshot.generation and now[0] != then[0]:
                self._refuse_what_is_not_kept(pages, now[0])
            began = time.perf_counter()
            for number, page in enumerate(pages):
                self._look_at(number, page, snapshot, found)
            making = time.perf_counter() - began
            found.changed = bool(found.differing) or (bool(found.generation) and now != then)
        found.chunks_to_embed = len(self._texts)
        found.tokens = sum(text.tokens for text in self._texts.values())
        found.price_per_million_tokens = price
        found.cost = None if price is None else round(found.tokens * price / 1e6, 6)
        if sample or not self._texts:
            embedding = self._measure(pages, found)
            found.seconds = round(making + embedding, 1)
        return found

    def _look_at(self, number: int, page: Published, snapshot: Snapshot, found: Rehearsed) -> None:
        made = self._make(page)
        if made is None:
            found.left += 1
            found.chunks += sum(1 for _ in snapshot.chunks(page.key))
            return
        found.read_again += made.read_again
        found.chunks += len(made.edit.chunks)
        found.differing += differs(made.edit, page, snapshot)
        texts = {chunk.embed_digest: chunk.embed_text for chunk in made.edit.chunks}
        missing = self._state.corpus.missing_vectors(self._embedder.model, texts)
        new = {digest: bytes.fromhex(digest) for digest in missing}
        new = {digest: short for digest, short in new.items() if short not in self._texts}
        found.chunks_reused += len(made.edit.chunks) - len(new)
        for digest, short in new.items():
            tokens = len(self._embedder.token_offsets(texts[digest]))
            self._texts[short] = _Text(number, tokens)

    def _make(self, page: Published) -> Remade | None:
        kept = kept_content(self._state.corpus, page)
        return self._remaker.remake(page, kept) if kept else None

    def _measure(self, pages: Sequence[Published], found: Rehearsed) -> float:
        """Return how many seconds it takes to embed all texts, from some of all lengths."""
        chosen = spread(sorted(self._texts, key=lambda d: (self._texts[d].tokens, d)), SAMPLE)
        texts = self._texts_of(pages, chosen)
        if not texts:
            return 0.0
        at_endpoint = bool(self._config.embed_url)
        if not at_endpoint:
            self._embedder.encode(texts[:1])  # loads the model
        size = self._config.embed_batch if at_endpoint else SAMPLE_BATCH
        began = time.perf_counter()
        for start in range(0, len(texts), size):
            self._embedder.encode(texts[start : start + size])
        took = time.perf_counter() - began
        found.sampled = len(texts)
        # Of a text without a token there is its special ones.
        measured = sum(self._texts[digest].tokens + 1 for digest in chosen)
        return took * (found.tokens + len(self._texts)) / measured

    def _texts_of(self, pages: Sequence[Published], chosen: Sequence[bytes]) -> list[str]:
        """Return the texts of some digests, in their order, from their pages made once more."""
        wanted, texts = set(chosen), dict[bytes, str]()
        for number in sorted({self._texts[digest].page for digest in chosen}):
            made = self._make(pages[number])
            for chunk in made.edit.chunks if made else ():
                digest = bytes.fromhex(chunk.embed_digest)
                if digest in wanted:
                    texts[digest] = chunk.embed_text
        return [texts[digest] for digest in chosen if digest in texts]

    def _refuse_what_is_not_kept(self, pages: Iterable[Published], model: str) -> None:
        """Refuse what a reindex would refuse.

        Raises:
            StoreError: of some pages nothing is kept that another model could embed.
        """
        corpus = self._state.corpus
        lost = [page for page in pages if kept_content(corpus, page) is None]
        if lost:
            raise not_kept(self._state.name, model, lost, "due once scrapy reindex refuses them")


def spread(items: Sequence[bytes], number: int) -> list[bytes]:
    """Return up to ``number`` of the items, evenly spread, the first and the last among them."""
    if len(items) <= number:
        return list(items)
    step = (len(items) - 1) / (number - 1)
    return [items[round(place * step)] for place in range(number)]
