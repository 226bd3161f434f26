"""A small site of documentation whose server gets into trouble: what it is, and what it answers."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.support.origin import urlset
from tests.support.site_model import ROOT, key_of, url_of
from tests.support.site_server import Reply
from tests.support.site_texts import Text, Texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from tests.support.site_server import Faults

HOME, GUIDE, API = "/", "/guide/", "/api/"
SITEMAP = "/sitemap.xml"
CHILDREN = 5
HTML = {"Content-Type": "text/html; charset=utf-8"}
XML = {"Content-Type": "application/xml"}
PLAIN = {"Content-Type": "text/plain"}
MISSING = "<!doctype html><title>Not found</title><h1>Not found</h1>"
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</sitemapindex>'


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and what the site answers to it when it is well."""

    path: str
    request: Request
    well: Reply
    number: int
    """Of the request in its run, from 1."""
    is_page: bool
    """A page of the site; not its robots.txt, a sitemap or something that is not there."""


if TYPE_CHECKING:
    Trouble = Callable[[Asked], Reply]


def none(asked: Asked) -> Reply:
    """Answer as the site does when it is well."""
    return asked.well


class TroubledSite:
    """Two hubs, which alone link to their pages; known by an index of five sitemaps, or by links.

    A ``tiny`` one is a home page that links to three pages, with one sitemap.
    """

    def __init__(self, *, by_links: bool, tiny: bool = False) -> None:
        self.by_links = by_links
        self.tiny = tiny
        self.trouble: Trouble = none
        self.asked = 0
        self.struck: set[str] = set()
        self.on_request: Callable[[int], None] = lambda number: None
        self._texts = Texts(random.Random("a troubled site"))
        self.links: dict[str, list[str]] = {HOME: []}
        self.texts: dict[str, Text] = {}
        if tiny:
            self.links[HOME] = [f"/part-{name}.html" for name in ("one", "two", "three")]
        else:
            self.links[HOME] = [GUIDE, API]
            for hub in (GUIDE, API):
                self.links[hub] = [f"{hub}part-{name}.html" for name in "abcde"]
        for path in [*self.links, *(leaf for leaves in self.links.values() for leaf in leaves)]:
            if path not in self.texts:
                self.texts[path] = self._texts.page()

    @property
    def keys(self) -> set[str]:
        """Keys of the pages."""
        return {key_of(path) for path in self.texts}

    def moves_on(self) -> None:
        """Change the site as sites do: one page edited, one taken away, one added."""
        edited, dropped, hub = ("/part-one.html", "/part-two.html", HOME)
        if not self.tiny:
            edited, dropped, hub = (f"{GUIDE}part-a.html", f"{API}part-c.html", GUIDE)
        old = self.texts[edited]
        self.texts[edited] = Text(old.title, (*old.blocks, ("p", self._texts.paragraph())))
        del self.texts[dropped]
        for leaves in self.links.values():
            if dropped in leaves:
                leaves.remove(dropped)
        self.links[hub].append("/added.html")
        self.texts["/added.html"] = self._texts.page()

    def html(self, path: str, head: str = "") -> str:
        """Return a page: a generator's layout with a sidebar, the text, and links to the parts."""
        text = self.texts[path]
        side = "".join(
            f'<li><a href="{hub}">{escape(self.texts[hub].title)}</a></li>' for hub in self.links
        )
        body = "".join(_TAGS[kind].format(escape(words)) for kind, words in text.blocks)
        toc = "".join(
            f'<li><a href="{leaf}">{escape(self.texts[leaf].title)}</a></li>'
            for leaf in self.links.get(path, ())
        )
        return (
            f"<!doctype html><html><head><title>{escape(text.title)} &#8212; Project</title>{head}"
            f'</head><body><div class="document"><div class="documentwrapper"><div '
            f'class="bodywrapper"><div class="body" role="main"><section><h1>'
            f"{escape(text.title)}</h1>{body}<ul>{toc}</ul></section></div></div></div>"
            f'<div class="sphinxsidebar"><ul>{side}</ul></div></div></body></html>'
        )

    # -- the server -----------------------------------------------------------

    def begin(self, faults: Faults, now: float) -> None:
        """Begin a run."""
        self.asked = 0

    def end(self, *, whole: bool) -> None:
        """End a run."""

    def respond(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            Exception: as the downloader does for a connection that fails.
        """
        self.asked += 1
        self.on_request(self.asked)
        path = urlsplit(request.url).path or "/"
        asked = Asked(path, request, self.well(path, request), self.asked, path in self.texts)
        return self.trouble(asked)

    def well(self, path: str, request: Request | None = None) -> Reply:
        """Return what the site answers when it is well."""
        if path == "/robots.txt":
            sitemap = "" if self.by_links else f"Sitemap: {ROOT}{SITEMAP[1:]}\n"
            return Reply(200, f"User-agent: *\nDisallow: /private/\n{sitemap}".encode(), PLAIN)
        if path.startswith("/sitemap") and not self.by_links:
            return self.sitemap(path)
        if path in self.texts:
            return page_reply(self.html(path), request)
        return Reply(404, MISSING.encode(), HTML)

    def sitemap(self, path: str, *, kept: float = 1.0) -> Reply:
        """Return a sitemap, with that share of its locations."""
        places = [f"/sitemap-{number}.xml" for number in range(CHILDREN)]
        if path == SITEMAP and not self.tiny:
            urls = [url_of(place) for place in places]
            body = INDEX.format("".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls))
        elif path == SITEMAP or path in places:
            mine = list(self.texts)
            if not self.tiny:
                mine = mine[places.index(path) :: CHILDREN]
            mine = mine[: max(1, round(len(mine) * kept))]
            body = urlset("".join(f"<url><loc>{url_of(page)}</loc></url>" for page in mine))
        else:
            return Reply(404, MISSING.encode(), HTML)
        return Reply(200, body.encode(), dict(XML))


def page_reply(html: str, request: Request | None, **headers: str) -> Reply:
    """Return a page with its ETag; 304 to one who has it already."""
    body = html.encode()
    etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    more = {**HTML, "ETag": etag, **headers}
    known = request.headers.get("If-None-Match") if request is not None else None
    if known == etag.encode():
        return Reply(304, b"", more)
    return Reply(200, body, more)


_TAGS = {"p": "<p>{}</p>", "h2": "<h2>{}</h2>", "pre": "<pre><code>{}</code></pre>"}
