"""What a host answers for a page that does not exist, asked at most once a run."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from scrapy.http import Request, Response, TextResponse
from scrapy.http.request import NO_CALLBACK

from freshcrawl.core.trust import Gist, unknown_name
from freshcrawl.extract import extract
from freshcrawl.failures import in_words
from freshcrawl.pipelines.normalize import HTML_TYPES
from freshcrawl.reading import page_title, part
from freshcrawl.render import problem_of, render_meta
from freshcrawl.threads import in_turn

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from freshcrawl.core.blocks import Document
    from freshcrawl.run import Run

logger = logging.getLogger(__name__)

NAME_BYTES = 8
PAGES_SEEN = 1_000
"""Pages whose URLs tell how names end on the site: of a large one, all would block the loop."""


@dataclass(frozen=True, slots=True)
class UnknownAnswer:
    """The page with which a host answers 200 for a URL that cannot exist."""

    gist: Gist
    homes: frozenset[str]
    """Keys of the pages whose text it may be: a fallback to the home page."""


class UnknownAnswers:
    """Asks each host for a random name, when that is needed first.

    Through the crawl's own downloader, so that robots.txt, delays and the
    site's headers hold. Where that brings no knowledge (an error, a
    redirect, robots.txt), nothing is said of any page.
    """

    def __init__(self, crawler: Crawler, run: Run) -> None:
        self._crawler = crawler
        self._run = run
        self._answers: dict[str, asyncio.Future[UnknownAnswer | None]] = {}

    async def of(self, url: str) -> UnknownAnswer | None:
        """Return what the host of ``url`` answers, None if unknown pages are told by status."""
        parts = urlsplit(url)
        host = parts.netloc
        if host not in self._answers:
            future: asyncio.Future[UnknownAnswer | None]
            future = asyncio.get_running_loop().create_future()
            self._answers[host] = future
            found = None
            try:
                found = await self._ask(f"{parts.scheme}://{host}/", url)
            except Exception as error:
                logger.info(
                    "what %(host)s answers for pages that do not exist is not known: %(words)s",
                    {"host": host, "words": in_words(error)},
                )
            finally:
                future.set_result(found)
        return await asyncio.shield(self._answers[host])

    async def _ask(self, top: str, url: str) -> UnknownAnswer | None:
        """Ask the host whose top folder is ``top``; ``url`` is a page of it."""
        unknown = self._unknown_url(top, url)
        if self._run.stopping or not unknown or self._crawler.engine is None:
            return None
        site = self._run.site
        meta = {**render_meta(site), "handle_httpstatus_all": True, "dont_redirect": True}
        request = Request(unknown, callback=NO_CALLBACK, dont_filter=True, meta=meta)
        response = await self._crawler.engine.download_async(request)
        if not _is_page(response, unknown):
            return None
        document = await in_turn(
            extract, response.text, response.url, keep=site.keep, drop=site.drop
        )
        if document.refresh:
            return None
        # As the pages are that it is compared with: the site's frame says nothing.
        known = self._run.ledger.boilerplate.fingerprints
        await in_turn(part, document, known, site.volatile_patterns)
        text = document.bare_markdown
        gist = await in_turn(Gist.of, page_title(document), text, unknown)
        return UnknownAnswer(gist, self._homes(top, document))

    def _unknown_url(self, top: str, url: str) -> str:
        """Return a URL that no page has, in the site's folder or else beside ``url``.

        "" where ``allow``, ``deny`` or a list of approved pages keep it out.
        """
        site = self._run.site
        if site.discovery == "list":
            return ""
        pages = islice(self._run.ledger.pages.values(), PAGES_SEEN)
        urls = (record.url for record in pages)
        name = unknown_name(urls, secrets.token_hex(NAME_BYTES))
        for folder in (site.scope.root if site.scope.root.startswith(top) else top, url):
            unknown = urljoin(folder, name)
            if site.scope.contains(unknown) and site.wants(unknown):
                return unknown
        return ""

    def _homes(self, top: str, document: Document) -> frozenset[str]:
        site, pages = self._run.site, self._run.ledger.pages
        urls = (top, site.scope.root, site.start, document.canonical)
        keys = {key for url in urls if url and (key := self._run.sightings.key_of(url))}
        keys |= {pages[key].alias_of for key in keys if key in pages}
        return frozenset(keys - {""})


def _is_page(response: Response, url: str) -> bool:
    kind = (response.headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0].strip()
    return (
        response.status == 200
        and response.url == url
        and isinstance(response, TextResponse)
        and (not kind or kind.lower() in HTML_TYPES)
        and not problem_of(response)
    )
