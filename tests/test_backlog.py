"""Texts that wait for vectors: budgets, embedding apart, and what answers meanwhile."""

from __future__ import annotations

import asyncio
import random
import re
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.core.freshness import NEWER_TEXT, stale_reason
from freshcrawl.core.pages import Status
from freshcrawl.embed_site import Embedded, SiteEmbedding
from freshcrawl.policies import schedule_policy
from freshcrawl.site_status import listed, site_status
from freshcrawl.stores.base import EmbeddingError
from tests.support.cuts import WatchedEmbedder
from tests.support.in_process import NAME
from tests.support.origin import Answer
from tests.support.quick_site import NOW, QuickSite
from tests.support.site_model import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from freshcrawl.core.report import RunReport
    from freshcrawl.stores.base import Matrix

UNGUARDED: dict[str, Any] = {
    "FRESHCRAWL_GUARD_CHANGED_RATIO": 1,
    "FRESHCRAWL_GUARD_REMOVED_RATIO": 1,
}
EDITION = re.compile(r"\b(first|second|third)\b")
PAGES = 8
PATHS = [f"/p{n}" for n in range(PAGES)]


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def site(tmp_path: Path, runner: asyncio.Runner) -> QuickSite:
    """A site of eight pages and a start page; nothing is crawled yet."""
    site = QuickSite(tmp_path, runner)
    write(site, "first")
    return site


def write(site: QuickSite, edition: str, paths: Sequence[str] = ("/", *PATHS)) -> None:
    """Let pages say what no other page and no other edition says, in three passages each."""
    for path in paths:
        draws = random.Random(edition + path)
        words = [draws.choices("abcdefghijklmnopqrstuvwxyz", k=5) for _ in range(180)]
        said = [f"{edition} {''.join(word)}" for word in words]
        site.serve(path, *(" ".join(said[start : start + 60]) for start in (0, 60, 120)))
    site.on_sitemap("/", *PATHS)


def crawl(site: QuickSite, **settings: Any) -> RunReport:
    given = {f"FRESHCRAWL_{name.upper()}": value for name, value in settings.items()}
    report = site.crawl(**UNGUARDED, **given).report
    assert report is not None
    return report


def embed(site: QuickSite, **settings: Any) -> Embedded:
    config = replace(site.config, **settings)
    return SiteEmbedding(config, NAME, lambda: NOW, lambda _: None).run()


def texts(site: QuickSite) -> dict[str, set[str]]:
    """Return the editions that the passages of each page are of; all of a page, or none."""
    found: dict[str, set[str]] = {}
    with closing(site.reading()) as state, closing(state.corpus.snapshot()) as snapshot:
        for chunk in snapshot.chunks():
            found.setdefault(chunk.key, set()).update(EDITION.findall(chunk.text))
    return found


def status(site: QuickSite) -> dict[str, Any]:
    with closing(site.reading()) as state:
        return site_status(state, NOW, schedule_policy(site.config))


def newer(site: QuickSite) -> set[str]:
    """Return the keys of the live pages that are stale as a newer text waits."""
    with closing(site.reading()) as state:
        found = {key: stale_reason(record, NOW, 1e9) for key, record in state.pages().items()}
    return {key for key, why in found.items() if why == NEWER_TEXT}


def chunks_of_site(site: QuickSite) -> int:
    return int(status(site)["chunks"])


def test_a_budget_is_spent_to_the_last_passage_and_every_page_is_whole(site: QuickSite) -> None:
    whole = crawl(site).chunks_embedded
    assert whole == chunks_of_site(site) >= 3 * (PAGES + 1)
    write(site, "second")
    runs, before = 0, set[str]()
    while True:
        runs += 1
        report = crawl(site, embed_run_chunks=5)
        now = texts(site)
        assert all(len(editions) == 1 for editions in now.values()), "half old, half new"
        done = {key for key, editions in now.items() if editions == {"second"}}
        assert done >= before
        assert newer(site) == now.keys() - done
        assert (report.pending_embed, status(site)["pending_embed"]) == (len(now) - len(done),) * 2
        before = done
        if not report.pending_embed:
            break
        assert report.chunks_embedded == 5
        assert report.complete
    assert runs == -(-whole // 5)
    assert report.chunks_pending == 0
    assert not site.findings()


def test_pages_whose_old_text_answers_come_before_new_ones(site: QuickSite) -> None:
    site.on_sitemap("/", *PATHS[:4])
    crawl(site)
    write(site, "second", PATHS[2:])
    changed, order = {key_of(path) for path in PATHS[2:4]}, list[str]()
    while {row["key"] for row in waiting(site)} or not order:
        crawl(site, embed_run_chunks=2)
        done = {key for key, editions in texts(site).items() if editions == {"second"}}
        order += sorted(done - set(order))
    assert len(order) == PAGES - 2
    assert set(order[:2]) == changed


def waiting(site: QuickSite) -> list[dict[str, Any]]:
    with closing(site.reading()) as state:
        return listed(state, "pending_embed", NOW, schedule_policy(site.config))


def test_a_day_has_one_budget_for_all_runs_and_the_command(site: QuickSite) -> None:
    assert crawl(site, embed_day_chunks=7, embed_run_chunks=4).chunks_embedded == 4
    assert crawl(site, embed_day_chunks=7, embed_run_chunks=4).chunks_embedded == 3
    assert crawl(site, embed_day_chunks=7).chunks_embedded == 0
    assert embed(site, embed_day_chunks=7).chunks_embedded == 0
    assert embed(site, embed_day_chunks=9).chunks_embedded == 2
    left = embed(site)
    assert (left.pending_embed, left.chunks_pending) == (0, 0)
    assert set(texts(site)) == {key_of(path) for path in ("/", *PATHS)}


def test_what_was_let_go_is_not_counted_by_guards_again(site: QuickSite) -> None:
    crawl(site)
    write(site, "second", PATHS[:4])
    guard: dict[str, Any] = {
        "FRESHCRAWL_GUARD_CHANGED_MIN": 0,
        "FRESHCRAWL_GUARD_CHANGED_RATIO": 0.5,
    }
    first = site.crawl(**guard, FRESHCRAWL_EMBED_RUN_CHUNKS=1).report
    write(site, "second", PATHS[4:8])
    second = site.crawl(**guard, FRESHCRAWL_EMBED_RUN_CHUNKS=1).report
    assert first is not None
    assert second is not None
    assert [(first.held, first.pending_embed), (second.held, second.pending_embed)] == [
        (0, 4),
        (0, 8),
    ]
    write(site, "third", PATHS[:5])
    third = site.crawl(**guard, FRESHCRAWL_EMBED_RUN_CHUNKS=1).report
    assert third is not None
    assert (third.held, third.pending_embed) == (5, 3), "another text is judged anew"


def test_a_crawl_that_leaves_embedding_makes_no_embedder(
    site: QuickSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any, **__: Any) -> None:
        raise AssertionError("an embedder was made")

    with monkeypatch.context() as patch:
        patch.setattr("freshcrawl.run.make_embedder", none)
        report = crawl(site, embed_apart=True)
    assert (report.new, report.pending_embed, report.generation) == (PAGES + 1, PAGES + 1, 0)
    assert status(site)["pending_embed"] == PAGES + 1
    done = embed(site)
    assert (done.pages, done.pending_embed, done.generation) == (PAGES + 1, 0, 1)
    alone = crawl(site)
    assert (alone.unchanged, alone.chunks_embedded, alone.generation) == (PAGES + 1, 0, 1)
    assert not site.findings()


def test_removals_need_no_embedder(site: QuickSite) -> None:
    crawl(site)
    site.server.answers[PATHS[0]] = Answer("", 410)
    write(site, "second", PATHS[1:2])
    report = crawl(site, embed_apart=True)
    assert (report.gone, report.changed, report.pending_embed) == (1, 1, 1)
    assert key_of(PATHS[0]) not in texts(site)
    assert texts(site)[key_of(PATHS[1])] == {"first"}
    embed(site)
    assert texts(site)[key_of(PATHS[1])] == {"second"}
    assert not site.findings()


def test_a_page_that_moved_answers_until_its_target_does(site: QuickSite) -> None:
    crawl(site)
    site.serve("/new", "moved " * 50)
    site.on_sitemap("/", *PATHS, "/new")
    site.server.answers[PATHS[0]] = Answer("", 301, {"Location": "/new"})
    report = crawl(site, embed_apart=True)
    assert (report.moved, report.pending_embed) == (1, 1)
    assert key_of(PATHS[0]) in texts(site)
    assert key_of("/new") not in texts(site)
    crawl(site, embed_apart=True)
    assert key_of(PATHS[0]) in texts(site)
    embed(site)
    assert key_of(PATHS[0]) not in texts(site)
    assert key_of("/new") in texts(site)
    with closing(site.reading()) as state:
        record = state.page(key_of(PATHS[0]))
    assert record is not None
    assert record.status == Status.ALIAS
    assert not site.findings()


def test_a_newer_text_takes_the_place_of_one_that_waits(site: QuickSite) -> None:
    crawl(site)
    write(site, "second", PATHS[:2])
    crawl(site, embed_apart=True)
    write(site, "third", PATHS[:1])
    write(site, "first", PATHS[1:2])
    report = crawl(site, embed_apart=True)
    assert report.pending_embed == 1
    WatchedEmbedder.texts.clear()
    embed(site)
    assert not [text for text in WatchedEmbedder.texts if "second" in text]
    assert texts(site)[key_of(PATHS[0])] == {"third"}
    assert texts(site)[key_of(PATHS[1])] == {"first"}


class Failing(WatchedEmbedder):
    """Embeds ``left`` batches, and then fails for good."""

    left = 0

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return a row a text, while there is anything left."""
        if not Failing.left:
            raise EmbeddingError("the endpoint is down")
        Failing.left -= 1
        return super().encode(texts)


FAILING: dict[str, Any] = {"embedder_class": "tests.test_backlog.Failing", "embed_batch": 4}


def test_a_run_whose_embedding_fails_says_so_and_loses_nothing(site: QuickSite) -> None:
    crawl(site)
    write(site, "second", PATHS[:4])
    site.server.answers[PATHS[7]] = Answer("", 410)
    Failing.left = 2
    WatchedEmbedder.texts.clear()
    report = crawl(site, **FAILING)
    assert report.embed_problem == "the endpoint is down"
    assert not report.complete
    assert report.incomplete_reasons == ["embedding stopped: the endpoint is down"]
    assert (report.chunks_embedded, report.gone) == (8, 1)
    assert key_of(PATHS[7]) not in texts(site), "a removal needs no vectors"
    Failing.left = 99
    again = crawl(site, **FAILING)
    assert again.complete
    assert again.pending_embed == 0
    made = WatchedEmbedder.texts
    assert len(made) == len(set(made)) == report.chunks_embedded + again.chunks_embedded
    assert not site.findings()


def test_the_command_goes_on_where_an_endpoint_failed(site: QuickSite) -> None:
    crawl(site, embed_apart=True)
    Failing.left = 3
    WatchedEmbedder.texts.clear()
    done = embed(site, **FAILING)
    assert (done.problem, done.chunks_embedded) == ("the endpoint is down", 12)
    assert done.pending_embed == PAGES + 1 - done.pages
    Failing.left = 99
    rest = embed(site, **FAILING)
    assert (rest.problem, rest.pending_embed) == ("", 0)
    assert len(WatchedEmbedder.texts) == len(set(WatchedEmbedder.texts))
    assert set(texts(site)) == {key_of(path) for path in ("/", *PATHS)}


def test_without_anything_that_waits_nothing_is_done(site: QuickSite) -> None:
    crawl(site)
    before = {path: path.stat().st_mtime_ns for path in (site.folder / "index").iterdir()}
    done = embed(site)
    assert (done.pages, done.chunks_embedded, done.generation) == (0, 0, 1)
    assert {path: path.stat().st_mtime_ns for path in (site.folder / "index").iterdir()} == before


def test_what_waits_for_too_long_needs_attention(site: QuickSite) -> None:
    from freshcrawl.problems import site_problems

    crawl(site, embed_apart=True)
    later = time.time() + 8 * 86_400
    with closing(site.reading()) as state:
        told = site_status(state, later, schedule_policy(site.config))
    words = [problem.words for problem in site_problems(told, later, site.config)]
    assert any(word.startswith("9 pages waiting for vectors, since 8 d") for word in words)
    embed(site)
    assert not [p for p in site_problems(status(site), NOW, site.config) if "vectors" in p.words]


SAID = """
the of and to in is was for on that by with from at his it an were are which this be as had have but
not also one their has its new after who they two her she all other when time there may no more over
some up out into only than such between city year world state people
"""
WORDS = SAID.split()


def write_many(site: QuickSite, edition: str, paths: Sequence[str]) -> None:
    """Let each page say five passages of which no other page says any."""
    for path in paths:
        draws = random.Random(edition + path)
        said = [f"{edition} " + " ".join(draws.choices(WORDS, k=199)) for _ in range(5)]
        site.serve(path, *said)


@pytest.mark.nightly
def test_two_thousand_passages_at_a_hundred_a_run_are_done_in_twenty_runs(
    site: QuickSite,
) -> None:
    deep = [f"/{folder}/q{number}" for folder in ("a", "a/b") for number in range(200)]
    site.on_sitemap(*deep)
    write_many(site, "first", deep)
    assert crawl(site).chunks_embedded == 2_000
    write_many(site, "second", deep)
    order: list[str] = []
    for run in range(1, 21):
        given = {**UNGUARDED, "FRESHCRAWL_EMBED_RUN_CHUNKS": 100}
        report = site.crawl(full=run == 1, **given).report
        assert report is not None
        assert (report.chunks_embedded, report.chunks_pending) == (100, 2_000 - 100 * run)
        now = texts(site)
        assert all(len(editions) == 1 for editions in now.values()), "half old, half new"
        done = {key for key, editions in now.items() if editions == {"second"}}
        assert len(done) == 20 * run
        order += sorted(done - set(order))
        assert report.pending_embed == 400 - len(done) == len(newer(site))
    assert not status(site)["pending_embed"]
    assert {key.count("/") for key in order[:200]} == {2}, "pages near the root come first"
    assert not site.findings()
