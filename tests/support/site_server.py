"""The server of a modelled site: what it answers, with faults, and what it said of each page."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.exceptions import (
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from tests.support.origin import urlset
from tests.support.site_model import ROOT, SITEMAPS, key_of, url_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from tests.support.site_model import Page, SiteModel

BORN = 1_700_000_000
"""Date (epoch seconds) of a page's first revision."""
MAIN_SITEMAP = "/sitemap.xml"
PAGE_FAULTS = ("500", "503", "429", "403", "timeout", "reset", "cut", "404")
SITEMAP_FAULTS = ("500", "404", "timeout", "reset", "empty", "blank", "half", "short", "html")
ROBOTS_FAULTS = ("503", "timeout")
ERRORS: dict[str, Callable[[], Exception]] = {
    "timeout": lambda: DownloadTimeoutError("no answer"),
    "reset": lambda: DownloadFailedError("connection reset"),
    "cut": lambda: ResponseDataLossError("cut short"),
}


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with the server during a run."""

    pages: str = ""
    """One of PAGE_FAULTS, on ``share`` of the pages; 404 is a storm."""
    sitemap: str = ""
    """One of SITEMAP_FAULTS."""
    robots: str = ""
    """One of ROBOTS_FAULTS."""
    share: float = 1.0
    after: int = 0
    """Answers that are good before it begins."""
    seed: int = 0
    """Which pages and sitemaps it is on."""


@dataclass(slots=True)
class Reply:
    """One answer."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Said:
    """What the server has said of one key; what an error is about, it says nothing of."""

    versions: dict[bytes, None] = field(default_factory=dict)
    """Bodies that it has answered with 200, or said to be current with 304."""
    leaves: bool = False
    """Whether the last word was 404, 410, a redirect or noindex."""
    left_at: list[float] = field(default_factory=list)
    """Starts of the runs in which that was the last word, without one in between."""
    unlisted: int = 0
    """Runs that were shown its sitemap without it, since the last that was shown it there."""
    unheard: int = 0
    """Runs in a row until now that were not shown all sitemaps, nor it on its own."""


class SiteServer:
    """Answers for a site; ``begin`` and ``end`` mark the runs."""

    def __init__(self, site: SiteModel) -> None:
        self.site = site
        self.said: dict[str, Said] = {}
        self.faults = Faults()
        self.asked = 0
        self.struck: set[str] = set()
        """What was wrong with answers of this run: ``page 500``, ``sitemap half`` and the like."""
        self.on_request: Callable[[int], None] = lambda number: None
        """Called before each answer with its number, from 1."""
        self._started = 0.0
        self._shown: dict[str, set[str]] = {}
        """Paths by sitemap that was sent whole in this run."""
        self._left_before: dict[str, list[float]] = {}

    def begin(self, faults: Faults, now: float) -> None:
        """Begin a run at ``now``."""
        self.faults, self.asked, self._started = faults, 0, now
        self._shown, self.struck = {}, set()
        self._left_before = {key: [*said.left_at] for key, said in self.said.items()}

    def end(self, *, whole: bool) -> None:
        """End a run; of one that is not ``whole`` it is not known what it remembers."""
        sitemaps = {f"/sitemap-{page.sitemap}.xml" for page in self.site.pages.values()}
        silent = not {MAIN_SITEMAP, *(sitemaps if self.site.nested else ())} <= self._shown.keys()
        for path, page in self.site.pages.items():
            said = self._of(path)
            shown = self._shows(page)
            if shown is False:
                said.unlisted += 1
            elif shown and whole:
                said.unlisted = 0
            said.unheard = said.unheard + 1 if silent and not shown else 0
            before = self._left_before.get(key_of(path), [])
            if not whole and said.left_at[: len(before)] != before:
                said.left_at = before + said.left_at  # that it was back may be forgotten

    def _shows(self, page: Page) -> bool | None:
        """Tell whether this run was shown a page on its sitemap; None if it saw no sitemap."""
        place = MAIN_SITEMAP
        if self.site.nested:
            index = self._shown.get(MAIN_SITEMAP)
            place = f"/sitemap-{page.sitemap}.xml"
            if index is not None and place not in index:
                return False
        return page.path in self._shown[place] if place in self._shown else None

    def of(self, key: str) -> Said:
        """Return what was said of a key."""
        return self.said.setdefault(key, Said())

    def _of(self, path: str) -> Said:
        return self.of(key_of(path))

    def respond(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            Exception: as the downloader does for a connection that fails.
        """
        self.asked += 1
        self.on_request(self.asked)
        path = urlsplit(request.url).path or "/"
        faulty = self.asked > self.faults.after
        if path == "/robots.txt":
            return self._robots(self._note("robots", self.faults.robots if faulty else ""))
        if path == MAIN_SITEMAP or path.startswith("/sitemap-"):
            if self.site.by_links:
                return Reply(404)
            fault = self._fault_of(path, self.faults.sitemap) if faulty else ""
            return self._sitemap(path, self._note("sitemap", fault))
        fault = self._fault_of(path, self.faults.pages) if faulty else ""
        return self._page_or_fault(path, self._note("page", fault), request)

    def _note(self, what: str, fault: str) -> str:
        if fault:
            self.struck.add(f"{what} {fault}")
        return fault

    def _fault_of(self, path: str, fault: str) -> str:
        dice = random.Random(f"{self.faults.seed} {path}")
        return fault if dice.random() < self.faults.share else ""

    def _page_or_fault(self, path: str, fault: str, request: Request) -> Reply:
        page = self.site.pages.get(path)
        missing = Reply(404, b"not here", {"Content-Type": "text/html"})
        if page is None:
            return missing
        if fault == "404":
            return self._leaves(page, missing)
        return _failed(fault) if fault else self._page(page, request)

    def _page(self, page: Page, request: Request) -> Reply:
        if page.status == 301:
            return self._leaves(page, Reply(301, headers={"Location": url_of(page.target)}))
        if page.status != 200:
            return self._leaves(page, Reply(page.status, b"gone", {"Content-Type": "text/html"}))
        body = self.site.html(page).encode()
        reply = Reply(200, body, {"Content-Type": "text/html; charset=utf-8"})
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        date = formatdate(BORN + page.revision, usegmt=True)
        same = page.validators in {"both", "etag"} and _header(request, "If-None-Match") == etag
        if page.validators in {"both", "etag"}:
            reply.headers["ETag"] = etag
        if page.validators in {"both", "date"}:
            reply.headers["Last-Modified"] = date
            asked_by_tag = page.validators == "both" and _header(request, "If-None-Match")
            same = same or (not asked_by_tag and _header(request, "If-Modified-Since") == date)
        said = self._of(page.path)
        if page.noindex:
            self._leaves(page, reply)
        else:
            said.leaves, said.left_at = False, []
            said.versions[body] = None
        return Reply(304, b"", reply.headers) if same else reply

    def _leaves(self, page: Page, reply: Reply) -> Reply:
        said = self._of(page.path)
        said.leaves = True
        if self._started not in said.left_at:
            said.left_at.append(self._started)
        return reply

    def _robots(self, fault: str) -> Reply:
        if fault:
            return _failed(fault)
        sitemap = "" if self.site.by_links else f"Sitemap: {ROOT}{MAIN_SITEMAP[1:]}\n"
        body = f"User-agent: *\nDisallow:\n{sitemap}"
        return Reply(200, body.encode(), {"Content-Type": "text/plain"})

    def _sitemap(self, path: str, fault: str) -> Reply:
        if fault in ERRORS or fault in {"500", "404"}:
            return _failed(fault)
        listed = self._listed(path)
        if fault == "short":
            listed = listed[: len(listed) // 2]
        if not fault or fault == "short":
            self._shown[path] = set(listed)
        urls = [url_of(place) for place in listed]
        body = _INDEX.format("".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls))
        if not self._is_index(path):
            body = urlset("".join(f"<url><loc>{url}</loc></url>" for url in urls))
        if fault == "empty":
            body = urlset("")
        elif fault == "blank":
            body = ""
        elif fault == "half":
            body = body[: len(body) * 6 // 10]
        elif fault == "html":
            body = "<!doctype html><html><body><p>We will be back soon.</p></body></html>"
        kind = "text/html" if fault == "html" else "application/xml"
        return Reply(200, body.encode(), {"Content-Type": kind})

    def _is_index(self, path: str) -> bool:
        return self.site.nested and path == MAIN_SITEMAP

    def _listed(self, path: str) -> list[str]:
        """Return the paths that a sitemap lists."""
        if self._is_index(path):
            return [f"/sitemap-{number}.xml" for number in range(SITEMAPS)]
        number = path.removeprefix("/sitemap-").removesuffix(".xml")
        return self.site.on_sitemap(int(number) if path != MAIN_SITEMAP else 0)


_INDEX = (
    '<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    "{}</sitemapindex>"
)


def _failed(fault: str) -> Reply:
    if fault in ERRORS:
        raise ERRORS[fault]()
    return Reply(int(fault), b"sorry", {"Content-Type": "text/html"})


def _header(request: Request, name: str) -> str:
    value = request.headers.get(name)
    return value.decode("latin-1") if value else ""
