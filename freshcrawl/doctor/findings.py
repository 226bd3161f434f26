"""What a site answered when it was asked: the facts that the judgements are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy.http import Response, TextResponse

from freshcrawl.doctor import one_line
from freshcrawl.page_answers import REDIRECTS
from freshcrawl.pipelines.normalize import HTML_TYPES
from freshcrawl.render import problem_of

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Document
    from freshcrawl.robots import RobotsPolicy
    from freshcrawl.sitemaps import Sitemap
    from freshcrawl.sites import SiteConfig


@dataclass(slots=True)
class Asked:
    """One request: its answer, or why there is none."""

    url: str
    """What answered, after the redirects that were followed."""
    status: int = 0
    """HTTP status, 0 for no answer."""
    headers: dict[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: bytes = b""
    text: str = ""
    """The body decoded, empty if it is no text."""
    problem: str = ""
    """Name of the exception, where there is no answer."""
    detail: str = ""
    """What the exception says."""
    lacks: str = ""
    """What a rendered page does not show although it was waited for, in words."""

    @classmethod
    def answer(cls, response: Response) -> Asked:
        """Return the facts of an answer."""
        headers = {
            name.decode("latin-1").lower(): "\n".join(
                value.decode("latin-1").strip() for value in response.headers.getlist(name)
            )
            for name in response.headers
        }
        text = response.text if isinstance(response, TextResponse) else ""
        lacks = problem_of(response)
        return cls(response.url, response.status, headers, response.body, text, lacks=lacks)

    @classmethod
    def failure(cls, url: str, error: BaseException) -> Asked:
        """Return the facts of a request without an answer."""
        return cls(url, problem=type(error).__name__, detail=one_line(error))

    @property
    def kind(self) -> str:
        """Media type, lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Whether it is a page by its type, or by its start where it has none."""
        start = self.body[:512].lstrip().lower()
        return self.kind in HTML_TYPES or (not self.kind and start.startswith((b"<!doc", b"<html")))

    @property
    def looks_like_html(self) -> bool:
        """Whether the body starts as a page does, whatever its type says."""
        return self.body[:512].lstrip().lower().startswith((b"<!doctype html", b"<html"))

    @property
    def validators(self) -> dict[str, str]:
        """The request headers that ask whether this answer still holds."""
        pairs = (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since"))
        return {ask: self.headers[name] for name, ask in pairs if self.headers.get(name)}


@dataclass(slots=True)
class SeenSitemap:
    """One place where a sitemap is, or may be."""

    url: str
    known: bool
    """Whether something says that it is there."""
    asked: Asked | None = None
    """None: it was not asked for; ``refused`` says why."""
    sitemap: Sitemap | None = None
    refused: str = ""
    remembered: bool = False
    """Whether earlier runs alone say that it is there."""
    children: int = 0
    """How many of an index's sitemaps were read."""
    listed: list[str] = field(default_factory=list)
    """URLs of pages, also those of the children that were read."""


@dataclass(slots=True)
class SeenPage:
    """One page with the redirects that led to it."""

    hops: list[Asked]
    document: Document | None = None
    outside: str = ""
    """Where it redirects to, if that is not a page of the site."""
    forbidden: str = ""
    """URL that robots.txt forbids."""

    @property
    def last(self) -> Asked:
        """The answer at the end of the redirects."""
        return self.hops[-1]

    @property
    def leads_to(self) -> str:
        """Where the last answer sends its reader, empty for nowhere."""
        location = self.last.headers.get("location", "")
        if self.last.status in REDIRECTS and location:
            return urljoin(self.last.url, location)
        return self.document.refresh if self.document else ""


@dataclass(slots=True)
class Findings:
    """All that was asked of one site."""

    site: SiteConfig
    agent: str
    """User agent by whose rules robots.txt is read; empty: they are not obeyed."""
    robots: Asked | None = None
    policy: RobotsPolicy | None = None
    page: SeenPage | None = None
    """The start page."""
    again: Asked | None = None
    """The start page asked for once more, with its validators."""
    sample: SeenPage | None = None
    """Another page, asked for where the start page has hardly any content."""
    sitemaps: list[SeenSitemap] = field(default_factory=list)
    browser: bool = True
    """Whether pages could be rendered, should the site need it."""
    late: bool = False
    """Whether time ran out before all was asked."""
    error: str = ""
    """What went wrong with asking itself."""
