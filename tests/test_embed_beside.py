"""``scrapy embed`` beside others: a crawl that writes, a second one, a page that is forgotten."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import threading
import time
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from freshcrawl import embed_site, embedding
from freshcrawl.core.embedding_plan import day_of
from freshcrawl.embed_site import Embedded, SiteEmbedding
from freshcrawl.forgetting import forget
from freshcrawl.interrupting import Interruptible
from freshcrawl.stores.locks import EMBEDDING, LockedError, SiteLock
from tests.support.cuts import WatchedEmbedder
from tests.support.in_process import NAME
from tests.support.origin import Answer
from tests.support.quick_site import NOW, QuickSite
from tests.support.site_model import key_of, url_of
from tests.test_backlog import PAGES, PATHS, crawl, texts, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Matrix


class Told(WatchedEmbedder):
    """Says before which batch it is, from 1."""

    batch: ClassVar[int] = 0
    tell: ClassVar[Callable[[int], None]]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text."""
        Told.batch += 1
        Told.tell(Told.batch)
        return super().encode(texts)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QuickSite]:
    """A site whose pages wait for vectors."""
    monkeypatch.setattr(embed_site, "BUSY_SECS", 0.0)
    with asyncio.Runner() as runner:
        site = QuickSite(tmp_path, runner)
        write(site, "first")
        crawl(site, embed_apart=True)
        Told.batch = 0
        yield site


def embed(
    site: QuickSite, tell: Callable[[int], None], note: Callable[[str], None] = lambda _: None
) -> Embedded:
    Told.tell = tell
    config = replace(
        site.config, embedder_class=f"{__name__}.Told", embed_batch=4, publish_growth_ratio=0.0
    )
    return SiteEmbedding(config, NAME, lambda: NOW, note).run()


def spent(site: QuickSite) -> int:
    with closing(site.reading()) as state:
        return state.corpus.spent(day_of(NOW))


def test_while_a_crawl_writes_batches_are_kept_in_memory_and_then_all_is_durable(
    site: QuickSite,
) -> None:
    opened: list[SiteState] = []
    waits: list[str] = []

    def tell(batch: int) -> None:
        if batch == 2:
            assert spent(site) == 4
            opened.append(site.opened())
        if batch > 2:
            assert spent(site) == 4, "it wrote beside another writer"

    def note(why: str) -> None:
        waits.append(why)
        opened.pop().close()

    done = embed(site, tell, note)
    assert (done.pages, done.pending_embed) == (PAGES + 1, 0)
    assert spent(site) == done.chunks_embedded == len(set(WatchedEmbedder.texts[-spent(site) :]))
    assert len(waits) == 1
    assert "`test`" in waits[0]
    assert not site.findings()


def test_it_does_not_begin_while_another_process_writes(site: QuickSite) -> None:
    with closing(site.opened()), pytest.raises(LockedError, match="in use by `test`"):
        embed(site, lambda batch: None)
    assert not Told.batch


def test_only_one_embeds_for_a_site(site: QuickSite) -> None:
    with (
        SiteLock(site.folder, EMBEDDING).acquire("scrapy embed", NOW),
        pytest.raises(LockedError, match="in use by `scrapy embed`"),
    ):
        embed(site, lambda batch: None)


def test_a_page_that_is_forgotten_meanwhile_leaves_no_vector(site: QuickSite) -> None:
    key = key_of(PATHS[0])

    def tell(batch: int) -> None:
        if batch == 2:
            site.writing(lambda state, own: forget(state, own, url_of(PATHS[0]), NOW))

    done = embed(site, tell)
    assert done.pages == PAGES
    assert key not in texts(site)
    with closing(site.reading()) as state, closing(state.corpus.snapshot()) as snapshot:
        published = {chunk.embed_digest for chunk in snapshot.chunks()}
        every = {digest for (digest,) in _vectors(state)}
    assert every <= published, "a vector of a forgotten text was kept"


def _vectors(state: SiteState) -> list[tuple[str]]:
    assert state.folder is not None
    with closing(sqlite3.connect(state.folder / "corpus.sqlite")) as conn:
        return list(conn.execute("SELECT embed_digest FROM vectors"))


def test_a_page_that_moved_answers_while_other_portions_are_published(
    site: QuickSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PORTION_BATCHES", 1)
    embed(site, lambda batch: None)
    write(site, "second", PATHS[1:])
    write(site, "third", ["/new"])
    site.on_sitemap("/", *PATHS, "/new")
    site.server.answers[PATHS[0]] = Answer("", 301, {"Location": "/new"})
    assert crawl(site, embed_apart=True).moved == 1
    seen: list[set[str]] = []

    def tell(batch: int) -> None:
        answering = texts(site)
        seen.append({key for key, editions in answering.items() if editions == {"second"}})
        assert (key_of(PATHS[0]) in answering) != (key_of("/new") in answering)

    done = embed(site, tell)
    assert done.pending_embed == 0
    assert len(set(map(len, seen))) > 2, "it was published in portions"
    assert key_of(PATHS[0]) not in texts(site)
    assert not site.findings()


def test_a_crawl_finds_another_text_meanwhile_and_that_is_what_is_published(
    site: QuickSite,
) -> None:
    def tell(batch: int) -> None:
        if batch == 2:
            write(site, "second", PATHS[:1])
            crawl_beside(site)

    done = embed(site, tell)
    assert done.pending_embed == 0
    assert texts(site)[key_of(PATHS[0])] == {"second"}
    assert len(texts(site)) == PAGES + 1
    assert not site.findings()


def crawl_beside(site: QuickSite) -> None:
    """Crawl in a thread with an event loop of its own, as another process would."""
    failed: list[BaseException] = []

    def work() -> None:
        try:
            with asyncio.Runner() as runner:
                site._runner = runner
                crawl(site, embed_apart=True)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert not failed, failed


def test_a_signal_ends_it_after_the_batch_and_it_goes_on_from_there(site: QuickSite) -> None:
    def tell(batch: int) -> None:
        if batch == 6:
            os.kill(os.getpid(), signal.SIGINT)

    Told.tell = tell
    config = replace(site.config, embedder_class=f"{__name__}.Told", embed_batch=4)
    work = SiteEmbedding(config, NAME, lambda: NOW, lambda _: None)
    with Interruptible() as signals, signals.calling(work.embedding.interrupt):
        done = work.run()
    assert done.stopped
    assert (done.chunks_embedded, Told.batch) == (24, 6)
    assert done.pages == len(texts(site))
    rest = embed(site, lambda batch: None)
    assert (rest.stopped, rest.pending_embed) == (False, 0)
    assert spent(site) == 24 + rest.chunks_embedded
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("command", "waits"), [("embed", True), ("crawl", False)])
def test_who_holds_the_lock_for_moments_only_is_waited_for(
    tmp_path: Path, command: str, waits: bool
) -> None:
    held = SiteLock(tmp_path).acquire(command, NOW)
    timer = threading.Timer(1.0, held.release)
    timer.start()
    began = time.monotonic()
    taken: Any = None
    with suppress(LockedError):
        taken = SiteLock(tmp_path).acquire("test", NOW)
    waited = time.monotonic() - began
    timer.join()
    assert bool(taken) == waits
    assert not waits or waited > 0.4
    if taken:
        taken.release()
