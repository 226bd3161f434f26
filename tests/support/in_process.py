"""Crawls in this process: the real spider and components over a server that is a model."""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.settings import Settings

from freshcrawl import seams
from freshcrawl.extensions import get_extension
from freshcrawl.spiders.docs import DocsSpider
from freshcrawl.stopping import StoppableCrawler
from tests.support.cuts import Cut, Saboteur, WatchedEmbedder
from tests.support.site_server import Faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.http import Response

    from freshcrawl.core.report import RunReport
    from tests.support.site_server import SiteServer

EMBEDDER = "tests.support.cuts.WatchedEmbedder"
NAME = "docs"
UNUSED = ("corestats.CoreStats", "logstats.LogStats", "memusage.MemoryUsage")
QUIET: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DOWNLOAD_DELAY": 0,
    "EXTENSIONS": {f"scrapy.extensions.{name}": None for name in UNUSED},
    "RETRY_TIMES": 0,
    "STATS_DUMP": False,
    "FRESHCRAWL_EMBEDDER_CLASS": EMBEDDER,
    "FRESHCRAWL_PROGRESS_SECS": 0,
}


class ModelHandler(BaseDownloadHandler):
    """Download handler that asks a SiteServer; each run has a subclass with its own."""

    server: ClassVar[SiteServer]

    async def download_request(self, request: Request) -> Response:
        """Return the server's answer, after the event loop had a turn."""
        await asyncio.sleep(0)
        reply = self.server.respond(request)
        headers = Headers(reply.headers)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=reply.body)
        return kind(url=request.url, status=reply.status, headers=headers, body=reply.body)


@dataclass(slots=True)
class Ended:
    """How a run ended."""

    report: RunReport | None
    killed: bool
    embedded: list[str] = field(default_factory=list)
    """Texts that were embedded."""
    struck: set[str] = field(default_factory=set)
    """What really befell it: cuts by their ``how``, a kill also as ``kill at <where>``; faults."""

    @property
    def went_well(self) -> bool:
        """Whether the run ended by itself and all its work is done."""
        report = self.report
        return not self.killed and report is not None and report.status == "ok"


class Place:
    """A state folder, its ``sites.toml`` and an event loop; crawls happen one after another."""

    def __init__(self, folder: Path, table: str) -> None:
        self.folder = folder
        self.state = folder / "state"
        self._dead = 0
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sites.toml").write_text(f"[sites.{NAME}]\n{table}", encoding="utf-8")

    def settings(self, given: Mapping[str, Any], *, commanded: bool = False) -> Settings:
        """Return the project's settings with those of this place and ``given``."""
        settings = Settings()
        settings.setmodule("freshcrawl.settings", priority="project")
        ours = {
            "FRESHCRAWL_STATE_DIR": str(self.state),
            "FRESHCRAWL_SITES": str(self.folder / "sites.toml"),
        }
        settings.setdict({**QUIET, **ours}, priority="project")
        settings.setdict(dict(given), priority="cmdline" if commanded else "project")
        return settings

    def crawl(
        self,
        runner: asyncio.Runner,
        server: SiteServer,
        settings: Mapping[str, Any],
        *,
        now: float,
        faults: Faults | None = None,
        cut: Cut | None = None,
        full: bool = False,
        commanded: bool = False,
    ) -> Ended:
        """Crawl once, as a process would; a run that is killed leaves what it had on the disk.

        ``now`` is what the server's run is called by (epoch seconds).
        """
        cut = cut or Cut()
        copy = self.folder / "killed"
        saboteur = Saboteur(cut, self.state, copy)
        handler = type("RunHandler", (ModelHandler,), {"server": server})
        more: dict[str, Any] = {"DOWNLOAD_HANDLERS": {"http": handler, "https": None}}
        if cut.how == "pages":
            more["CLOSESPIDER_PAGECOUNT"] = cut.number
        WatchedEmbedder.fails_at = cut.number if cut.how == "embedder" else 0
        first_text = len(WatchedEmbedder.texts)
        server.begin(faults or Faults(), now)
        server.on_request = saboteur.at_request
        built = self.settings({**settings, **more}, commanded=commanded)
        with seams.listening(saboteur.at_seam):
            report = runner.run(_crawl(built, saboteur, full=full))
        if saboteur.killed:
            self._bury(copy)
        embedded = WatchedEmbedder.texts[first_text:]
        ended = Ended(
            report, saboteur.killed, embedded, {*server.struck, *_struck(saboteur, report)}
        )
        WatchedEmbedder.fails_at = 0
        server.end(whole=ended.went_well)
        return ended

    def _bury(self, copy: Path) -> None:
        """Put what a killed run left in the place of what it went on to write."""
        self._dead += 1
        self.state.rename(self.folder / f"dead-{self._dead}")
        copy.rename(self.state)


def _struck(saboteur: Saboteur, report: RunReport | None) -> set[str]:
    """Return what a cut did, of a run that has ended."""
    cut = saboteur.cut
    struck = saboteur.struck
    if cut.how == "embedder":
        struck = not WatchedEmbedder.fails_at
    elif cut.how == "pages":
        struck = report is not None and report.finish_reason == "closespider_pagecount"
    if not cut.how or not struck:
        return set()
    return {cut.how, f"{cut.how} at {cut.where}"}


async def _crawl(settings: Settings, saboteur: Saboteur, *, full: bool) -> RunReport | None:
    stops: list[asyncio.Task[None]] = []

    def stopping() -> None:
        extension = get_extension(crawler)
        if extension is not None:
            extension.stop_soon()

    def stop() -> None:
        stops.append(asyncio.ensure_future(crawler.stop_async()))

    def opened(**_: Any) -> None:
        if extension := get_extension(crawler):
            saboteur.state = extension._state

    def at_item(**_: Any) -> None:
        saboteur.at_item()

    crawler = StoppableCrawler(DocsSpider, settings, stopping)
    saboteur.stop = stop
    crawler.signals.connect(opened, signals.spider_opened, weak=False)
    # Before the extension's own, so that the item is not committed yet.
    crawler.signals.connect(at_item, signals.item_scraped, weak=False)
    arguments = {"site": NAME, **({"full": "1"} if full else {})}
    await AsyncCrawlerRunner(settings).crawl(crawler, **arguments)
    for task in stops:
        await task
    extension = get_extension(crawler)
    return extension.run.report if extension else None


def work_folder(name: str) -> Path:
    """Return a new folder for a test's state, in memory where there is such a place."""
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix=name, dir=where))
