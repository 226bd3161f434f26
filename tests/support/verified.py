"""A crawled site for tests of ``scrapy verify``, looked at and repaired in this process."""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.answers import export_rows, search
from freshcrawl.config import Config
from freshcrawl.reader import SiteReader
from freshcrawl.state import open_for_reading, open_for_writing
from freshcrawl.verify import damages, verify_folder
from freshcrawl.verify.repair import Healed, Repair
from tests.support.embedder import HashEmbedder
from tests.support.origin import Answer, Origin, page
from tests.support.project import CLOCKS, scrapy

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.verify import Kind

DAY = 86_400
LONG = [f"Paragraph {n} tells about the {n}th option in a few words or more." for n in range(60)]
MODEL = HashEmbedder()
QUESTION = "the 40th option"


@dataclass
class Site:
    """A crawled site and its state folder."""

    origin: Origin
    state: Path

    @property
    def name(self) -> str:
        """Name of the site."""
        return f"127.0.0.1-{self.origin.port}"

    @property
    def folder(self) -> Path:
        """Its own folder of the state."""
        return self.state / self.name

    def config(self) -> Config:
        """Return the settings."""
        return Config(state_dir=str(self.state))

    def crawl(self, day: int = 0) -> None:
        """Crawl what is due some days after the first crawl."""
        done = scrapy(
            "crawl", "docs", "-a", f"url={self.origin.url}", state=self.state,
            clock_offset_s=day * DAY,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]

    def found(self) -> list[tuple[Kind, bool]]:
        """Return the kinds of what is found, and whether it is damage."""
        return sorted({(f.kind, f.damage) for f in verify_folder(self.folder, MODEL)})

    def damage(self) -> set[Kind]:
        """Return the kinds of damage."""
        return {finding.kind for finding in damages(verify_folder(self.folder, MODEL))}

    def repair(self) -> Healed:
        """Mend it."""
        state = open_for_writing(self.config(), self.name, "test", 0.0)
        try:
            return Repair(state, self.config(), MODEL, time.time).heal()
        finally:
            state.close()

    def generations(self) -> list[int]:
        """Return the numbers of the generations that are kept."""
        state = open_for_reading(self.config(), self.name)
        try:
            with closing(state.corpus.snapshot()) as snapshot:
                return snapshot.generations()
        finally:
            state.close()

    def statuses(self) -> dict[str, str]:
        """Return the status of each page's record, by key."""
        state = open_for_reading(self.config(), self.name)
        try:
            return {key: str(record.status) for key, record in state.pages().items()}
        finally:
            state.close()

    def passages(self) -> list[dict[str, Any]]:
        """Return what ``export`` prints, without the clocks."""
        state = open_for_reading(self.config(), self.name)
        try:
            rows = list(export_rows(state, now=time.time(), max_age=1e9))
        finally:
            state.close()
        hidden = {*CLOCKS, "stale"}
        return [{name: row[name] for name in row if name not in hidden} for row in rows]

    def answers(self) -> list[tuple[str, float]]:
        """Return the best answers to a question."""
        reader = SiteReader(self.config(), self.name)
        try:
            hits = search([reader], MODEL, QUESTION, 5, now=0.0, max_ages={self.name: 1e9})
        finally:
            reader.close()
        return [(hit.text, hit.score) for hit in hits]


def aged_site(origin: Origin, state: Path) -> Site:
    """Return a site of three generations: a page changed in the second, one left in the third.

    ``first.sqlite`` beside ``state`` is the corpus of the first.
    """
    paths = [f"/{name}" for name in "abcdef"]
    for path in paths:
        origin[path] = page(path, f"The text of {path}.", *LONG[: 60 if path == "/b" else 12])
    origin.serve_sitemap(*paths)
    site = Site(origin, state)
    site.crawl()
    shutil.copy(site.folder / "corpus.sqlite", state.parent / "first.sqlite")
    origin["/c"] = page("/c", "Another text of /c.", *LONG[:16])
    site.crawl(day=20)
    origin["/f"] = Answer("gone", 410)
    site.crawl(day=40)
    assert site.found() == []
    return site
