"""kill -9 at every step of a publish and at random moments, while somebody asks all along.

The reader never fails, sees whole generations only, and loses no page; the next run converges, and
nothing that the killed one left stays behind.
"""

from __future__ import annotations

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
from tests.support.held_site import exported, generation, last_run
from tests.support.little_docs import write_versions
from tests.support.nginx import NginxSite, nginx_path
from tests.support.project import REPO, command, environment, scrapy, start_scrapy
from tests.support.watching import Watcher, assert_grows, assert_only, passages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.watching import Answer

pytestmark = pytest.mark.nginx

# Several commits, batches and publishes, and an index file that goes with each publish.
SETTINGS: dict[str, object] = {
    "FRESHCRAWL_COMMIT_EVERY": 4,
    "FRESHCRAWL_EMBED_BATCH": 4,
    "FRESHCRAWL_GENERATIONS_KEPT": 1,
}
SLOW = {**SETTINGS, "DOWNLOAD_DELAY": 0.02, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
"""So that random moments of the crawl differ."""
AGAIN = [Seam.ENCODED, Seam.VECTORS_KEPT]
"""Seams that each publish of these sites passes more than once."""
PLACES = [str(seam) for seam in Seam] + [f"{seam}:2" for seam in AGAIN]


@dataclass
class Step:
    """A served version of the site, and what an undisturbed first crawl of it leaves."""

    site: NginxSite
    state: Path
    rows: list[dict[str, Any]]
    seconds: float
    """How long a crawl takes that goes slowly."""

    @property
    def name(self) -> str:
        """Name of the site in its state."""
        return f"127.0.0.1-{self.site.port}"

    @property
    def answer(self) -> Answer:
        """Everything that readers of this version get."""
        return passages(self.rows)


def arguments(site: NginxSite) -> tuple[str, ...]:
    return ("crawl", "docs", "-a", f"url={site.url}", "-a", "full=1")


def crawl(site: NginxSite, state: Path, settings: dict[str, object] = SETTINGS) -> None:
    done = scrapy(*arguments(site), state=state, settings=settings)
    assert done.returncode == 0, done.stderr[-3000:]


def crash(where: str, site: NginxSite, state: Path) -> None:
    """Crawl in a process that is killed when it reaches a seam."""
    # That takes two publishes: pages must not come in one go.
    settings = SLOW if where == Seam.INDEX_DROPPED else SETTINGS
    line = command(arguments(site), state, "hash", 0, settings)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.crash_at", where, *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, f"never at {where}: {done.stderr[-3000:]!r}"


def kill_after(seconds: float, site: NginxSite, state: Path, log: Path) -> bool:
    """Kill a crawl some time after it asked for its first page; False if it had ended by itself."""
    site.clear()
    process = start_scrapy(*arguments(site), state=state, log=log, settings=SLOW)
    for _ in range(600):
        if any(asked.path.endswith(".html") for asked in site.requests()):
            break
        time.sleep(0.02)
    else:
        raise AssertionError(f"the crawl asked for no page: {log.read_text()[-2000:]}")
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return process.wait(10) == -signal.SIGKILL


def converges(step: Step, state: Path) -> None:
    """Crawl undisturbed: all is as after a first crawl, and nothing is left of the killed run."""
    crawl(step.site, state)
    assert exported(state) == step.rows
    current = generation(state)
    assert index_files(step, state) == {f"{current}.faiss", f"{current}.json"}


def index_files(step: Step, state: Path) -> set[str]:
    return {path.name for path in (state / step.name / "index").iterdir()}


def is_switched(where: str) -> bool:
    """Tell whether readers have the new generation once a seam is reached."""
    order = list(Seam)
    return order.index(Seam(where.partition(":")[0])) >= order.index(Seam.SWITCHED)


def left_at(where: str, before: int) -> set[str]:
    """Return the index files that are there at a seam of a recrawl, after generation ``before``."""
    old = {f"{before}.faiss", f"{before}.json"}
    index, manifest = f"{before + 1}.faiss", f"{before + 1}.json"
    left = {
        Seam.INDEX_WRITTEN: {*old, f"{index}.tmp"},
        Seam.INDEX_CHECKED: {*old, f"{index}.tmp"},
        Seam.INDEX_NAMED: {*old, index},
        Seam.MANIFEST_WRITTEN: {*old, index, f"{manifest}.tmp"},
        Seam.MANIFEST_NAMED: {*old, index, manifest},
        Seam.INDEX_DROPPED: {f"{before}.json", index, manifest},
        Seam.TIDIED: {index, manifest},
        Seam.REPORTED: {index, manifest},
    }
    both = {*old, index, manifest} if is_switched(where) else old
    return left.get(Seam(where.partition(":")[0]), both)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_versions(tmp_path_factory.mktemp("docs"))


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory, trees: tuple[Path, Path]) -> Iterator[Step]:
    if nginx_path() is None:
        pytest.skip("nginx is not installed")
    with NginxSite(tmp_path_factory.mktemp("nginx")) as site:
        yield first_crawl(site, trees[0], tmp_path_factory.mktemp("old") / "state")


@pytest.fixture(scope="module")
def new(old: Step, tmp_path_factory: pytest.TempPathFactory, trees: tuple[Path, Path]) -> Step:
    """Return the version that the site has from here on."""
    return first_crawl(old.site, trees[1], tmp_path_factory.mktemp("new") / "state")


def first_crawl(site: NginxSite, tree: Path, state: Path) -> Step:
    site.deploy(tree)
    crawl(site, state, SLOW)
    report = last_run(state)
    return Step(site, state, exported(state), report.finished_at - report.started_at)


@pytest.mark.parametrize("where", PLACES)
def test_kill_at_a_step_of_a_recrawl(where: str, old: Step, new: Step, state: Path) -> None:
    shutil.copytree(old.state, state)
    with Watcher(state, old.name) as watcher:
        watcher.wait()
        crash(where, new.site, state)
        assert index_files(old, state) == left_at(where, generation(old.state))
        watcher.wait()
        assert watcher.answers[-1] == (new if is_switched(where) else old).answer
        converges(new, state)
        watcher.wait()
    assert_only(watcher, old.answer, new.answer)
    assert watcher.answers == [old.answer, new.answer]


@pytest.mark.parametrize("where", PLACES)
def test_kill_at_a_step_of_a_first_crawl(where: str, new: Step, state: Path) -> None:
    """It publishes while it crawls, so most steps come before the last page was asked for."""
    with Watcher(state, new.name) as watcher:
        crash(where, new.site, state)
        watcher.wait()
        assert any(watcher.answers) == is_switched(where)
        converges(new, state)
        watcher.wait()
    assert_grows(watcher, new.answer)
    assert watcher.answers[-1] == new.answer


@pytest.mark.parametrize("seed", range(4))
def test_kill_at_a_random_moment_of_a_recrawl(
    seed: int, old: Step, new: Step, tmp_path: Path
) -> None:
    for moment, place in moments(seed, 0.0, new.seconds, tmp_path):
        state = place / "state"
        shutil.copytree(old.state, state)
        with Watcher(state, old.name) as watcher:
            if not kill_after(moment, new.site, state, place / "log"):
                continue
            watcher.wait()
            converges(new, state)
            watcher.wait()
        assert_only(watcher, old.answer, new.answer)
        break


@pytest.mark.parametrize("seed", range(4))
def test_kill_at_a_random_moment_of_a_first_crawl(seed: int, new: Step, tmp_path: Path) -> None:
    for moment, place in moments(seed, 0.0, new.seconds, tmp_path):
        state = place / "state"
        with Watcher(state, new.name) as watcher:
            if not kill_after(moment, new.site, state, place / "log"):
                continue
            watcher.wait()
            converges(new, state)
            watcher.wait()
        assert_grows(watcher, new.answer)
        assert watcher.answers[-1] == new.answer
        break
