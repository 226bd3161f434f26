"""What an origin's answer to a page request is: one PageItem, or one more hop to the same page."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import Request, Response, TextResponse

from freshcrawl.core.proofs import lasts
from freshcrawl.core.urls import normalize_url
from freshcrawl.failures import in_words
from freshcrawl.items import Outcome, PageItem
from freshcrawl.middlewares import KEY
from freshcrawl.render import landed, problem_of
from freshcrawl.robots import RobotsForbidden

if TYPE_CHECKING:
    from freshcrawl.run import Run

logger = logging.getLogger(__name__)

MAX_HOPS = 5
HOPS = "freshcrawl_hops"
"""Request meta: how many requests for this page went before."""
OUTCOMES = {
    200: Outcome.FETCHED,
    304: Outcome.NOT_MODIFIED,
    404: Outcome.MISSING,
    410: Outcome.GONE,
}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PERMANENT = frozenset({301, 308})


@dataclass(frozen=True, slots=True)
class Hop:
    """One more request for a page, at another URL."""

    url: str
    key: str
    hops: int


class PageAnswers:
    """Reads the answers to the page requests of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def read(self, response: Response) -> PageItem | Hop:
        """Return what an answer is; one that cannot be read is a failure of its page."""
        try:
            return self._read(response)
        except Exception as error:
            if self._run.ends_for(error):
                raise CloseSpider("store_error") from None
            # Without an item the page would be fetched again by every run, and nobody told.
            logger.exception("%(url)s could not be read", {"url": response.url})
            item = self._item(response, Outcome.FAILED)
            item.reason = f"could not be read: {error!r}"
            return item

    def failure(self, request: Request, error: BaseException | None) -> PageItem | Hop:
        """Return what a request without an answer is."""
        refused = isinstance(error, IgnoreRequest)
        if not refused and (again := self._other_spelling(request)):
            return again
        forbidden = isinstance(error, RobotsForbidden)
        return PageItem(
            key=request.meta[KEY],
            url=request.url,
            cited_url=self._run.ledger.pages[request.meta[KEY]].url,
            outcome=Outcome.DISALLOWED if forbidden else Outcome.FAILED,
            fetched_at=self._run.now,
            reason=in_words(error),
        )

    def _read(self, response: Response) -> PageItem | Hop:
        if response.status in REDIRECTS:
            return self._redirect(response)
        end = landed(response)
        if end is not None and self._run.sightings.key_of(end[0]) != response.meta[KEY]:
            item = self._item(response, Outcome.REDIRECT)
            item.target, item.permanent = end
            return item
        if response.status in {404, 410} and (again := self._other_spelling(response.request)):
            return again
        outcome = OUTCOMES.get(response.status, Outcome.FAILED)
        item = self._item(response, outcome)
        if outcome == Outcome.FAILED:
            item.reason = f"HTTP {response.status}"
        if problem := problem_of(response):
            item.outcome, item.reason = Outcome.FAILED, problem
        elif outcome == Outcome.FETCHED:
            item.body = response.text if isinstance(response, TextResponse) else ""
            item.rendered = bool(response.meta.get("playwright"))
        return item

    def _item(self, response: Response, outcome: Outcome) -> PageItem:
        key = response.meta[KEY]
        here = self._run.sightings.key_of(response.url) == key
        return PageItem(
            key=key,
            url=response.url,
            # Read through a temporary redirect, a page is still asked for where it is listed.
            cited_url=normalize_url(response.url if here else self._run.ledger.pages[key].url),
            outcome=outcome,
            fetched_at=self._run.now,
            http_status=response.status,
            size=len(response.body),
            etag=_header(response, "ETag"),
            last_modified=_header(response, "Last-Modified"),
            content_type=_header(response, "Content-Type"),
            robots_header="\n".join(
                value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")
            ),
        )

    def _redirect(self, response: Response) -> PageItem | Hop:
        """Return the next hop if it is still this page, else the outcome."""
        key = response.meta[KEY]
        location = _location(response)
        item = self._item(response, Outcome.REDIRECT)
        try:
            target = normalize_url(urljoin(response.url, location))
        except ValueError:
            item.outcome, item.reason = Outcome.FAILED, f"redirects to {location!r}"
            return item
        item.target, item.permanent = target, response.status in PERMANENT
        target_key = self._run.sightings.key_of(target) if location else None
        hops = response.meta[HOPS] + 1
        if not location or hops > MAX_HOPS or target == response.url:
            item.outcome, item.reason = Outcome.FAILED, "redirects without end"
        elif target_key == key or (target_key and self._stays(item, target_key)):
            return Hop(target, key, hops)
        return item

    def _stays(self, item: PageItem, target_key: str) -> bool:
        """Tell whether a temporary redirect's target is read as the content of its source.

        Not for a page that is or was live without one, until that lasts: it may be sent to a
        login or a maintenance page.
        """
        ledger, record = self._run.ledger, self._run.ledger.pages[item.key]
        known = target_key in ledger.pages or ledger.forgotten.of(target_key, item.target)
        was_direct = ledger.stands_by(item.key, item.fetched_at) and not record.via
        lasting = lasts(record, item.target, item.fetched_at)
        return not item.permanent and not known and (not was_direct or lasting)

    def _other_spelling(self, request: Request | None) -> Hop | None:
        """Return a hop to the URL that a source lists now, if another one was asked for.

        The site may have changed its scheme, ``www``, slashes or the like.
        """
        if request is None or request.meta[HOPS]:
            return None
        key = request.meta[KEY]
        listed = self._run.ledger.pages[key].listed_url
        if not listed or listed == request.url or self._run.sightings.key_of(listed) != key:
            return None
        return Hop(listed, key, 1)


def _location(response: Response) -> str:
    """Return the Location header; servers send raw UTF-8 in it, or else Latin-1."""
    raw = (response.headers.get("Location") or b"").strip()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _header(response: Response, name: str) -> str:
    value = response.headers.get(name)
    return value.decode("latin-1").strip() if value else ""
