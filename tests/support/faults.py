"""A published site to which something happens, and what must be true of it then."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.answers import export_rows, search
from freshcrawl.config import Config
from freshcrawl.core.pages import Status
from freshcrawl.reader import SiteReader
from freshcrawl.state import open_for_reading
from tests.support.embedder import HashEmbedder
from tests.support.origin import page
from tests.support.project import CLOCKS, REPO, Result, command, environment, scrapy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.origin import Origin

PAGES = [f"/p{number}" for number in range(9)]
QUESTION = "orchard of page p4"
STAGING = "freshcrawl.run:Run.commit:2"
"""The commit of what a run found; the first says that it began."""


def second_version(site: Site) -> None:
    """Have all pages another text, and one gone."""
    site.write("meadow", gone=1)


@dataclass
class Site:
    """A site and its state folder."""

    origin: Origin
    state: Path

    @property
    def name(self) -> str:
        """Its name."""
        return f"127.0.0.1-{self.origin.port}"

    @property
    def folder(self) -> Path:
        """Its own folder of the state."""
        return self.state / self.name

    @property
    def crawl_args(self) -> tuple[str, ...]:
        """The command that looks at every page."""
        return ("crawl", "docs", "-a", f"url={self.origin.url}", "-a", "full=1")

    def write(self, words: str, *, gone: int = 0) -> None:
        """Serve all pages with other words; the last ``gone`` of them are taken down."""
        self.origin.answers.clear()
        paths = PAGES[: len(PAGES) - gone]
        for path in paths:
            lines = (
                f"The {words} of page {path[1:]}, line {n}: " + f"{words} {path} {n} " * 40
                for n in range(6)
            )
            self.origin[path] = page(f"{words} {path}", *lines)
        self.origin.serve_sitemap(*paths)

    def crawl(self, *, settings: Mapping[str, object] | None = None) -> Result:
        """Crawl in a child process."""
        return scrapy(*self.crawl_args, state=self.state, settings=settings)

    def crawl_with(
        self, fault: str, place: str, *, settings: Mapping[str, object] | None = None
    ) -> Result:
        """Crawl in a child process to which something happens."""
        return run_with(fault, place, *self.crawl_args, state=self.state, settings=settings)

    def rows(self) -> list[dict[str, Any]]:
        """Return what ``scrapy export`` gives, in this process; clocks aside, and what is stale."""
        state = open_for_reading(Config(state_dir=str(self.state)), self.name)
        try:
            rows = list(export_rows(state, now=time.time(), max_age=1e9))
        finally:
            state.close()
        left_out = {*CLOCKS, "stale"}
        return [{name: row[name] for name in row if name not in left_out} for row in rows]

    def texts(self) -> list[str]:
        """Return the passages that are in the answers."""
        return [row["text"] for row in self.rows()]

    def answers(self) -> list[str]:
        """Return the passages that a question finds, in this process."""
        reader = SiteReader(Config(state_dir=str(self.state)), self.name)
        try:
            hits = search(
                [reader], HashEmbedder(), QUESTION, 3, now=time.time(), max_ages={self.name: 1e9}
            )
        finally:
            reader.close()
        return [hit.text for hit in hits]

    def agrees(self) -> None:
        """Check that records, corpus and index say the same, and that nothing waits."""
        state = open_for_reading(Config(state_dir=str(self.state)), self.name)
        try:
            snapshot = state.corpus.snapshot()
            try:
                published = {page.key: page.status for page in snapshot.pages()}
                ids = {chunk.id for chunk in snapshot.chunks()}
                vectors = [chunk_id for chunk_id, _ in snapshot.vectors()]
                index = state.index.open(snapshot.generation)
            finally:
                snapshot.close()
            records = {key: record.status for key, record in state.pages().items()}
            assert published == {key: records[key] for key in published}
            assert {key for key, status in records.items() if status == Status.LIVE} <= set(
                published
            )
            assert list(state.staged()) == []
            assert len(index) == len(vectors) == len(ids)
            assert set(vectors) == ids
            assert not list(self.folder.glob("index/*.tmp"))
        finally:
            state.close()

    def last_run(self) -> tuple[str, str]:
        """Return status and error of the last run's report, in this process."""
        state = open_for_reading(Config(state_dir=str(self.state)), self.name)
        try:
            last = state.reports()[-1]
        finally:
            state.close()
        return last.status, last.error

    def copied(self, state: Path) -> Site:
        """Return the same site with a copy of its state."""
        shutil.copytree(self.state, state)
        return Site(self.origin, state)


def run_with(
    fault: str,
    place: str,
    *args: str,
    state: Path,
    settings: Mapping[str, object] | None = None,
) -> Result:
    """Run ``scrapy`` in a child process to which something happens; see ``fault_at``."""
    line = command(args, state, "hash", 0, settings)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.fault_at", fault, place, *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)
