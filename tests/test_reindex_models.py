"""Another model: its vectors and the old ones, and a reindex that is stopped on the way."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.embedding import PublishInterrupted
from freshcrawl.interrupting import Interruptible
from freshcrawl.packed_edits import PackedEdits
from freshcrawl.reindexing import Reindexing
from freshcrawl.seams import Seam, listening
from freshcrawl.state import open_for_writing
from freshcrawl.stores.base import EmbeddingError
from tests.support.held_site import wait_for
from tests.support.in_process import NAME
from tests.support.project import export_without_clocks, scrapy, start_scrapy
from tests.support.quick_site import NOW, QuickSite
from tests.support.reindexed import (
    OTHER,
    SHORTER,
    SMALLER,
    crawled_site,
    known_site,
    reindexed,
    with_settings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.core.published import Edit

SLOW: dict[str, Any] = {
    "FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.SlowEmbedder",
    "FRESHCRAWL_EMBED_MODEL": "other",
    "FRESHCRAWL_EMBED_BATCH": 1,
    "FRESHCRAWL_PROGRESS_SECS": 0.2,
}
OTHERS: dict[str, Any] = {"FRESHCRAWL_EMBED_MODEL": "other"}
INTERRUPTED = 130


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


def vectors_of(site: QuickSite) -> dict[str, int]:
    """Return how many vectors are kept of each model."""
    with (
        closing(open_for_writing(site.config, NAME, "test", NOW)) as state,
        state.corpus.editing() as conn,  # type: ignore[attr-defined]
    ):
        return dict(conn.execute("SELECT model, count(*) FROM vectors GROUP BY model"))


# -- the vectors of the old model ----------------------------------------------


def test_old_vectors_are_there_within_their_retention_and_going_back_embeds_nothing(
    site: QuickSite,
) -> None:
    number = vectors_of(site)["hash-64"]
    assert reindexed(site, **OTHER, generations_kept=1).chunks_embedded == number
    reindexed(site, days=89, **OTHER, generations_kept=1)
    assert vectors_of(site) == {"hash-64": number, "other-64": number}
    back = reindexed(site, days=89, generations_kept=1)
    assert (back.chunks_embedded, back.chunks_reused, back.changed) == (0, number, True)


def test_old_vectors_are_gone_past_their_retention(site: QuickSite) -> None:
    number = vectors_of(site)["hash-64"]
    reindexed(site, **OTHER, generations_kept=1)
    reindexed(site, days=91, **OTHER, generations_kept=1)
    assert vectors_of(site) == {"other-64": number}
    assert site.place.state.exists()
    back = reindexed(site, days=91, generations_kept=1)
    assert (back.chunks_embedded, back.chunks_reused) == (number, 0)


def test_they_stay_as_long_as_a_generation_of_theirs_can_be_gone_back_to(site: QuickSite) -> None:
    number = vectors_of(site)["hash-64"]
    reindexed(site, **SMALLER, generations_kept=2)
    reindexed(site, days=365, **SMALLER, generations_kept=2)
    assert vectors_of(site)["hash-64"] == number
    reindexed(site, days=365, **OTHER, generations_kept=2)
    reindexed(site, days=365, **OTHER, generations_kept=2)
    assert set(vectors_of(site)) == {"hash-32", "other-64"}


# -- stopped on the way ----------------------------------------------------------


def test_a_model_that_fails_is_one_line_and_the_same_command_goes_on(site: QuickSite) -> None:
    refusing: dict[str, Any] = {"embedder_class": "tests.support.embedder.RefusingEmbedder"}
    with pytest.raises(EmbeddingError) as raised:
        reindexed(site, **OTHER, **refusing)
    assert str(raised.value) == (
        "site docs: the endpoint answers 402: no credit is left; 8 passages embedded so far stay "
        "kept, and the same command goes on from there"
    )
    settings = {"FRESHCRAWL_EMBEDDER_CLASS": refusing["embedder_class"], **OTHERS}
    done = scrapy(
        "reindex", state=site.place.state, settings={**settings, "FRESHCRAWL_EMBED_BATCH": 4}
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "freshcrawl: site docs: the endpoint answers 402" in done.stderr
    whole = reindexed(site, **OTHER)
    assert (whole.chunks_reused, whole.changed) == (16, True)


def test_a_stop_is_heeded_after_the_batch(site: QuickSite) -> None:
    config = with_settings(site, **OTHER)
    with closing(open_for_writing(config, NAME, "reindex", NOW)) as state:
        reindexing = Reindexing(state, known_site(config, state), config, lambda: NOW)

        def stop(seam: Seam) -> None:
            if seam == Seam.ENCODED:
                reindexing.stop()

        with listening(stop), pytest.raises(PublishInterrupted) as raised:
            reindexing.run()
        assert str(raised.value) == (
            "docs: stopped; 4 passages embedded so far stay kept, and the same command goes on "
            "from there"
        )
        assert reindexing.progress().pages_done == 0
        assert reindexing.progress().pages == 12
    assert reindexed(site, **OTHER).chunks_reused == 4


def test_ctrl_c_ends_it_in_order_and_progress_is_logged(site: QuickSite, tmp_path: Path) -> None:
    log, state = tmp_path / "log", site.place.state
    before = export_without_clocks(state)
    process = start_scrapy("reindex", state=state, log=log, settings=SLOW)
    wait_for(log, r"docs: 0 of 12 pages; embedding [1-9] of \d+ passages")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == INTERRUPTED, log.read_text()
    told = log.read_text()
    assert "stopping: finishing the passages being embedded; Ctrl-C again" in told
    assert "freshcrawl: docs: stopped; " in told
    assert "stay kept, and the same command goes on from there" in told
    assert "Traceback" not in told
    assert export_without_clocks(state) == before
    done = scrapy("reindex", state=state, settings=OTHERS)
    assert done.returncode == 0, done.stderr
    assert ", 0 reused" not in done.stdout
    assert done.stderr == ""
    assert export_without_clocks(state) == before


def test_ctrl_c_twice_ends_it_at_once(site: QuickSite, tmp_path: Path) -> None:
    log = tmp_path / "log"
    stuck = {**SLOW, "FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.StuckEmbedder"}
    process = start_scrapy("reindex", state=site.place.state, log=log, settings=stuck)
    wait_for(log, "docs: 0 of 12 pages; embedding 0 of")
    process.send_signal(signal.SIGINT)
    wait_for(log, "Ctrl-C again to stop at once")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == INTERRUPTED, log.read_text()
    assert "Traceback" not in log.read_text()


def test_a_signal_with_nothing_under_way_ends_the_command() -> None:
    code = (
        "import os, signal\n"
        "from freshcrawl.interrupting import Interruptible\n"
        "with Interruptible() as signals:\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        print('ended', signals.asked)\n"
        "    with signals.calling(lambda: print('asked to stop')):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        print(signals.asked)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == ["ended False", "asked to stop", "True"]
    before = signal.getsignal(signal.SIGINT)
    with Interruptible():
        pass
    assert signal.getsignal(signal.SIGINT) == before


# -- memory ------------------------------------------------------------------------


def test_edits_are_packed_until_they_are_published(site: QuickSite) -> None:
    packed: list[PackedEdits] = []
    first: list[Edit] = []
    add = PackedEdits.add

    def noted(self: PackedEdits, edits: Any) -> None:
        edits = list(edits)
        first.extend(edits)
        packed.append(self)
        add(self, edits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PackedEdits, "add", noted)
        reindexed(site, **SHORTER)
    assert len(packed[0]) == len(first) == 12
    assert all(chunk.embed_text for edit in first for chunk in edit.chunks)
    for edit, was in zip(packed[0], first, strict=True):
        assert edit.page == was.page
        assert [(c.id, c.text, c.heading_path) for c in edit.chunks] == [
            (c.id, c.text, c.heading_path) for c in was.chunks
        ]
        assert not any(chunk.embed_text for chunk in edit.chunks)
    assert packed[0][:2] == [packed[0][0], packed[0][1]]
