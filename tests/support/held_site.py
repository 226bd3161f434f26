"""A site whose answers can be held back, and what a crawl of it has left in its state."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Any

from freshcrawl.answers import export_rows
from freshcrawl.config import Config
from freshcrawl.state import open_for_reading, site_names
from tests.support.origin import Answer, Origin, page
from tests.support.project import CLOCKS, scrapy, start_scrapy

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from freshcrawl.core.report import RunReport

PAGES = [f"/p{number:02}" for number in range(48)]
SETTINGS: dict[str, object] = {
    "FRESHCRAWL_COMMIT_EVERY": 8,
    "FRESHCRAWL_EMBED_BATCH": 2,
    "FRESHCRAWL_PROGRESS_SECS": 0.05,
}


class Gate:
    """Lets ``first`` requests through; later ones wait until ``opened`` is set."""

    def __init__(self, first: int) -> None:
        self._left = first
        self._lock = threading.Lock()
        self.reached = threading.Event()
        self.opened = threading.Event()

    def holds(self, answer: Answer) -> Callable[[], Answer]:
        """Return what gives an answer, in a thread of the server, when the gate lets it go."""

        def late() -> Answer:
            with self._lock:
                self._left -= 1
                waits = self._left < 0
            if waits:
                self.reached.set()
                self.opened.wait(60)
            return answer

        return late


class Site:
    """A site of 48 pages whose answers can be held back."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.gate = Gate(0)
        for path in PAGES:
            origin[path] = page(
                path,
                f"The text of {path} says how to turn the handle and when to wait for the bell.",
            )
        origin.serve_sitemap(*PAGES)
        origin.paths()

    def hold(self, *paths: str, after: int = 0) -> Gate:
        """Hold the answers of these paths back, but for the first few that are asked for."""
        self.gate = Gate(after)
        for path in paths:
            answer = self.origin.answers[path]
            assert isinstance(answer, Answer)
            self.origin[path] = self.gate.holds(answer)
        return self.gate

    def open(self) -> None:
        """Send what is held back."""
        self.gate.opened.set()

    def asked(self) -> set[str]:
        """Return the pages that were asked for since the last call."""
        return {path for path in self.origin.paths() if path in PAGES}

    def start(self, state: Path, log: Path, **settings: object) -> subprocess.Popen[bytes]:
        """Start a crawl of everything."""
        args = ("crawl", "docs", "-a", f"url={self.origin.url}", "-a", "full=1")
        return start_scrapy(*args, state=state, log=log, settings={**SETTINGS, **settings})

    def crawl(self, state: Path, *args: str) -> None:
        """Crawl what is due, undisturbed."""
        args = ("crawl", "docs", "-a", f"url={self.origin.url}", *args)
        done = scrapy(*args, state=state, settings=SETTINGS)
        assert done.returncode == 0, done.stderr[-2000:]


def read(state: Path) -> tuple[list[dict[str, Any]], RunReport]:
    """Return the exported rows of the only site, without clocks, and its last report."""
    config = Config(state_dir=str(state))
    [name] = site_names(config)
    opened = open_for_reading(config, name)
    try:
        rows = export_rows(opened, now=time.time(), max_age=config.max_age_secs)
        kept = [{name: row[name] for name in row.keys() - set(CLOCKS)} for row in rows]
        return kept, opened.reports()[-1]
    finally:
        opened.close()


def generation(state: Path) -> int:
    """Return the generation that readers get."""
    config = Config(state_dir=str(state))
    [name] = site_names(config)
    opened = open_for_reading(config, name)
    snapshot = opened.corpus.snapshot()
    try:
        return snapshot.generation
    finally:
        snapshot.close()
        opened.close()


def exported(state: Path) -> list[dict[str, Any]]:
    return read(state)[0]


def last_run(state: Path) -> RunReport:
    return read(state)[1]


def wait_for(log: Path, words: str) -> None:
    """Wait until a log file holds what a pattern describes."""
    until = time.monotonic() + 30
    while not (log.exists() and re.search(words, log.read_text())):
        assert time.monotonic() < until, f"no {words!r} in {log.read_text()[-2000:]}"
        time.sleep(0.02)


def concluded(site: Site, state: Path) -> set[str]:
    """Return the paths whose outcome was recorded."""
    config = Config(state_dir=str(state))
    [name] = site_names(config)
    opened = open_for_reading(config, name)
    try:
        records = opened.pages().values()
        return {f"/{r.url.removeprefix(site.origin.url)}" for r in records if r.last_checked}
    finally:
        opened.close()
