"""``scrapy reindex``: another model, a newer release, without a request to the site."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.clock import make_clock
from freshcrawl.config import Config
from freshcrawl.core.chunks import chunk_page
from freshcrawl.core.published import Staged
from freshcrawl.extract import extract
from freshcrawl.ledger import Ledger
from freshcrawl.reader import index_of
from freshcrawl.reading import made_by, read_alike
from freshcrawl.reindexing import Reindexed, Reindexing
from freshcrawl.seams import Seam, listening
from freshcrawl.staging import chunks_of, cut_anew, limit_of, pack_blocks
from freshcrawl.state import open_for_reading, open_for_writing, site_names
from freshcrawl.stored_sites import stored_site
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import SiteLock
from freshcrawl.stores.sqlitefile import connect_writer
from tests.support.embedder import CutShorter, HashEmbedder, SmallerEmbedder
from tests.support.held_site import exported, generation, last_run
from tests.support.origin import Origin, page
from tests.support.project import (
    HASH_EMBEDDER,
    REPO,
    command,
    environment,
    scrapy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from freshcrawl.core.pages import PageRecord
    from freshcrawl.state import SiteState

DAY = 86_400
SMALLER: dict[str, Any] = {"FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.SmallerEmbedder"}
OTHER: dict[str, Any] = {"FRESHCRAWL_EMBED_MODEL": "other"}
LONG = [f"Paragraph {n} tells about the {n}th option in a few plain words." for n in range(40)]
PATHS = [f"/p{n}" for n in range(12)]
RUNS_ONLY = {Seam.STAGED, Seam.REPORTED, Seam.INDEX_DROPPED}
"""Steps of a run alone; and of two generations none is dropped."""
SEAMS = [seam for seam in Seam if seam not in RUNS_ONLY]
"""What a reindex passes, in this order."""


class Stopped(Exception):
    """Raised at a seam."""


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    with Origin() as origin:
        serve(origin)
        yield origin


def serve(origin: Origin, *changed: str) -> None:
    """Serve the pages, some of them with another text."""
    for path in PATHS:
        text = "was edited" if path in changed else "is as it was"
        link = f'See <a href="{origin.url}p1">there</a>.'
        origin[path] = page(path, f"The text of {path} {text}.", link, f"The last of {path}.")
    origin["/p0"] = page("/p0", *LONG)
    origin.serve_sitemap(*PATHS)


def crawl(
    origin: Origin, state: Path, *args: str, days: int = 0, code: int = 0, **settings: Any
) -> str:
    done = scrapy(
        "crawl", "docs", "-a", f"url={origin.url}", *args,
        state=state, clock_offset_s=days * DAY, settings=settings,
    )  # fmt: skip
    assert done.returncode == code, done.stderr[-3000:]
    return done.stderr


@pytest.fixture(scope="module")
def crawled(origin: Origin, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state with the model ``hash-64``."""
    state = tmp_path_factory.mktemp("crawled") / "state"
    crawl(origin, state)
    return state


@pytest.fixture(scope="module")
def older(origin: Origin, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state that an earlier release has left, which lost the last block of each page."""
    state = tmp_path_factory.mktemp("older") / "state"
    crawl(origin, state, FRESHCRAWL_EMBEDDER_CLASS="tests.support.older.OlderReader")
    return state


@pytest.fixture(scope="module")
def smaller(origin: Origin, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what a first crawl with the model ``hash-32`` leaves."""
    state = tmp_path_factory.mktemp("smaller") / "state"
    crawl(origin, state, **SMALLER)
    return state


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[Path], Path]:
    def copied(state: Path) -> Path:
        return shutil.copytree(state, tmp_path / "state")

    return copied


def with_model(state: Path, **settings: object) -> Config:
    values = {name.removeprefix("FRESHCRAWL_").lower(): text for name, text in settings.items()}
    known: dict[str, Any] = {"embedder_class": HASH_EMBEDDER, "embed_batch": 4, **values}
    return Config(state_dir=str(state), **known)


def reindex(state: Path, **settings: object) -> Reindexed:
    """Index the only site anew, in this process."""
    config = with_model(state, **settings)
    [name] = site_names(config)
    opened = open_for_writing(config, name, "reindex", 0.0)
    try:
        site = stored_site(config, opened)
        assert site is not None
        return Reindexing(opened, site, config, make_clock()).run()
    finally:
        opened.close()


def look(state: Path) -> SiteState:
    config = Config(state_dir=str(state))
    return open_for_reading(config, *site_names(config))


def vectors(state: Path) -> dict[int, list[float]]:
    """Return the vectors of the answers, as the index file has them, too."""
    opened = look(state)
    snapshot = opened.corpus.snapshot()
    index = index_of(opened, snapshot)
    try:
        found = {chunk_id: vector.tolist() for chunk_id, vector in snapshot.vectors()}
        for chunk_id, vector in found.items():
            assert chunk_id in dict(index.search(vector, 3))
        assert len(index) == len(found)
        return found
    finally:
        snapshot.close()
        opened.close()


def records(state: Path) -> dict[str, PageRecord]:
    opened = look(state)
    try:
        return opened.pages()
    finally:
        opened.close()


def lose_content(state: Path, like: str) -> None:
    """Delete what is kept of the pages whose key is like this."""
    [folder] = state.iterdir()
    conn = connect_writer(folder / "corpus.sqlite")
    conn.execute(
        "DELETE FROM content WHERE digest IN (SELECT content FROM published WHERE key LIKE ?)",
        (like,),
    )
    conn.close()


def test_another_model_through_the_command_line(
    origin: Origin, crawled: Path, copy: Callable[[Path], Path]
) -> None:
    state, before = copy(crawled), exported(crawled)
    origin.paths()

    done = scrapy("reindex", "--json", state=state, settings=OTHER)
    assert done.returncode == 0, done.stderr
    [told] = json.loads(done.stdout)["sites"]
    assert told.pop("duration_s") >= 0
    assert told == {
        "site": f"127.0.0.1-{origin.port}",
        "model": "other-64",
        "pages": len(PATHS),
        "chunks": len(before),
        "chunks_embedded": len(before),
        "chunks_reused": 0,
        "read_again": 0,
        "left": 0,
        "changed": True,
        "generation": 2,
    }
    assert exported(state) == before
    assert last_run(state) == last_run(crawled)
    assert records(state) == records(crawled)

    hits = scrapy("query", "The last of /p3", "--json", state=state, settings=OTHER)
    assert json.loads(hits.stdout)[0]["url"].endswith("/p3")
    assert origin.paths() == []


def test_model_that_reads_less_gives_what_a_first_crawl_with_it_gives(
    crawled: Path, smaller: Path, copy: Callable[[Path], Path]
) -> None:
    state = copy(crawled)
    opened = look(state)
    before = opened.corpus.snapshot()
    index = index_of(opened, before)
    try:
        done = reindex(state, **SMALLER)
        assert (done.model, done.generation, done.changed) == ("hash-32", 2, True)
        assert exported(state) == exported(smaller) != exported(crawled)
        assert vectors(state) == vectors(smaller)
        # Who holds the generation before reads on in it.
        chunk = next(iter(before.chunks()))
        found = index.search(HashEmbedder().encode_query(chunk.text), 1)
        assert before.chunks_by_id([found[0][0]])
        assert before.info()["model"] == "hash-64"
    finally:
        before.close()
        opened.close()
    # The vectors of the model before are kept, should it be wanted again.
    back = reindex(state)
    assert (back.chunks_embedded, back.generation) == (0, 3)
    assert exported(state) == exported(crawled)
    assert vectors(state) == vectors(crawled)


def test_same_model_and_release_write_nothing(crawled: Path, copy: Callable[[Path], Path]) -> None:
    state = copy(crawled)
    [folder] = state.iterdir()
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.name != ".lock"}
    assert len(before) == 4
    passed: list[Seam] = []
    with listening(passed.append):
        done = reindex(state)
    assert (done.changed, done.generation, done.chunks_embedded) == (False, 1, 0)
    assert Seam.ROWS_WRITTEN not in passed
    assert {path: path.read_bytes() for path in before} == before


def test_pages_of_an_earlier_release_are_read_again(
    origin: Origin, crawled: Path, older: Path, copy: Callable[[Path], Path]
) -> None:
    state = copy(older)
    assert exported(state) != exported(crawled)
    done = reindex(state)
    assert (done.read_again, done.generation) == (len(PATHS), 2)
    assert exported(state) == exported(crawled)
    assert vectors(state) == vectors(crawled)
    config = Config(state_dir=str(state))
    opened = open_for_reading(config, *site_names(config))
    site = stored_site(config, opened)
    opened.close()
    assert site is not None
    assert {record.made_by for record in records(state).values()} == {made_by(site, 256)}
    assert changes(state) == changes(older)
    # To the next run it is no change, neither of the site nor of ours.
    crawl(origin, state, days=40)
    run = last_run(state)
    assert (run.unchanged, run.changed, run.chunks_embedded) == (len(PATHS), 0, 0)
    assert run.generation == 2


def changes(state: Path) -> dict[str, float]:
    """Return when the text of each page was fetched first."""
    opened = look(state)
    snapshot = opened.corpus.snapshot()
    try:
        return {page.key: page.changed_at for page in snapshot.pages()}
    finally:
        snapshot.close()
        opened.close()


def test_killed_at_each_seam_it_ends_the_same(older: Path, smaller: Path, tmp_path: Path) -> None:
    passed: list[Seam] = []
    whole = shutil.copytree(older, tmp_path / "whole")
    with listening(passed.append):
        reindex(whole, **SMALLER)
    assert list(dict.fromkeys(passed)) == SEAMS
    assert (exported(whole), vectors(whole)) == (exported(smaller), vectors(smaller))
    made = {key: record.made_by for key, record in records(whole).items()}
    assert "older" not in made.values()
    for seam in SEAMS:
        state = shutil.copytree(older, tmp_path / seam)

        def stop(at: Seam, seam: Seam = seam) -> None:
            if at == seam:
                raise Stopped

        with listening(stop), suppress(Stopped):
            reindex(state, **SMALLER)
            pytest.fail(f"{seam} was not reached")
        switched = SEAMS.index(seam) >= SEAMS.index(Seam.SWITCHED)
        assert exported(state) == exported(smaller if switched else older), seam
        done = reindex(state, **SMALLER)
        assert (done.changed, done.generation) == (not switched, 2), seam
        assert exported(state) == exported(smaller), seam
        assert vectors(state) == vectors(whole), seam
        assert {key: record.made_by for key, record in records(state).items()} == made, seam
        [folder] = state.iterdir()
        assert {path.stem for path in (folder / "index").iterdir()} == {"1", "2"}, seam


def test_embedding_goes_on_where_it_was_stopped(
    crawled: Path, copy: Callable[[Path], Path]
) -> None:
    state, batches = copy(crawled), 0

    def stop(seam: Seam) -> None:
        nonlocal batches
        batches += seam == Seam.VECTORS_KEPT
        if batches == 2:
            raise Stopped

    with listening(stop), pytest.raises(Stopped):
        reindex(state, **OTHER)
    done = reindex(state, **OTHER)
    assert (done.chunks_embedded, done.chunks_reused) == (done.chunks - 8, 8)


def test_killed_between_the_switch_and_its_records(
    older: Path, smaller: Path, copy: Callable[[Path], Path]
) -> None:
    state = copy(older)
    line = command(("reindex",), state, "hash", 0, SMALLER)
    seam = "freshcrawl.ledger:Ledger.commit_records"
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.crash_at", seam, *line[3:]],
        cwd=REPO, env=environment(), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]
    assert generation(state) == 2
    assert {record.made_by for record in records(state).values()} == {"older"}
    again = scrapy("reindex", state=state, settings=SMALLER)
    assert again.returncode == 0, again.stderr
    assert "nothing differs" in again.stdout
    assert {record.made_by for record in records(state).values()} != {"older"}
    assert exported(state) == exported(smaller)


# -- staged work --------------------------------------------------------------


def test_held_work_is_cut_anew_when_it_is_published(tmp_path: Path) -> None:
    state, fresh = tmp_path / "state", tmp_path / "fresh"
    guard: dict[str, Any] = {
        "FRESHCRAWL_GUARD_CHANGED_MIN": 1,
        "FRESHCRAWL_GUARD_CHANGED_RATIO": 0.1,
    }
    with Origin() as origin:
        serve(origin)
        crawl(origin, state)
        serve(origin, *PATHS[1:7])
        origin["/p0"] = page("/p0", *LONG, "The long page was edited.")
        crawl(origin, state, "-a", "full=1", code=3, **guard)
        assert reindex(state, **SMALLER).generation == 2
        assert "was edited" not in str(exported(state))
        let_go(state)
        origin.paths()
        crawl(origin, state, **SMALLER)
        assert not set(PATHS) & set(origin.paths()), "what was found before is published"
        crawl(origin, fresh, **SMALLER)
    assert exported(state) == exported(fresh)
    assert vectors(state) == vectors(fresh)


def let_go(state: Path) -> None:
    """Release what a guard holds, as a person would."""
    config = Config(state_dir=str(state))
    [name] = site_names(config)
    opened = open_for_writing(config, name, "test", 0.0)
    try:
        ledger = Ledger(opened, 0.0)
        assert len(ledger.staged) == 7
        for key in ledger.staged:
            ledger.mark_held(key, "")
        ledger.commit_records()
    finally:
        opened.close()


def test_staged_chunks_are_cut_for_the_model_that_embeds_them() -> None:
    html = page("Long", *LONG)
    document = extract(html, "https://docs.example.com/long")
    one, other = HashEmbedder(), SmallerEmbedder()
    entry = Staged(
        "docs.example.com/long", "https://docs.example.com/long", "live", "new", 0.0,
        title="Long", blocks=pack_blocks(document.blocks), cut_for=limit_of(one),
        chunks=chunks_of("docs.example.com/long", "Long", document.blocks, one),
    )  # fmt: skip
    assert cut_anew(entry, one) is entry
    again = cut_anew(entry, other)
    wanted = chunk_page(entry.key, "Long", document.blocks, other.token_offsets, other.max_tokens)
    assert again == replace(entry, chunks=[c.to_json() for c in wanted], cut_for=limit_of(other))
    assert len(again.chunks) > len(entry.chunks)
    before = replace(entry, cut_for=one.model)  # as earlier releases have it
    assert cut_anew(before, one) == entry
    shorter = CutShorter()
    assert shorter.model == one.model
    assert len(cut_anew(entry, shorter).chunks) == len(again.chunks)
    assert cut_anew(replace(entry, blocks=""), other).chunks == entry.chunks


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("2.2", "2.3", True),
        ("2.2", "2.2", True),
        ("2.2", "3.2", False),
        ("2.2-abc", "2.3-abc", True),
        ("2.2-abc", "2.2-abd", False),
        ("2.2", "2.2-abc", False),
        ("12.2", "1.22", False),
        ("2.2:128", "2.2", True),
        ("2.2:128-abc", "2.3:64-abc", True),
        ("2.2:128", "3.2:128", False),
        ("2.2:128-abc", "2.2:128", False),
        ("", "2.2", False),
    ],
)
def test_what_only_the_chunker_made_otherwise_is_read_alike(
    one: str, other: str, alike: bool
) -> None:
    assert read_alike(one, other) == alike


# -- what is not kept -----------------------------------------------------------


def test_pages_of_which_nothing_is_kept(
    origin: Origin, crawled: Path, copy: Callable[[Path], Path]
) -> None:
    state = copy(crawled)
    lose_content(state, "%/p3")
    done = reindex(state)
    assert (done.left, done.changed) == (1, False)
    assert exported(state) == exported(crawled)

    refused = scrapy("reindex", state=state, settings=OTHER)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert f"the text of 1 page is not kept ({origin.url}p3)" in refused.stderr
    assert "with the model of the index (hash-64), then scrapy reindex" in refused.stderr
    assert exported(state) == exported(crawled)
    assert generation(state) == 1

    origin.paths()
    crawl(origin, state)
    assert [path for path in origin.paths() if path in PATHS] == ["/p3"]
    assert (last_run(state).unchanged, last_run(state).chunks_embedded) == (1, 0)
    assert reindex(state, **OTHER).chunks_embedded > 0
    assert exported(state) == exported(crawled)


def test_damaged_content_counts_as_not_kept(crawled: Path, copy: Callable[[Path], Path]) -> None:
    state = copy(crawled)
    [folder] = state.iterdir()
    conn = connect_writer(folder / "corpus.sqlite")
    conn.execute("UPDATE content SET data = x'00' WHERE rowid = (SELECT min(rowid) FROM content)")
    conn.close()
    assert reindex(state).left == 1
    with pytest.raises(StoreError, match="the text of 1 page is not kept"):
        reindex(state, **OTHER)


def test_tidy_that_fails_is_told_and_the_index_stands(
    crawled: Path, copy: Callable[[Path], Path]
) -> None:
    state = copy(crawled)
    [folder] = state.iterdir()
    (folder / "index" / "9.faiss").mkdir()
    done = scrapy("reindex", state=state, settings=OTHER)
    assert done.returncode == 0, done.stderr
    assert "freshcrawl: old generations could not be dropped: " in done.stderr
    assert exported(state) == exported(crawled)


# -- refusals --------------------------------------------------------------------


def test_refusals_are_one_line(state: Path) -> None:
    assert "no site yet" in scrapy("reindex", state=state).stdout
    assert not state.exists()
    done = scrapy("reindex", "--json", "--site", "nowhere", state=state)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "no state of a site 'nowhere'" in done.stderr
    assert not state.exists()


def test_model_that_reads_too_little(crawled: Path, copy: Callable[[Path], Path]) -> None:
    state = copy(crawled)
    tiny = {"FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.TinyEmbedder"}
    with pytest.raises(StoreError, match="chunks need a limit of at least 32 tokens, not 16"):
        reindex(state, **tiny)
    assert exported(state) == exported(crawled)


def test_one_locked_site_does_not_stop_the_others(
    origin: Origin, crawled: Path, copy: Callable[[Path], Path]
) -> None:
    state = copy(crawled)
    [folder] = state.iterdir()
    shutil.copytree(folder, state / "another")
    with SiteLock(state / "another").acquire("crawl", 0.0):
        done = scrapy("reindex", state=state, settings=OTHER)
    assert done.returncode == 5
    assert "another is in use by `crawl`" in done.stderr
    assert done.stdout.startswith(f"{folder.name}: 12 pages")
    assert (folder / "index" / "2.faiss").exists()
    assert not (state / "another" / "index" / "2.faiss").exists()
