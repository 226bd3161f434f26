"""Texts that were never published, or are no more: gone by a forget, and by their retention."""

from __future__ import annotations

import asyncio
import zlib
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.compacting import waiting_digests
from freshcrawl.core.pages import Status
from freshcrawl.embedding import PublishInterrupted
from freshcrawl.ledger import Ledger
from freshcrawl.publishing import Publisher
from freshcrawl.reindexing import Reindexing
from freshcrawl.seams import Seam, listening
from freshcrawl.stored_sites import stored_site
from tests.support.origin import Answer
from tests.support.quick_site import MODEL, NOW, QuickSite
from tests.support.site_model import key_of, url_of
from tests.test_forget import PATHS, forgotten, rows, stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState

WORD = "rhododendron"
TEXT = f"A text that waits, with the word {WORD}."
GUARDED: dict[str, Any] = {
    "FRESHCRAWL_GUARD_CHANGED_MIN": 0,
    "FRESHCRAWL_GUARD_CHANGED_RATIO": 0.1,
}
DAY = 86_400


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, runner: asyncio.Runner) -> QuickSite:
    site = QuickSite(tmp_path_factory.mktemp("crawled"), runner)
    for path in PATHS:
        site.serve(path, f"The text of {path} is about valves.")
    site.on_sitemap(*PATHS)
    site.crawl()
    return site


@pytest.fixture
def site(crawled: QuickSite, tmp_path: Path, runner: asyncio.Runner) -> QuickSite:
    return crawled.copied(tmp_path, runner)


def hold(site: QuickSite) -> None:
    """Let a guard hold another text of ``/secret``."""
    site.serve("/secret", TEXT)
    site.crawl(**GUARDED)
    with closing(site.reading()) as state:
        work = state.staged_work(key_of("/secret"))
        assert work is not None
        assert work.held == "changes"


def packed_text(site: QuickSite) -> list[bytes]:
    """Return what is stored of the work of ``/secret``, as it is stored."""
    with closing(site.reading()) as state:
        work = state.staged_work(key_of("/secret"))
    assert work is not None
    found = [part.encode() for part in (work.body, work.blocks)]
    return [*found, WORD.encode()]


def waiting_vectors(site: QuickSite) -> list[bytes]:
    """Put the vectors of all that waits, as a publish that is killed leaves them."""

    def put(state: SiteState, own: Config) -> list[bytes]:
        digests = sorted(waiting_digests(Ledger(state, NOW)))
        vectors = dict(zip(digests, MODEL.encode(digests), strict=True))
        state.corpus.put_vectors(MODEL.model, vectors)
        return [vector.tobytes() for vector in vectors.values()]

    found: list[bytes] = site.writing(put)
    return found


def assert_gone(site: QuickSite, parts: list[bytes]) -> None:
    after = stored(site.folder)
    assert [part for part in parts if part in after] == []
    with closing(site.reading()) as state:
        assert list(state.staged()) == []
    assert site.findings() == []


def test_a_text_that_a_guard_holds(site: QuickSite) -> None:
    hold(site)
    parts = packed_text(site)
    assert all(part in stored(site.folder) for part in parts)
    done = forgotten(site, url_of("/secret"))
    assert (done.removed["staged"], done.removed["versions"]) == (1, 1)
    assert_gone(site, parts)


def test_a_text_that_only_waits_of_a_page_that_was_never_published(site: QuickSite) -> None:
    site.serve("/new", TEXT)
    site.on_sitemap(*PATHS, "/new")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Publisher, "publish", interrupted)
        site.crawl()
    with closing(site.reading()) as state:
        work = state.staged_work(key_of("/new"))
        assert work is not None
        record = state.page(key_of("/new"))
        assert record is not None
        assert record.status == Status.PENDING
    parts = [work.body.encode(), work.blocks.encode(), WORD.encode()]
    assert all(part in stored(site.folder) for part in parts)
    done = forgotten(site, url_of("/new"))
    assert (done.removed["staged"], done.removed["versions"]) == (1, 0)
    assert_gone(site, parts)
    assert "/new" not in site.urls()


def interrupted(*args: object, **named: object) -> None:
    raise PublishInterrupted


def test_a_text_that_was_being_embedded(site: QuickSite) -> None:
    hold(site)
    vectors = waiting_vectors(site)
    parts = [*packed_text(site), *vectors]
    assert len(vectors) == 1
    assert all(part in stored(site.folder) for part in parts)
    done = forgotten(site, url_of("/secret"))
    assert done.removed["vectors"] == 2, "and that of the text that is published"
    assert_gone(site, parts)


def test_a_text_that_a_reindex_was_embedding(site: QuickSite) -> None:
    other = MODEL.__class__("other")
    text = {row[1]: row[0] for row in rows(site, "SELECT embed_digest, key FROM chunks")}

    def work(state: SiteState, own: Config) -> None:
        found = stored_site(own, state)
        assert found is not None
        reindexing = Reindexing(state, found, own, lambda: NOW)
        patched = pytest.MonkeyPatch()
        patched.setattr(reindexing, "_embedder", other)
        patched.setattr(reindexing._publisher, "_embedder", lambda: other)

        def stop(seam: Seam) -> None:
            if seam == Seam.CONTENT_KEPT:
                raise PublishInterrupted

        with listening(stop), pytest.raises(PublishInterrupted):
            reindexing.run()

    site.writing(work)
    query = "SELECT vector FROM vectors WHERE embed_digest = '{}' AND model = 'other-64'"
    [(vector,)] = rows(site, query.format(text[key_of("/secret")]))
    assert vector in stored(site.folder)
    assert forgotten(site, url_of("/secret")).removed["vectors"] == 2
    assert_gone(site, [vector])


# -- by their retention --------------------------------------------------------------


def texts_of(site: QuickSite, path: str) -> list[str]:
    """Return what is kept of a page's text, as it can be read."""
    query = (
        "SELECT data FROM content JOIN published ON content = content.digest"
        f" WHERE key = '{key_of(path)}'"
    )
    return [zlib.decompress(data).decode() for (data,) in rows(site, query)]


@pytest.mark.parametrize("status", [Status.GONE, Status.HIDDEN])
def test_the_text_of_a_page_that_left_goes_after_its_retention(
    site: QuickSite, status: Status
) -> None:
    site.serve("/secret", f"It says {WORD}.")
    site.crawl()
    if status == Status.GONE:
        site.server.answers["/secret"] = Answer("", 410)
        site.on_sitemap(*(path for path in PATHS if path != "/secret"))
    else:
        head = '<meta name="robots" content="noindex">'
        site.serve("/secret", f"It says {WORD}.", head=head)
    lenient: dict[str, Any] = {
        "FRESHCRAWL_GUARD_REMOVED_RATIO": 1,
        "FRESHCRAWL_GUARD_CONFIRM_HOURS": 0,
    }
    for _ in range(3):
        site.crawl(**lenient)
    with closing(site.reading()) as state, closing(state.corpus.snapshot()) as snapshot:
        row = snapshot.page(key_of("/secret"))
        assert row is not None
        assert (row.status, row.content) == (status, "")
    assert any(WORD in text for text in texts_of(site, "/secret"))

    def later(days: float, **settings: Any) -> None:
        config = replace(site.config, **settings)

        def work(state: SiteState, own: Config) -> None:
            Publisher(state, config, lambda: MODEL).tidy(NOW + days * DAY)

        site.writing(work)

    later(91, generations_kept=3)
    assert any(WORD in text for text in texts_of(site, "/secret")), "a kept generation has it"
    later(89, generations_kept=1)
    assert any(WORD in text for text in texts_of(site, "/secret"))
    later(91, generations_kept=1)
    assert texts_of(site, "/secret") == []
    assert rows(site, "SELECT count(*) FROM content") == [(len(PATHS) - 1,)]
    assert WORD not in str(rows(site, "SELECT text FROM chunks"))
