"""A site of a few paths for crawls in process: what it answers, and what it was asked for."""

from __future__ import annotations

import hashlib
import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from freshcrawl import cli
from freshcrawl.answers import search
from freshcrawl.config import Config
from freshcrawl.reader import SiteReader
from freshcrawl.state import SiteState, open_for_reading, open_for_writing
from freshcrawl.verify import verify_folder
from tests.support.embedder import HashEmbedder
from tests.support.in_process import EMBEDDER, NAME, Ended, Place
from tests.support.origin import Answer, page, urlset
from tests.support.site_model import ROOT, url_of
from tests.support.site_server import Faults, Reply

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from pathlib import Path

    from scrapy import Request

    from freshcrawl.verify.findings import Finding
    from tests.support.site_server import SiteServer

MODEL = HashEmbedder()
NOW = time.time()
XML = "application/xml"


@dataclass
class QuickServer:
    """Answers by path; a stand-in for ``SiteServer``."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Paths of this run, in order."""
    struck: set[str] = field(default_factory=set)
    on_request: Callable[[int], None] = lambda number: None

    def begin(self, faults: Faults, now: float) -> None:
        """Begin a run."""
        self.asked.clear()

    def end(self, *, whole: bool) -> None:
        """End a run."""

    def respond(self, request: Request) -> Reply:
        """Answer a request."""
        parts = urlsplit(request.url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        self.asked.append(path)
        self.on_request(len(self.asked))
        answer = self.answers.get(path, Answer("", 404))
        etag = f'"{hashlib.sha256(answer.content).hexdigest()[:16]}"'
        headers = {"Content-Type": answer.content_type, "ETag": etag, **answer.headers}
        if answer.status == 200 and request.headers.get("If-None-Match") == etag.encode():
            return Reply(304, b"", headers)
        return Reply(answer.status, answer.content, headers)


class QuickSite:
    """A site, its state folder, and crawls of it."""

    def __init__(self, folder: Path, runner: asyncio.Runner, table: str = "") -> None:
        self.server = QuickServer()
        self._runner = runner
        self.place = Place(folder, f'url = "{ROOT}"\n{table}')
        self.config = Config(
            state_dir=str(self.place.state), sites=str(folder / "sites.toml"),
            embedder_class=EMBEDDER,
        )  # fmt: skip

    @property
    def folder(self) -> Path:
        """The site's own folder of the state."""
        return self.place.state / NAME

    def copied(self, folder: Path, runner: asyncio.Runner) -> QuickSite:
        """Return a site with the same answers and a copy of the state, below ``folder``."""
        copy = QuickSite(folder, runner)
        copy.server.answers = dict(self.server.answers)
        shutil.copytree(self.place.state, copy.place.state)
        return copy

    def serve(self, path: str, *paragraphs: str, **more: str) -> None:
        """Let a path answer with a page of some paragraphs."""
        self.server.answers[path] = Answer(page(f"Page {path}", *paragraphs, **more))

    def on_sitemap(self, *paths: str) -> None:
        """Let the sitemap list some paths."""
        entries = "".join(f"<url><loc>{url_of(path)}</loc></url>" for path in paths)
        self.server.answers["/sitemap.xml"] = Answer(urlset(entries), content_type=XML)

    def crawl(self, *, full: bool = True, **settings: Any) -> Ended:
        """Crawl once; everything is due."""
        server = cast("SiteServer", self.server)
        ended = self.place.crawl(self._runner, server, settings, now=NOW, full=full)
        assert ended.went_well, ended.report
        return ended

    def asked(self, path: str) -> bool:
        """Tell whether the last crawl asked for a path."""
        return path in self.server.asked

    def writing(self, work: Callable[[SiteState, Config], Any]) -> Any:
        """Do something as the site's only writer, as a command does."""
        return cli.with_writer(self.config, NAME, "test", NOW, work)

    def opened(self) -> SiteState:
        """Open the site for writing."""
        return open_for_writing(self.config, NAME, "test", NOW)

    def reading(self) -> SiteState:
        """Open the site for reading."""
        return open_for_reading(self.config, NAME)

    def urls(self) -> set[str]:
        """Return the paths of the pages that answer a question about anything."""
        reader = SiteReader(self.config, NAME)
        try:
            hits = search([reader], MODEL, "page", 50, now=NOW, max_ages={NAME: 1e9})
        finally:
            reader.close()
        return {urlsplit(hit.url).path for hit in hits}

    def findings(self) -> list[Finding]:
        """Return what ``scrapy verify`` says, but for what it could only count."""
        return verify_folder(self.folder, MODEL)
