"""The item: one outcome of one page."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Cause, Verdict

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Block, Document
    from freshcrawl.core.differences import Difference
    from freshcrawl.core.evidence import Finding
    from freshcrawl.core.noise import Judgement


class Outcome(StrEnum):
    """What the origin answered."""

    FETCHED = "fetched"
    NOT_MODIFIED = "not_modified"
    REDIRECT = "redirect"
    MISSING = "missing"
    GONE = "gone"
    DISALLOWED = "disallowed"
    FAILED = "failed"


@dataclass(slots=True)
class PageItem:
    """What one fetch of one key brought; pipelines fill in the rest, in their order."""

    key: str
    url: str
    """URL that answered."""
    outcome: str
    fetched_at: float
    """Epoch seconds."""
    cited_url: str = ""
    """URL under which the page is cited and asked for again; by default the one that answered."""
    http_status: int = 0
    reason: str = ""
    target: str = ""
    """Absolute URL of a redirect."""
    permanent: bool = False
    """Whether the redirect says that the page has moved for good."""
    etag: str = ""
    last_modified: str = ""
    content_type: str = ""
    robots_header: str = ""
    """The ``X-Robots-Tag`` headers, one a line."""
    body: str = field(default="", repr=False)
    """Decoded text of a 200."""
    size: int = 0
    """Bytes of the body, decompressed."""
    by_headers: bool = False
    """The headers alone keep the page out: a 304 could not tell that they have changed."""
    rendered: bool = False
    """A browser made the body."""
    barred: str = ""
    """What keeps the page out of every index (``meta robots: noindex``), from NormalizePipeline."""

    document: Document | None = field(default=None, repr=False)
    """From NormalizePipeline."""
    title: str = ""
    digest: str = ""
    links_digest: str = ""
    simhash: int = 0
    shown_digest: str = ""
    """Digest of the text with what ``volatile_patterns`` match, if the site has any."""
    canonical: str = ""
    """Key that ``rel=canonical`` names, if it is another one of this site."""
    canonical_url: str = ""
    links: list[str] = field(default_factory=list, repr=False)
    """Absolute URLs that the page links to."""
    before: list[Block] | None = field(default=None, repr=False)
    """Blocks of the published text that the body was compared with, from ChangePipeline."""
    difference: Difference | None = field(default=None, repr=False)
    """How the body differs from the published text, from ChangePipeline."""
    noise: Judgement | None = field(default=None, repr=False)
    """What is known of the page's noise after this fetch, from ChangePipeline."""
    published_stays: bool = False
    """The published text stays in place of this one, which differs in nothing that counts."""
    cause: str = ""
    """Why the page is kept out of the answers (``core.pages.Cause``), if it is."""
    refused: str = ""
    """What a body is that was rejected or excluded as not being the page, from RejectPipeline."""
    essence: str = ""
    """Digest of what the body says whatever page it is of, from RejectPipeline."""
    doubt: dict[str, Any] = field(default_factory=dict, repr=False)
    """What the record keeps of a text that is suddenly short, from RejectPipeline."""
    verdict: str = ""
    """A Verdict, from ChangePipeline or PresencePipeline."""
    finding: Finding | None = None
    """Status of the page and why, from PresencePipeline."""

    def __post_init__(self) -> None:
        """Fill in the URL that is cited."""
        self.cited_url = self.cited_url or self.url

    def fail(self, reason: str) -> None:
        """Mark the fetch as failed: nothing was learned, and the page is tried again later."""
        self.outcome, self.verdict, self.reason = Outcome.FAILED, Verdict.FAILED, reason
        self.document = None

    def reject(self, reason: str) -> None:
        """Mark the body as not being the page: nothing of it is kept."""
        self.verdict, self.reason, self.document = Verdict.REJECTED, reason, None

    def exclude(self, reason: str, cause: str = Cause.NO_PAGE) -> None:
        """Mark the page as one that does not belong into the answers."""
        self.verdict, self.reason, self.document = Verdict.EXCLUDED, reason, None
        self.cause = cause

    def refuse(self, kind: str, reason: str, *, exclude: bool = False) -> None:
        """Reject a body of a ``kind`` that is not the page, or exclude the page because of it.

        What the body points to is not followed.
        """
        (self.exclude if exclude else self.reject)(reason)
        self.refused = kind
        self.links, self.canonical, self.canonical_url = [], "", ""
