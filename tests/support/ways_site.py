"""A small site whose pages leave and come back in every way there is, crawled in this process."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import time
from collections.abc import Callable
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from freshcrawl.answers import search
from freshcrawl.approving import Choice, discard
from freshcrawl.clock import make_clock
from freshcrawl.config import Config
from freshcrawl.explanation import explain, page_lines
from freshcrawl.policies import schedule_policy
from freshcrawl.reader import SiteReader
from freshcrawl.state import open_for_reading, open_for_writing
from tests.support.cuts import WatchedEmbedder
from tests.support.in_process import EMBEDDER, NAME, Place, work_folder
from tests.support.origin import urlset
from tests.support.site_model import ROOT, key_of, url_of
from tests.support.site_server import Faults, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy import Request

    from freshcrawl.core.pages import PageRecord
    from tests.support.in_process import Ended

DAY = 86_400.0
PATHS = tuple(f"/guide/{name}" for name in "abcdefghijkl")
PAGE = "/guide/c"
"""The page that cases are about."""
EMBEDDERS: dict[int, WatchedEmbedder] = {}
HALF_DAY = "start_interval_secs = 43200\nmax_interval_secs = 43200\nmin_interval_secs = 3600\n"
"""So that a run a day asks for every page."""


def html(path: str, *, title: str = "", head: str = "", body: str = "", links: str = "") -> Reply:
    """Return a page; its text is that of the path, unless there is a ``body``."""
    title, body = title or f"Page {path}", body or words(path)
    text = (
        f"<html><head><title>{title}</title>{head}</head><body><nav>{links}</nav>"
        f"<main><h1>{title}</h1><p>{body}</p></main></body></html>"
    )
    return Reply(200, text.encode(), {"Content-Type": "text/html"})


def words(path: str) -> str:
    """Return a text that no other page has."""
    name = path.strip("/").replace("/", "-") or "home"
    return " ".join(f"{name}{number}" for number in range(12))


def to(path: str, status: int = 301) -> Reply:
    """Return a redirect."""
    return Reply(status, headers={"Location": path if "://" in path else url_of(path)})


class WaysSite:
    """Answers by path; what is not in ``answers`` is 404."""

    def __init__(self, *, by_links: bool) -> None:
        self.by_links = by_links
        self.answers: dict[str, Reply] = {path: html(path) for path in PATHS}
        self.listed = list(PATHS)
        self.home = "/"
        self.robots = ""
        self.etags = False
        self.unknown = Reply(404, b"no", {"Content-Type": "text/html"})
        self.asked: list[str] = []
        self.struck: set[str] = set()
        self.on_request: Any = lambda number: None

    def begin(self, faults: Faults, now: float) -> None:
        """Begin a run."""
        self.asked = []

    def end(self, *, whole: bool) -> None:
        """End a run."""

    def respond(self, request: Request) -> Reply:
        """Answer a request."""
        path = urlsplit(request.url).path or "/"
        self.asked.append(path)
        if path == "/robots.txt":
            return Reply(200, self.robots.encode(), {"Content-Type": "text/plain"})
        if path == "/sitemap.xml" and not self.by_links:
            listed = [self.home, *self.listed]
            body = urlset("".join(f"<url><loc>{url_of(p)}</loc></url>" for p in listed))
            return Reply(200, body.encode(), {"Content-Type": "application/xml"})
        if path == self.home and path not in self.answers:
            links = "".join(f'<a href="{p}">{p}</a>' for p in self.listed)
            return html(path, links=links if self.by_links else "")
        return self._conditional(request, self.answers.get(path, self.unknown))

    def _conditional(self, request: Request, reply: Reply) -> Reply:
        """Answer 304, with all headers, where the request has the ETag of a page."""
        if not self.etags or reply.status != 200:
            return reply
        etag = f'"{hashlib.sha256(reply.body).hexdigest()[:16]}"'
        headers = {**reply.headers, "ETag": etag}
        if request.headers.get("If-None-Match") == etag.encode():
            return Reply(304, b"", headers)
        return Reply(200, reply.body, headers)


class Ways:
    """A site, its state folder and a clock: one crawl a day."""

    def __init__(self, *, by_links: bool = False, table: str = "") -> None:
        self.site = WaysSite(by_links=by_links)
        self.by_links = by_links
        self.folder = work_folder("freshcrawl-ways-")
        self.table = ""
        self.place = Place(self.folder / "place", "")
        self.set_table(table)
        self.runner = asyncio.Runner()
        self.embedder = EMBEDDERS.setdefault(0, WatchedEmbedder())
        self.offset = 0.0
        self.config = Config(state_dir=str(self.place.state), embedder_class=EMBEDDER)

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        self.runner.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def set_table(self, table: str, pace: str = HALF_DAY) -> None:
        """Give the site another table, and intervals."""
        self.table = table
        way = 'discovery = "links"\n' if self.by_links else ""
        text = f'[sites.{NAME}]\nurl = "{ROOT}"\n{way}{pace}{table}'
        (self.place.folder / "sites.toml").write_text(text, encoding="utf-8")

    @property
    def now(self) -> float:
        """Epoch seconds by the runs' clock."""
        return time.time() + self.offset

    def crawl(self, days: float = 1.0, *, full: bool = False) -> Ended:
        """Let time go by, then crawl."""
        self.offset += days * DAY
        settings = {"FRESHCRAWL_CLOCK_OFFSET_SECS": self.offset}
        ended = self.place.crawl(self.runner, self.site, settings, now=self.now, full=full)  # type: ignore[arg-type]
        assert ended.report is not None
        assert ended.report.status == "ok", ended.report.error
        return ended

    def discard(self) -> None:
        """Let a person discard all that is held."""
        settings = self.place.settings({"FRESHCRAWL_CLOCK_OFFSET_SECS": self.offset})
        with closing(open_for_writing(Config.from_settings(settings), NAME, "test", 0.0)) as state:
            discard(state, Choice(), make_clock(self.offset))

    def record(self, path: str = PAGE) -> PageRecord:
        """Return what is known of a page."""
        with closing(open_for_reading(self.config, NAME)) as state:
            return state.pages()[key_of(path)]

    def explained(self, path: str = PAGE) -> tuple[dict[str, Any], str]:
        """Return what ``scrapy explain`` says of a page: as JSON, and in words."""
        with closing(open_for_reading(self.config, NAME)) as state:
            found = explain(state, url_of(path), self.now, schedule_policy(self.config))
        assert found is not None
        return found, "\n".join(page_lines(found, self.now))

    def found(self, *texts: str) -> list[set[str]]:
        """Return the paths whose passages each question finds as the best, by the query's own way.

        A question is a text; only passages with just that text are meant.
        """
        with closing(SiteReader(self.config, NAME)) as reader:
            ask = {"k": 3, "now": self.now, "max_ages": {NAME: 7 * DAY}}
            hits = [(text, search([reader], self.embedder, text, **ask)) for text in texts]  # type: ignore[arg-type]
        return [{urlsplit(h.url).path for h in found if text in h.text} for text, found in hits]


def first_state(folder: Path, by_links: bool) -> Path:
    """Return ``folder`` with the state after a first crawl."""
    with Ways(by_links=by_links) as ways:
        ways.crawl()
        shutil.copytree(ways.place.state, folder)
    return folder


Change = Callable[[Ways], None]
"""What may become of the page."""


def answers(reply: Reply) -> Change:
    """Let the page answer with something."""

    def change(ways: Ways) -> None:
        ways.site.answers[PAGE] = reply

    return change


def status(number: int) -> Change:
    """Let the page answer with a status."""
    return answers(Reply(number, b"sorry", {"Content-Type": "text/html"}))


def unlisted(ways: Ways) -> None:
    """Take the page off the list."""
    ways.site.listed.remove(PAGE)


@contextmanager
def begun(state: Path, table: str = "", *, by_links: bool = False) -> Iterator[Ways]:
    """Give a site that was crawled once, a day before, with lines for its table."""
    with Ways(by_links=by_links, table=table and f"{table}\n") as ways:
        shutil.copytree(state, ways.place.state)
        ways.offset += DAY
        yield ways
