"""A fetched body to its document, or the word that it is none."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from freshcrawl.components import RunComponent
from freshcrawl.core.pages import Cause
from freshcrawl.core.robots_meta import barring
from freshcrawl.core.urls import normalize_url
from freshcrawl.extract import extract
from freshcrawl.items import Outcome, PageItem
from freshcrawl.reading import page_title
from freshcrawl.threads import in_turn

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Document

logger = logging.getLogger(__name__)

HTML_TYPES = ("text/html", "application/xhtml+xml")


class NormalizePipeline(RunComponent):
    """Main content to Markdown, with title, links, canonical and robots meta."""

    async def process_item(self, item: Any) -> Any:
        """Fill in ``document``, ``links``, ``digest`` and relatives of a fetched page."""
        if isinstance(item, PageItem) and item.outcome == Outcome.FETCHED:
            try:
                await self._normalize(item)
            except Exception as error:
                self.drop_if_fatal(error)
                # Dropped here, the page would be fetched again by every run, and nobody told.
                logger.exception("%(url)s could not be read", {"url": item.url})
                item.fail(f"could not be read: {error!r}")
        return item

    async def _normalize(self, item: PageItem) -> None:
        kind = item.content_type.split(";")[0].strip().lower()
        if kind and kind not in HTML_TYPES:
            item.by_headers = True
            self._not_the_page(item, f"not a document (content type {kind})")
            return
        site = self.run.site
        document = await in_turn(extract, item.body, item.url, keep=site.keep, drop=site.drop)
        item.links = document.links
        if document.refresh and not document.wall and self._is_other(item, document.refresh):
            item.outcome, item.permanent = Outcome.REDIRECT, True
            item.target = normalize_url(document.refresh)
            return
        self._judge(item, document)
        if item.document is not None:
            item.title = page_title(document)
            self._canonical(item, document.canonical)

    def _is_other(self, item: PageItem, url: str) -> bool:
        try:
            normalize_url(url)
        except ValueError:  # nobody can be sent there
            return False
        return self.run.sightings.key_of(url) != item.key

    def _judge(self, item: PageItem, document: Document) -> None:
        item.by_headers = self._bars(item, "X-Robots-Tag", item.robots_header)
        noindex = item.by_headers or self._bars(item, "meta robots", document.robots)
        empty = not any(block.plain.strip() for block in document.blocks)
        if not self.run.site.wants(item.cited_url):
            item.exclude("kept out by allow or deny; read for its links only", Cause.SCOPE)
        elif document.index_page:
            item.exclude("an index of links made by the site's generator")
        elif document.wall and (noindex or empty):
            # A challenge asks not to be indexed: that says nothing of the page behind it.
            item.refuse(document.wall, document.wall_words)
        elif noindex and not (self.run.ledger.is_live(item.key) and not empty):
            item.exclude(item.barred, Cause.NOINDEX)
        elif empty:
            self._not_the_page(item, "no text found in the page")
        else:
            item.document = document

    def _bars(self, item: PageItem, where: str, robots: str) -> bool:
        """Tell whether robots metas or headers keep a page out, and the site's policy obeys.

        Of a page in the answers the body is judged first: an error page says noindex, too.
        """
        value = barring(robots, self.run.agent, item.fetched_at)
        if value:
            item.barred = f"{where}: {value}"
        return bool(value) and self.run.site.noindex == "hide"

    def _not_the_page(self, item: PageItem, reason: str) -> None:
        """What was published stays; a page that never had text is just not a document."""
        stands = self.run.ledger.stands_by(item.key, item.fetched_at)
        (item.reject if stands else item.exclude)(reason)

    def _canonical(self, item: PageItem, url: str) -> None:
        key = self.run.sightings.key_of(url) if url else None
        home = self.run.sightings.key_of(self.run.site.scope.root)
        if key not in {None, item.key, home} and urlsplit(url).netloc == urlsplit(item.url).netloc:
            item.canonical, item.canonical_url = key or "", url
