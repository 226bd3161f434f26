"""``scrapy reindex --dry-run``: says what a reindex would do and take, and writes nothing."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.commands.reindex import words
from freshcrawl.rehearsing import SAMPLE, Rehearsed, spread
from freshcrawl.state import open_for_writing
from freshcrawl.stores.base import StoreError
from tests.support.cuts import WatchedEmbedder
from tests.support.embed_server import EmbedServer
from tests.support.in_process import NAME
from tests.support.project import REPO, Result, scrapy
from tests.support.quick_site import NOW, QuickSite
from tests.support.reindexed import (
    OTHER,
    PATHS,
    SHORTER,
    SMALLER,
    crawled_site,
    rehearsed,
    reindexed,
)
from tests.support.site_model import url_of
from tests.test_forget import stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAME = ("pages", "chunks", "chunks_reused", "read_again", "left", "changed")
"""What a rehearsal and the reindex say by the same name."""
OTHERS: dict[str, Any] = {"FRESHCRAWL_EMBED_MODEL": "other"}


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, runner: asyncio.Runner) -> QuickSite:
    return crawled_site(tmp_path_factory.mktemp("crawled"), runner)


@pytest.fixture
def site(crawled: QuickSite, tmp_path: Path, runner: asyncio.Runner) -> QuickSite:
    return crawled.copied(tmp_path, runner)


def run(site: QuickSite, *args: str, **settings: Any) -> Result:
    return scrapy("reindex", *args, state=site.place.state, settings=settings)


def lose(site: QuickSite, *paths: str) -> None:
    """Delete what is kept of some pages."""

    def work(state: Any, own: Any) -> None:
        with state.corpus.editing() as conn:
            conn.executemany(
                "DELETE FROM content WHERE digest IN (SELECT content FROM published WHERE url = ?)",
                [(url_of(path),) for path in paths],
            )

    site.writing(work)


def of_earlier_release(site: QuickSite) -> None:
    """Let some pages be those of a release that read them otherwise."""

    def work(state: Any, own: Any) -> None:
        for page in list(state.corpus.snapshot().pages())[:5]:
            content = state.corpus.get_content(page.content)
            older = re.sub(rb'"made_by": "\d+\.', b'"made_by": "1.', content)
            assert older != content
            state.corpus.put_content({page.content: b"x"})
            with state.corpus.editing() as conn:
                conn.execute("DELETE FROM content WHERE digest = ?", (page.content,))
            state.corpus.put_content({page.content: older})

    site.writing(work)


@pytest.mark.parametrize(
    ("settings", "damage"),
    [
        *(({}, ""), (OTHER, ""), (SHORTER, ""), (SMALLER, "")),
        *(({}, "older"), (OTHER, "older"), (SHORTER, "older"), ({}, "lost"), (SHORTER, "lost")),
    ],
)
def test_the_reindex_then_does_what_was_said(
    site: QuickSite, settings: dict[str, Any], damage: str
) -> None:
    if damage == "older":
        of_earlier_release(site)
    if damage == "lost":
        lose(site, "/p3")
    said = rehearsed(site, **settings)
    done = reindexed(site, **settings)
    assert {name: getattr(said, name) for name in SAME} == {
        name: getattr(done, name) for name in SAME
    }
    assert (said.chunks_to_embed, said.model) == (done.chunks_embedded, done.model)
    assert said.read_again == (5 if damage == "older" else 0)
    assert said.left == (1 if damage == "lost" else 0)
    assert (said.model_now, said.dimension_now) == ("hash-64", 64)
    assert said.dimension == (32 if settings == SMALLER else 64)
    if settings == OTHER:
        assert said.differing == 0, "the texts stay as they are"
    if settings == SHORTER and not damage:
        assert said.differing == len(PATHS)
    again = rehearsed(site, **settings)
    assert (again.changed, again.differing, again.chunks_to_embed) == (False, 0, 0)


def test_the_command_writes_nothing_and_runs_beside_a_writer(site: QuickSite) -> None:
    before = stored(site.folder)
    writer = open_for_writing(site.config, NAME, "crawl", NOW)
    try:
        done = run(site, "--dry-run", "--json", "--price-per-million-tokens", "0.5", **OTHERS)
        refused = run(site, **OTHERS)
    finally:
        writer.close()
    assert done.returncode == 0, done.stderr
    assert refused.returncode == 5
    [told] = json.loads(done.stdout)["sites"]
    assert told.pop("seconds") >= 0
    tokens = told.pop("tokens")
    cost = told.pop("cost")
    assert cost == pytest.approx(tokens * 0.5 / 1e6, abs=1e-6)
    count = told["chunks"]
    assert told == {
        "dry_run": True, "site": NAME, "generation": 1, "model_now": "hash-64",
        "model": "other-64", "dimension_now": 64, "dimension": 64, "pages": 12, "chunks": count,
        "chunks_to_embed": count, "chunks_reused": 0, "read_again": 0, "left": 0, "differing": 0,
        "changed": True, "sampled": count, "price_per_million_tokens": 0.5,
    }  # fmt: skip
    assert stored(site.folder) == before


def test_all_that_the_json_has_is_documented() -> None:
    text = (REPO / "docs" / "operations.md").read_text("utf-8")
    section = text[text.index("### A rehearsal") : text.index("### Another chunk size")]
    named = {field.name for field in fields(Rehearsed)} | {"dry_run"}
    assert {name for name in named if f"`{name}`" not in section} == set()


def test_for_people_it_is_said_in_words(site: QuickSite) -> None:
    done = run(site, "--dry-run", "--price-per-million-tokens", "20", **OTHERS)
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert re.fullmatch(
        r"docs: 12 pages, \d+ passages; \d+ to be embedded \([\d,]+ tokens\), 0 reused", first
    )
    assert lines[1] == "  model: hash-64, 64 numbers; then: other-64, 64 numbers"
    assert re.fullmatch(
        r"  time: about 1 s, without loading the model, measured by \d+ texts", lines[2]
    )
    assert re.fullmatch(r"  cost: about 0\.0\d", lines[3])
    assert lines[-1] == "  nothing was changed"
    same = run(site, "--dry-run")
    assert "nothing differs: nothing would be published" in same.stdout
    assert "; then: " not in same.stdout


def test_it_refuses_what_the_reindex_refuses(site: QuickSite) -> None:
    lose(site, "/p3", "/p4")
    before = stored(site.folder)
    said = run(site, "--dry-run", **OTHERS)
    assert stored(site.folder) == before, "the pages are not made due either"
    done = run(site, **OTHERS)
    assert (said.returncode, said.stdout, said.stderr.count("\n")) == (1, "", 1)
    assert said.stderr.replace("due once scrapy reindex refuses them", "due now") == done.stderr
    assert f"the text of 2 pages is not kept ({url_of('/p3')}" in said.stderr
    with pytest.raises(StoreError, match="chunks need a limit of at least 32 tokens, not 16"):
        rehearsed(site, embedder_class="tests.support.embedder.TinyEmbedder")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--sample"], "go with --dry-run"),
        (["--price-per-million-tokens", "1"], "go with --dry-run"),
        (["--dry-run", "--price-per-million-tokens", "nan"], "give a number"),
        (["--dry-run", "--price-per-million-tokens", "-1"], "give a number"),
        (["--dry-run", "--price-per-million-tokens", "much"], "invalid float value"),
    ],
)
def test_options_that_cannot_be_are_one_line(state: Path, args: list[str], message: str) -> None:
    done = scrapy("reindex", *args, state=state)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_at_an_endpoint_nothing_is_embedded_unless_asked_for(site: QuickSite) -> None:
    with EmbedServer(dimension=32) as server:
        endpoint: dict[str, Any] = {"embed_url": server.url, "embed_model": "hash-32"}
        silent = rehearsed(site, price=0.02, **endpoint)
        assert (silent.seconds, silent.sampled, server.texts) == (None, 0, [])
        assert silent.cost is not None
        assert "time: not known without embedding some at the endpoint: add --sample" in words(
            silent
        )
        asked = rehearsed(site, sample=True, **endpoint)
        assert asked.seconds is not None
        assert len(server.texts) == asked.sampled == asked.chunks_to_embed


def test_a_few_texts_of_all_lengths_are_embedded_and_no_more(
    site: QuickSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    monkeypatch.setattr(WatchedEmbedder, "texts", texts)
    for number in range(100):
        site.serve(f"/more{number}", " ".join(["word"] * (number + 1)))
    site.on_sitemap(*PATHS, *(f"/more{number}" for number in range(100)))
    site.crawl()
    texts.clear()
    found = rehearsed(site, sample=True, **OTHER)
    assert found.chunks_to_embed > SAMPLE == found.sampled
    assert len(texts) == SAMPLE + 1, "and one to load the model"
    lengths = list(map(len, texts[1:]))
    assert lengths[0] < 40
    assert lengths[-1] > 500
    assert found.seconds is not None
    texts.clear()
    assert rehearsed(site, sample=True).seconds is not None
    assert texts == [], "nothing to embed, nothing to measure"


def test_items_are_spread_evenly_with_both_ends() -> None:
    items = [bytes([number]) for number in range(100)]
    assert spread(items, 100) == items
    assert spread(items[:3], 64) == items[:3]
    assert spread([], 64) == []
    chosen = spread(items, 4)
    assert chosen == [items[0], items[33], items[66], items[99]]
