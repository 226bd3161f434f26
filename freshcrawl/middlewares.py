"""FreshnessMiddleware: nothing that is not due leaves; what leaves asks with its validators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from freshcrawl.components import RunComponent

if TYPE_CHECKING:
    from scrapy.http import Request


KEY = "freshcrawl_key"
"""Request meta: the page's key. Requests without it (robots.txt, sitemaps) pass untouched."""
DUE_CHECKED = "freshcrawl_due_checked"
"""Request meta: the decision was made; retries and redirect hops keep it."""
CONDITIONAL = ("If-None-Match", "If-Modified-Since")


class NotDue(IgnoreRequest):
    """The page is not due."""


class FreshnessMiddleware(RunComponent):
    """The authority on due-ness and validators. It only reads state."""

    def process_exception(self, request: Request, exception: Exception) -> None:
        """End the run if this machine could not ask, for want of descriptors or memory."""
        self.run.ends_for(exception)

    def process_request(self, request: Request) -> None:
        """Drop a page request that is not due; put this URL's validators on one that is."""
        key = request.meta.get(KEY)
        if key is None:
            return
        if not request.meta.get(DUE_CHECKED):
            if key in self.run.ledger.pages and not self.run.is_due(key):
                raise NotDue(f"{key} is not due")
            request.meta[DUE_CHECKED] = True
        # A redirect hop or retry may carry the headers of another URL.
        for name in CONDITIONAL:
            request.headers.pop(name, None)
        # An app shell's ETag says nothing about the page that a browser makes of it.
        if not request.meta.get("playwright"):
            for name, value in self.run.validators(key, request.url).items():
                request.headers[name] = value
