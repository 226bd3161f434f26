"""``scrapy embed`` killed with SIGKILL goes on where it was, and answers are served all along."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.answers import export_rows
from freshcrawl.config import Config
from freshcrawl.core.embedding_plan import day_of
from freshcrawl.seams import Seam
from freshcrawl.state import open_for_reading
from freshcrawl.verify import verify_folder
from tests.support.draws import moments
from tests.support.embedder import HashEmbedder
from tests.support.in_process import NAME
from tests.support.kill_embed import embed
from tests.support.project import REPO, environment, start_scrapy
from tests.support.quick_site import QuickSite
from tests.support.watching import Watcher, assert_page_by_page, passages
from tests.test_backlog import crawl, write

if TYPE_CHECKING:
    from pathlib import Path

PASSED = set(Seam) - {Seam.STAGED, Seam.INDEX_DROPPED, Seam.REPORTED}
"""Seams that ``scrapy embed`` comes to with so few generations."""
KILLS = 20
SLOW = {
    "FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.SlowEmbedder",
    "FRESHCRAWL_EMBED_BATCH": 1,
}


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder in which all pages answer with an old text and a new one waits."""
    with asyncio.Runner() as runner:
        site = QuickSite(tmp_path_factory.mktemp("waiting"), runner)
        write(site, "first")
        crawl(site, embedder_class="tests.support.embedder.HashEmbedder")
        write(site, "second")
        crawl(site, embed_apart=True)
    return site.place.state


def exported(state: Path) -> list[dict[str, Any]]:
    """Return what is exported, without clocks."""
    with closing(open_for_reading(Config(state_dir=str(state)), NAME)) as opened:
        rows = list(export_rows(opened, now=time.time(), max_age=1e9))
    clocks = {"last_checked", "last_changed", "indexed_at", "stale"}
    return [{name: row[name] for name in row.keys() - clocks} for row in rows]


def spent(state: Path) -> int:
    """Return how many passages were embedded today, in all processes."""
    with closing(open_for_reading(Config(state_dir=str(state)), NAME)) as opened:
        return opened.corpus.spent(day_of(time.time()))


@pytest.fixture(scope="module")
def undisturbed(waiting: Path) -> list[dict[str, Any]]:
    state = waiting.with_name("undisturbed")
    shutil.copytree(waiting, state)
    embed(state, NAME)
    return exported(state)


@pytest.fixture(scope="module")
def killed(waiting: Path) -> Path:
    """Copies of the state, named after the seam at which the process was killed."""
    folder = waiting.with_name("killed")
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-m", "tests.support.kill_embed", waiting, NAME, folder],
        cwd=REPO,
        env=environment(),
        check=True,
        timeout=240,
    )
    return folder


def test_it_comes_to_all_seams_of_a_publish(killed: Path) -> None:
    assert {path.name for path in killed.iterdir()} == PASSED


@pytest.mark.parametrize("seam", sorted(PASSED))
def test_killed_at_any_step_it_goes_on(
    seam: Seam, waiting: Path, killed: Path, undisturbed: list[dict[str, Any]]
) -> None:
    state = killed / seam
    old, now = exported(waiting), exported(state)
    assert now in (old, undisturbed)
    before = spent(state)
    done = embed(state, NAME)
    # A batch of which the vectors were only in memory is embedded again, and nothing else.
    assert done.chunks_embedded == spent(state) - before
    assert done.pending_embed == 0
    assert exported(state) == undisturbed
    whole = spent(waiting) + len({row["text"] for row in undisturbed})
    assert spent(state) == whole
    assert not verify_folder(state / NAME, HashEmbedder())


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_at_a_random_moment_answers_are_served_and_nothing_is_embedded_twice(
    seed: int, waiting: Path, undisturbed: list[dict[str, Any]], tmp_path: Path
) -> None:
    old, new, before = passages(exported(waiting)), passages(undisturbed), spent(waiting)
    for seconds, place in moments(seed, 1.0, 12.0, tmp_path):
        state = place / "state"
        shutil.copytree(waiting, state)
        with Watcher(state, NAME) as watcher:
            watcher.wait()
            process = start_scrapy("embed", state=state, log=place / "log", settings=SLOW)
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGKILL)
            if process.wait(10) != -signal.SIGKILL:
                continue
            made = spent(state) - before
            done = embed(state, NAME)
            watcher.wait()
        assert_page_by_page(watcher, old, new)
        assert done.pending_embed == 0
        assert made + done.chunks_embedded == spent(state) - before
        assert spent(state) - before == len({row["text"] for row in undisturbed})
        assert exported(state) == undisturbed
        assert not verify_folder(state / NAME, HashEmbedder())
        break
