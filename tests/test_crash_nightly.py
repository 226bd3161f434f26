"""kill -9 at random moments of large crawls, while somebody asks: too long for every run."""

from __future__ import annotations

import shutil
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.draws import moments
from tests.support.nginx import NginxSite, nginx_path
from tests.support.project import export_without_clocks, scrapy, start_scrapy
from tests.support.watching import Watcher, assert_grows, assert_only, passages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.nginx, pytest.mark.nightly]

EARLIEST_S = 1.0
PAUSE_S = 0.3
"""Between two questions for all of thousands of passages."""


@dataclass
class Step:
    """A served version of SQLAlchemy's docs, and what an undisturbed crawl of it exports."""

    site: NginxSite
    state: Path
    """State of an undisturbed first crawl."""
    rows: list[dict[str, Any]]
    seconds: float
    """How long the crawl takes, undisturbed, that is to be killed."""

    @property
    def name(self) -> str:
        """Name of the site in its state."""
        return f"127.0.0.1-{self.site.port}"


def crawl(site: NginxSite, state: Path) -> float:
    """Crawl undisturbed; return how many seconds it took."""
    began = time.monotonic()
    done = scrapy(
        "crawl", "docs", "-a", f"url={site.url}", "-a", "full=1", state=state, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return time.monotonic() - began


def kill_after(seconds: float, site: NginxSite, state: Path, log: Path) -> bool:
    """Kill a crawl some time after its start; False if it had ended by itself."""
    process = start_scrapy(
        "crawl", "docs", "-a", f"url={site.url}", "-a", "full=1", state=state, log=log
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return process.wait(10) == -signal.SIGKILL


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NginxSite]:
    if nginx_path() is None:
        pytest.skip("nginx is not installed")
    with NginxSite(tmp_path_factory.mktemp("nginx")) as site:
        yield site


@pytest.fixture(scope="module")
def old(site: NginxSite, tmp_path_factory: pytest.TempPathFactory, sqlalchemy_43: Path) -> Step:
    site.deploy(sqlalchemy_43)
    state = tmp_path_factory.mktemp("old") / "state"
    seconds = crawl(site, state)
    return Step(site, state, export_without_clocks(state), seconds)


@pytest.fixture(scope="module")
def new(old: Step, tmp_path_factory: pytest.TempPathFactory, sqlalchemy_44: Path) -> Step:
    old.site.deploy(sqlalchemy_44)
    state = tmp_path_factory.mktemp("new") / "state"
    crawl(old.site, state)
    recrawled = state.with_name("recrawled")
    shutil.copytree(old.state, recrawled)
    seconds = crawl(old.site, recrawled)
    return Step(old.site, state, export_without_clocks(state), seconds)


@pytest.mark.parametrize("seed", range(25))
def test_kill_in_a_first_crawl(seed: int, old: Step, tmp_path: Path) -> None:
    for moment, place in moments(seed, EARLIEST_S, old.seconds, tmp_path):
        state = place / "state"
        with Watcher(state, old.name, PAUSE_S) as watcher:
            if not kill_after(moment, old.site, state, place / "log"):
                continue
            watcher.wait()
            crawl(old.site, state)
            watcher.wait()
        assert export_without_clocks(state) == old.rows
        assert_grows(watcher, passages(old.rows))
        assert watcher.answers[-1] == passages(old.rows)
        break


@pytest.mark.parametrize("seed", range(25))
def test_kill_in_a_recrawl(seed: int, old: Step, new: Step, tmp_path: Path) -> None:
    for moment, place in moments(seed, EARLIEST_S, new.seconds, tmp_path):
        state = place / "state"
        shutil.copytree(old.state, state)
        with Watcher(state, old.name, PAUSE_S) as watcher:
            watcher.wait()
            if not kill_after(moment, new.site, state, place / "log"):
                continue
            assert export_without_clocks(state) in (old.rows, new.rows)
            crawl(new.site, state)
            watcher.wait()
        assert export_without_clocks(state) == new.rows
        assert_only(watcher, passages(old.rows), passages(new.rows))
        break
