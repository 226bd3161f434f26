"""A reindex that is killed while somebody asks: all the answers are whole, and it goes on."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.seams import Seam
from tests.support.draws import moments
from tests.support.in_process import NAME
from tests.support.project import (
    REPO,
    command,
    environment,
    export_without_clocks,
    scrapy,
    start_scrapy,
)
from tests.support.quick_site import MODEL
from tests.support.reindexed import crawled_site
from tests.support.watching import Watcher, assert_only, passages

if TYPE_CHECKING:
    from pathlib import Path

SHORTER: dict[str, Any] = {
    "FRESHCRAWL_CHUNK_TOKENS": 64,
    "FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.SlowShorter",
    "FRESHCRAWL_EMBED_BATCH": 1,
}
"""The same model, so that who asks needs no other: the passages are what differs."""
EARLIEST_S = 0.5
PLACES = [
    f"{Seam.VECTORS_KEPT}:3",
    str(Seam.CONTENT_KEPT),
    str(Seam.INDEX_NAMED),
    str(Seam.SWITCHED),
    str(Seam.RECORDS_COMMITTED),
]


@dataclass(frozen=True)
class Whole:
    """A crawled state, and what an undisturbed reindex of it exports."""

    state: Path
    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    seconds: float
    """How long that took."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    with asyncio.Runner() as runner:
        state = crawled_site(folder, runner).place.state
    copy = shutil.copytree(state, folder / "reindexed")
    began = time.monotonic()
    reindex(copy)
    seconds = time.monotonic() - began
    rows = export_without_clocks(copy)
    before = export_without_clocks(state)
    assert rows != before
    return Whole(state, before, rows, seconds)


def reindex(state: Path) -> str:
    done = scrapy("reindex", state=state, settings=SHORTER)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_goes_on(whole: Whole, state: Path, watcher: Watcher) -> None:
    """Check what a killed reindex left, and that the next one completes it."""
    assert export_without_clocks(state) in (whole.before, whole.after)
    watcher.wait()
    reindex(state)
    watcher.wait()
    assert export_without_clocks(state) == whole.after
    verified = scrapy("verify", state=state, settings=SHORTER)
    assert verified.returncode == 0, verified.stdout


def assert_answers(whole: Whole, watcher: Watcher) -> None:
    assert_only(watcher, passages(whole.before), passages(whole.after))
    assert watcher.answers[-1] == passages(whole.after)


@pytest.mark.parametrize("place", PLACES)
def test_killed_at_a_step(whole: Whole, tmp_path: Path, place: str) -> None:
    state = shutil.copytree(whole.state, tmp_path / "state")
    line = command(("reindex",), state, "hash", 0, SHORTER)
    with Watcher(state, NAME) as watcher:
        watcher.wait()
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.crash_at", place, *line[3:]],
            cwd=REPO, env=environment(), capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]
        watcher.wait()
        assert_goes_on(whole, state, watcher)
    assert_answers(whole, watcher)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(20))
def test_killed_at_any_moment(whole: Whole, tmp_path: Path, seed: int) -> None:
    for moment, place in moments(seed, EARLIEST_S, whole.seconds, tmp_path):
        state = shutil.copytree(whole.state, place / "state")
        with Watcher(state, NAME) as watcher:
            watcher.wait()
            process = start_scrapy("reindex", state=state, log=place / "log", settings=SHORTER)
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
            if process.wait(30) != -signal.SIGKILL:
                continue
            assert_goes_on(whole, state, watcher)
        assert_answers(whole, watcher)
        break


def test_the_passages_are_cut_for_less(whole: Whole) -> None:
    longest = max(len(MODEL.token_offsets(row["text"])) for row in whole.before)
    assert longest > 64
    assert max(len(MODEL.token_offsets(row["text"])) for row in whole.after) <= 64
    assert len(whole.after) > len(whole.before)
