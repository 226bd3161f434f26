"""Ctrl-C once ends a run in order; twice at once; whatever was found is kept."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.witnesses import WITNESSES
from tests.support.held_site import (
    PAGES,
    SETTINGS,
    Site,
    concluded,
    exported,
    generation,
    last_run,
    wait_for,
)
from tests.support.origin import Origin, page
from tests.support.project import REPO, Result, command, environment, start_scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from freshcrawl.core.report import RunReport

SLOW = "tests.support.embedder.SlowEmbedder"
STUCK = "tests.support.embedder.StuckEmbedder"
INCOMPLETE, INTERRUPTED = 4, 130
SOON_S = 15.0
"""Far less than a download may take; far more than an end in order takes on a busy machine."""


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    """Serve on one port for all tests, so that their exports can be compared."""
    with Origin() as started:
        yield started


@pytest.fixture
def site(origin: Origin) -> Iterator[Site]:
    """Return the site as it is at first."""
    found = Site(origin)
    yield found
    found.open()


@pytest.fixture(scope="module")
def whole(origin: Origin, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return what an undisturbed crawl exports."""
    state = tmp_path_factory.mktemp("undisturbed") / "state"
    Site(origin).crawl(state)
    rows = exported(state)
    assert len(rows) == len(PAGES)
    return rows


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def interrupt(process: subprocess.Popen[bytes], log: Path, times: int) -> None:
    """Send SIGINT; the later ones once the first was understood."""
    process.send_signal(signal.SIGINT)
    wait_for(log, "stopping: finishing")
    for _ in range(times - 1):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)


def assert_ended_early(process: subprocess.Popen[bytes], state: Path, log: Path) -> RunReport:
    """Wait for the end; check exit code, report, and that nothing frightening was written."""
    assert process.wait(SOON_S) == INCOMPLETE, log.read_text()[-3000:]
    run = last_run(state)
    assert (run.status, run.failed) == ("ok", 0)
    assert "ended early" in str(run.incomplete_reasons)
    assert not re.search("Traceback|ERROR|WARNING|never|destroyed", log.read_text())
    return run


def assert_next_run_completes(site: Site, state: Path, whole: list[dict[str, Any]]) -> set[str]:
    """Crawl to the end; return the pages that were asked for again."""
    site.open()
    before = {path for path in PAGES if path in concluded(site, state)}
    site.asked()
    site.crawl(state)
    again = site.asked()
    # But for two that are asked for comparison, as new pages come into the answers.
    assert len(again & before) <= WITNESSES
    assert exported(state) == whole
    return again


# -- once ------------------------------------------------------------------


def test_once_while_sitemaps_are_read(
    site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    gate = site.hold("/sitemap.xml")
    process = site.start(state, log)
    assert gate.reached.wait(20)
    interrupt(process, log, 1)
    site.open()
    assert_ended_early(process, state, log)
    assert_next_run_completes(site, state, whole)


def test_once_while_robots_is_asked_for(
    site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    gate = site.hold("/robots.txt")
    process = site.start(state, log)
    assert gate.reached.wait(20)
    interrupt(process, log, 1)
    run = assert_ended_early(process, state, log)
    assert "robots" not in str(run.incomplete_reasons)
    assert_next_run_completes(site, state, whole)


def test_sigterm_while_pages_are_fetched(
    site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    gate = site.hold(*PAGES, after=20)
    process = site.start(state, log)
    assert gate.reached.wait(20)
    process.send_signal(signal.SIGTERM)
    wait_for(log, r"stopping: finishing \d+ requests? under way; Ctrl-C again to stop at once")
    site.open()
    run = assert_ended_early(process, state, log)
    assert 20 < run.new == len(concluded(site, state)) < len(PAGES)
    assert_next_run_completes(site, state, whole)


def test_requests_that_wait_or_hang_do_not_hold_up_the_end(
    site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    """Sixteen requests are in the downloader; only the two that were sent are waited for."""
    slow = {"CONCURRENT_REQUESTS_PER_DOMAIN": 2, "DOWNLOAD_DELAY": 0.05, "DOWNLOAD_TIMEOUT": 3}
    site.hold(*PAGES, after=10)
    process = site.start(state, log, **slow)
    wait_for(log, "10 of 48 pages")
    interrupt(process, log, 1)
    started = time.monotonic()
    assert_ended_early(process, state, log)
    assert time.monotonic() - started < 2 * 3
    assert len(concluded(site, state)) == 10
    # None of the others counts as failed: they are asked for at once, not after a wait.
    assert len(assert_next_run_completes(site, state, whole)) == 38


def test_once_while_new_pages_are_published(
    site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    gate = site.hold(*PAGES, after=45)
    process = site.start(state, log, FRESHCRAWL_EMBEDDER_CLASS=SLOW)
    assert gate.reached.wait(20)
    wait_for(log, "embedding [24] of")
    interrupt(process, log, 1)
    site.open()
    assert_ended_early(process, state, log)
    assert exported(state) == []
    assert_next_run_completes(site, state, whole)
    assert last_run(state).chunks_embedded < len(PAGES)


def test_once_while_the_end_of_a_run_embeds(
    site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    """The run stops after the batch, is recorded as ended early, and the next one goes on."""
    late = {"FRESHCRAWL_COMMIT_EVERY": 100, "FRESHCRAWL_EMBEDDER_CLASS": SLOW}
    process = site.start(state, log, **late)
    wait_for(log, "embedding 4 of 48 passages")
    interrupt(process, log, 1)
    assert "finishing the passages being embedded" in log.read_text()
    assert assert_ended_early(process, state, log).new == len(PAGES)
    assert assert_next_run_completes(site, state, whole) == set()
    assert last_run(state).chunks_embedded < len(PAGES)


@pytest.mark.chromium
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_once_in_a_terminal_while_pages_are_rendered(
    site: Site, state: Path, log: Path, tmp_path: Path
) -> None:
    """A terminal sends Ctrl-C to the browser's driver too, which must not close the browser."""
    sites = tmp_path / "sites.toml"
    sites.write_text(f'[sites.app]\nurl = "{site.origin.url}"\nrender = "always"\n')
    gate = site.hold(*PAGES, after=3)
    process = start_scrapy(
        *("crawl", "docs", "-a", "site=app"),
        state=state,
        log=log,
        settings={**SETTINGS, "FRESHCRAWL_SITES": sites},
    )
    assert gate.reached.wait(40)
    os.killpg(process.pid, signal.SIGINT)
    wait_for(log, "stopping: finishing")
    time.sleep(0.5)  # for the driver to take the signal
    site.open()
    assert assert_ended_early(process, state, log).new > 3


# -- twice and more --------------------------------------------------------


@pytest.mark.parametrize("times", [2, 3])
def test_more_than_once_while_pages_hang(
    times: int, site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    site.hold(*PAGES, after=30)
    process = site.start(state, log, FRESHCRAWL_COMMIT_EVERY=100)
    wait_for(log, "30 of 48 pages")
    interrupt(process, log, times)
    run = assert_ended_early(process, state, log)
    assert run.new == len(concluded(site, state)) == 30
    assert len(assert_next_run_completes(site, state, whole)) == 18


def test_twice_while_an_embedder_hangs(
    site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    """Its thread is not waited for; readers keep the old generation."""
    site.crawl(state)
    for path in PAGES[:10]:
        site.origin[path] = page(path, f"The new text of {path}.")
    process = site.start(state, log, FRESHCRAWL_EMBEDDER_CLASS=STUCK)
    wait_for(log, "embedding 0 of 10")
    interrupt(process, log, 2)
    assert assert_ended_early(process, state, log).changed == 10
    found = exported(state)
    assert sum(row["stale"] for row in found) == 10, "of these a newer text is known"
    assert [{**row, "stale": False} for row in found] == whole
    site.asked()
    site.crawl(state)
    assert site.asked() == set()
    texts = [row["text"].partition("The ")[2] for row in exported(state)]
    assert texts[:10] == [f"new text of {path}." for path in PAGES[:10]]
    assert exported(state)[10:] == whole[10:]


def test_twice_while_new_pages_are_published(
    site: Site, state: Path, log: Path, whole: list[dict[str, Any]]
) -> None:
    gate = site.hold(*PAGES, after=45)
    process = site.start(state, log, FRESHCRAWL_EMBEDDER_CLASS=SLOW)
    assert gate.reached.wait(20)
    wait_for(log, "embedding [24] of")
    interrupt(process, log, 2)
    assert_ended_early(process, state, log)
    assert_next_run_completes(site, state, whole)
    assert last_run(state).chunks_embedded < len(PAGES)


@pytest.mark.parametrize(
    ("seam", "times"),
    [
        ("freshcrawl.extensions:RunExtension.from_crawler", 1),
        ("freshcrawl.extensions:RunExtension.from_crawler", 2),
        ("freshcrawl.discovery:Discovery.start", 2),
        ("freshcrawl.outcomes:conclude:20", 2),
        ("freshcrawl.publishing:write_index", 2),
        ("freshcrawl.run:Run.adopt", 2),  # just published
        ("freshcrawl.run:Run.finish", 1),
        ("freshcrawl.run:Run.finish", 2),  # the last commit
    ],
)
def test_at_any_moment(
    seam: str, times: int, site: Site, state: Path, whole: list[dict[str, Any]]
) -> None:
    done = interrupted_at(times, seam, ("crawl", "docs", "-a", f"url={site.origin.url}"), state)
    run = last_run(state)
    # What comes too late to change anything leaves a whole run.
    assert done.returncode == (0 if run.complete else INCOMPLETE), done.stderr[-3000:]
    assert run.status == "ok"
    assert run.complete == (exported(state) == whole)
    assert run.generation == generation(state)
    assert not re.search("Traceback|ERROR|WARNING|never|destroyed", done.stderr)
    if not run.complete:
        assert "ended early" in str(run.incomplete_reasons)
        assert_next_run_completes(site, state, whole)


def interrupted_at(
    times: int,
    seam: str,
    args: tuple[str, ...],
    state: Path,
    settings: Mapping[str, object] = SETTINGS,
) -> Result:
    """Run a command that interrupts itself when it reaches a function."""
    line = command(args, state, "hash", 0, settings)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.interrupt_at", str(times), seam, *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def test_commands_that_read_end_without_a_word(site: Site, state: Path) -> None:
    site.crawl(state)
    for args, seam in (
        (("status",), "freshcrawl.commands.status:print_status"),
        (("export",), "freshcrawl.answers:export_rows"),
    ):
        done = interrupted_at(1, seam, args, state)
        assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "")
