"""Crawls whose embeddings endpoint misbehaves: nothing wrong is published, nothing done twice."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl import embedding
from freshcrawl.embed_site import SiteEmbedding
from freshcrawl.state import make_embedder
from freshcrawl.verify import verify_folder
from tests.support.embed_server import EmbedServer, Fault
from tests.support.in_process import NAME
from tests.support.origin import Answer
from tests.support.quick_site import NOW, QuickSite
from tests.test_backlog import PATHS, crawl, texts, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.core.report import RunReport

KEY = "sk-loopback-0123456789abcdef"
QUICK: dict[str, Any] = {"embed_attempts": 2, "embed_batch": 8, "embed_timeout_secs": 1.0}
FAULTS: dict[str, tuple[Fault, str]] = {
    "dropped": ("drop", "connection"),
    "reset": ("reset", "connection"),
    "hangs": ("hang", "no answer within 1 s"),
    "drips": ("drip", "no answer within 1 s"),
    "floods": ("huge", "bytes"),
    "429": (429, "429"),
    "429 for long": ((429, {"Retry-After": "3600"}), "asks for 3600 s of peace"),
    "500": (500, "500"),
    "503": (503, "503"),
    "401": (401, "FRESHCRAWL_EMBED_API_KEY"),
    "404": (404, "FRESHCRAWL_EMBED_URL"),
    "cut off": ("cut off", ""),
    "cut json": ("cut json", "JSON"),
    "a page": ("html", ""),
    "no index": ("no index", "index"),
    "an index twice": ("duplicate index", "two vectors of text 0"),
    "one too few": ("one too few", ""),
    "one too many": ("one too many", ""),
    "one shorter": ("one shorter", ""),
    "another model": ("all shorter", ""),
    "NaN": ("nan", ""),
    "null": ("null", ""),
    "zeros": ("zeros", ""),
    "redirected": ("redirect", "redirect"),
    "shows the key": ("echo of the key", "401"),
}
"""What the endpoint does from some request on, and what the run says of it."""


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbedServer]:
    monkeypatch.setattr(embedding, "FIRST_WAIT_SECS", 0.01)
    with EmbedServer(key=KEY) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def site(tmp_path: Path, runner: asyncio.Runner) -> QuickSite:
    site = QuickSite(tmp_path, runner)
    write(site, "first")
    return site


def crawl_at(server: EmbedServer, site: QuickSite, **more: Any) -> RunReport:
    named = {name.removeprefix("FRESHCRAWL_").lower(): v for name, v in server.settings.items()}
    return crawl(site, **QUICK, **named, **more)


def vectors(site: QuickSite) -> dict[str, bytes]:
    """Return all kept vectors by the digest of their text."""
    with closing(sqlite3.connect(site.folder / "corpus.sqlite")) as conn:
        return dict(conn.execute("SELECT embed_digest, vector FROM vectors"))


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory, runner: asyncio.Runner) -> dict[str, bytes]:
    """The vectors of both editions, by an endpoint that never fails."""
    site = QuickSite(tmp_path_factory.mktemp("right"), runner)
    with pytest.MonkeyPatch.context() as patch, EmbedServer(key=KEY) as server:
        patch.setenv("FRESHCRAWL_EMBED_API_KEY", KEY)
        for edition in ("first", "second"):
            write(site, edition)
            assert crawl_at(server, site).complete
    return vectors(site)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_nothing_is_lost_and_the_index_converges(
    fault: str,
    site: QuickSite,
    server: EmbedServer,
    right: dict[str, bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    how, said = FAULTS[fault]
    assert crawl_at(server, site).complete
    write(site, "second")
    server.script, server.always = ["", ""], how
    report = crawl_at(server, site)
    assert server.host in report.embed_problem
    assert said in report.embed_problem
    assert report.incomplete_reasons == [f"embedding stopped: {report.embed_problem}"]
    assert report.chunks_embedded == 16
    old = [key for key, editions in texts(site).items() if editions == {"first"}]
    assert report.pending_embed == len(old) > 0
    assert all(len(editions) == 1 for editions in texts(site).values()), "half old, half new"
    assert vectors(site).items() <= right.items()
    server.always = ""
    again = crawl_at(server, site)
    assert (again.complete, again.pending_embed, again.embed_problem) == (True, 0, "")
    assert set.union(*texts(site).values()) == {"second"}
    assert vectors(site) == right
    assert len(server.embedded) == len(set(server.embedded)) == len(right)
    config = replace(site.config, embed_url=server.url, embed_model="hash-64", embed_api_key=KEY)
    assert not verify_folder(site.folder, make_embedder(config))
    stored = b"".join(path.read_bytes() for path in site.folder.rglob("*") if path.is_file())
    assert KEY.encode() not in stored
    assert KEY not in caplog.text
    assert KEY not in report.embed_problem


def test_a_fault_that_passes_is_no_matter_of_the_run(
    site: QuickSite, server: EmbedServer, right: dict[str, bytes]
) -> None:
    server.script = ["", 503, "", (429, {"Retry-After": "0"}), "", "cut json", "reordered", "drop"]
    report = crawl_at(server, site)
    assert (report.complete, report.embed_problem, report.pending_embed) == (True, "", 0)
    assert vectors(site).items() <= right.items()
    assert len(server.embedded) == len(set(server.embedded)) == report.chunks_embedded


def test_an_endpoint_that_takes_fewer_texts_gets_fewer(
    site: QuickSite, server: EmbedServer, right: dict[str, bytes]
) -> None:
    server.most_texts = 3
    report = crawl_at(server, site)
    assert (report.complete, report.pending_embed) == (True, 0)
    assert vectors(site).items() <= right.items()
    assert max(len(asked.texts) for asked in server.asked if asked.texts) == 8
    assert len(server.embedded) == len(set(server.embedded))


def test_the_manifest_says_which_prompts_were_used(site: QuickSite, server: EmbedServer) -> None:
    prompts = {"embed_document_prompt": "passage: ", "embed_query_prompt": "query: "}
    assert crawl_at(server, site, **prompts).complete
    with closing(site.reading()) as state:
        manifest = state.index.manifest(1)
    assert manifest["prompts"] == {"document": "passage: ", "query": "query: "}
    assert manifest["model"].startswith("hash-64+")
    assert all(text.startswith("passage: ") for text in server.embedded)
    site.server.answers[PATHS[0]] = Answer("", 410)
    assert crawl(site, embed_apart=True).gone == 1
    with closing(site.reading()) as state:
        kept = state.index.manifest(2)
    assert (kept["prompts"], kept["model"]) == (manifest["prompts"], manifest["model"])


def test_the_command_goes_on_at_an_endpoint_that_recovers(
    site: QuickSite, server: EmbedServer, right: dict[str, bytes]
) -> None:
    assert crawl(site, embed_apart=True).pending_embed == 9
    server.script, server.always = ["", ""], "hang"
    config = replace(
        site.config, **QUICK, embed_url=server.url, embed_model="hash-64", embed_api_key=KEY
    )
    done = SiteEmbedding(config, NAME, lambda: NOW, lambda _: None).run()
    assert done.chunks_embedded == 16
    assert done.pages + done.pending_embed == 9
    assert "no answer within 1 s" in done.problem
    server.always = ""
    rest = SiteEmbedding(config, NAME, lambda: NOW, lambda _: None).run()
    assert (rest.problem, done.pages + rest.pages, rest.pending_embed) == ("", 9, 0)
    assert len(server.embedded) == len(set(server.embedded)) == len(vectors(site))
    assert vectors(site).items() <= right.items()
