"""A modelled site, crawled in this process by a clock that moves, and a person who decides."""

from __future__ import annotations

import asyncio
import shutil
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from freshcrawl.approving import Choice, Decided, approve, discard
from freshcrawl.cli import worst
from freshcrawl.clock import make_clock
from freshcrawl.commands.status import CODES
from freshcrawl.config import Config
from freshcrawl.core.pages import Status
from freshcrawl.policies import schedule_policy
from freshcrawl.problems import site_problems
from freshcrawl.site_status import site_status
from freshcrawl.state import SiteState, make_embedder, open_for_reading, open_for_writing
from freshcrawl.verify import verify_folder
from tests.support.convergence_views import View, view_of
from tests.support.cuts import WatchedEmbedder
from tests.support.in_process import NAME, Ended, Place, work_folder
from tests.support.site_model import HOME, Page, SiteModel, key_of
from tests.support.site_server import SiteServer
from tests.support.site_texts import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from freshcrawl.core.listings import Source
    from freshcrawl.core.report import RunReport
    from tests.support.site_server import Faults

HOUR = 3_600.0


class DecidedSite:
    """A site of numbered pages, found by its sitemap or by the links of its start page."""

    def __init__(
        self, size: int, *, by_links: bool = False, table: str = "", seed: int = 7
    ) -> None:
        self.site = SiteModel(seed, 0, by_links=by_links, nested=False)
        self.paths = [f"/p{number:02}" for number in range(size)]
        for path in self.paths:
            self.site.pages[path] = Page(path, self._text())
        self.server = SiteServer(self.site)
        self.link()
        self.folder = work_folder("freshcrawl-decided-")
        discovery = "links" if by_links else "sitemap"
        self.table = f'url = "http://docs.test/"\ndiscovery = "{discovery}"\n{table}'
        self.place = Place(self.folder, self.table)
        self.runner = asyncio.Runner()
        self.offset = 0.0
        self.ended: Ended | None = None

    def close(self) -> None:
        """End it."""
        self.runner.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _text(self) -> Text:
        """Return a text that is about as long as any other."""
        texts = self.site._texts
        return Text(texts.title(), tuple(("p", texts.paragraph()) for _ in range(4)))

    def set_table(self, more: str) -> None:
        """Add keys to the site's table in ``sites.toml``."""
        text = f"[sites.{NAME}]\n{self.table}{more}"
        (self.folder / "sites.toml").write_text(text, encoding="utf-8")

    # -- the site ---------------------------------------------------------

    def link(self) -> None:
        """Have the start page link to all pages that are listed."""
        if self.site.by_links:
            home = self.site.pages[HOME]
            home.links = [p.path for p in self.site.pages.values() if p.listed and p is not home]
            home.revision += 1

    def drop(self, paths: Iterable[str], status: int = 404, *, listed: bool = False) -> None:
        """Take pages away."""
        for path in paths:
            self.site.pages[path].status = status
            self.site.pages[path].listed = listed
        self.link()

    def bring_back(self, paths: Iterable[str]) -> None:
        """Let pages answer again."""
        for path in paths:
            self.site.bring_back(self.site.pages[path])
        self.link()

    def rewrite(self, paths: Iterable[str]) -> None:
        """Give pages a text of which no word is as it was."""
        for path in paths:
            self.site._say(self.site.pages[path], self._text())

    def add(self, path: str) -> None:
        """Add a page."""
        self.site.pages[path] = Page(path, self._text())
        self.link()

    # -- runs and people --------------------------------------------------

    @property
    def now(self) -> float:
        """Epoch seconds by the runs' clock."""
        return time.time() + self.offset

    def config(self, **given: Any) -> Config:
        """Return the settings of a command that is called now."""
        offset = {"FRESHCRAWL_CLOCK_OFFSET_SECS": self.offset}
        return Config.from_settings(self.place.settings({**offset, **given}))

    def crawl(self, hours: float = 0.0, **how: Any) -> RunReport:
        """Let hours go by, and crawl what is due."""
        self.offset += hours * HOUR
        settings = {"FRESHCRAWL_CLOCK_OFFSET_SECS": self.offset, **how.pop("settings", {})}
        self.ended = self.place.crawl(self.runner, self.server, settings, now=self.now, **how)
        report = self.ended.report
        assert report is not None
        assert report.status == "ok" or self.ended.killed, report.error
        self._check_held(report)
        return report

    def _check_held(self, report: RunReport) -> None:
        """No run ends with held work that it has not looked at again."""
        since = report.started_at
        with self.reader() as state:
            held = [entry.key for entry in state.staged() if entry.held]
            looked_at = {
                k for k, r in state.pages().items() if r.left_out or r.last_attempt > since
            }
        assert set(held) <= looked_at
        assert len(held) == report.held

    @contextmanager
    def writer(self) -> Iterator[SiteState]:
        """Open the state as a command does that writes."""
        state = open_for_writing(self.config(), NAME, "test", self.now)
        try:
            yield state
        finally:
            state.close()

    @contextmanager
    def reader(self) -> Iterator[SiteState]:
        """Open the state as a command does that reads."""
        state = open_for_reading(self.config(), NAME)
        try:
            yield state
        finally:
            state.close()

    def approve(self, *classes: str, paths: Iterable[str] = ()) -> Decided:
        """Approve what is held, or some of it."""
        config = self.config()
        choice = Choice(frozenset(classes), frozenset(map(key_of, paths)))
        with self.writer() as state:
            clock = make_clock(self.offset)
            return approve(state, config, lambda: make_embedder(config), choice, clock)

    def discard(self, *classes: str, paths: Iterable[str] = ()) -> Decided:
        """Discard what is held, or some of it."""
        choice = Choice(frozenset(classes), frozenset(map(key_of, paths)))
        with self.writer() as state:
            return discard(state, choice, make_clock(self.offset))

    # -- what is seen -----------------------------------------------------

    @property
    def view(self) -> View:
        """What a reader and the records have now."""
        return view_of(self.config(), self.now)

    def live(self) -> set[str]:
        """Return the paths of the pages in the answers, but for the start page."""
        with self.reader() as state, closing(state.corpus.snapshot()) as snapshot:
            live = {page.key for page in snapshot.pages() if page.status == Status.LIVE}
        return {path for path in self.site.pages if key_of(path) in live} - {HOME}

    def held(self) -> set[str]:
        """Return the paths of the pages with held work."""
        with self.reader() as state:
            held = {entry.key for entry in state.staged() if entry.held}
        return {path for path in self.site.pages if key_of(path) in held}

    def shows(self, path: str) -> bool:
        """Tell whether the answers have the text of a page as the site has it now."""
        words = self.site.pages[path].text.blocks[0][1]
        return any(words in text for text in self.view.texts().get(key_of(path), []))

    def sources(self) -> list[Source]:
        """Return the discovery sources as they are kept."""
        with self.reader() as state:
            return list(state.sources())

    def server_fails(self, path: str, faults: Faults) -> bool:
        """Tell whether faults of the server are on a page."""
        self.server.faults = faults
        return bool(self.server._fault_of(path, faults.pages))

    def status(self) -> dict[str, Any]:
        """Return what ``scrapy status`` says."""
        with self.reader() as state:
            return site_status(state, self.now, schedule_policy(self.config()))

    def check(self) -> int:
        """Return the exit code of ``scrapy status --check``."""
        problems = site_problems(self.status(), self.now, self.config())
        return worst(CODES[problem.kind] for problem in problems)

    def found_wrong(self) -> list[str]:
        """Return what ``scrapy verify`` finds."""
        found = verify_folder(self.place.state / NAME, WatchedEmbedder())
        return [f"{finding.kind} {finding.where}: {finding.what}" for finding in found]
