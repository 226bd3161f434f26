"""What is known of a page: its words (statuses, verdicts) and its records."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from typing import Any, Self


class Status(StrEnum):
    """Where a page stands between discovery and the answers."""

    PENDING = "pending"
    LIVE = "live"
    HIDDEN = "hidden"
    GONE = "gone"
    ALIAS = "alias"
    EXCLUDED = "excluded"
    FORGOTTEN = "forgotten"


class Verdict(StrEnum):
    """What one fetch of a page meant."""

    NEW = "new"
    CHANGED = "changed"
    COSMETIC = "cosmetic"
    LINKS_ONLY = "links_only"
    UNCHANGED = "unchanged"
    MOVED = "moved"
    GONE = "gone"
    ABSENT = "absent"
    EXCLUDED = "excluded"
    REJECTED = "rejected"
    FAILED = "failed"


class Cause(StrEnum):
    """Why a page leaves the answers, or does not enter them."""

    NOT_FOUND = "not_found"
    """404."""
    GONE = "gone"
    """410."""
    UNLISTED = "unlisted"
    """Nothing lists it any more, although it answers."""
    MOVED = "moved"
    """It redirects to another page of the site."""
    HOME = "home"
    """It redirects to the home page, as many sites have it for pages that are no more."""
    OFF_SITE = "off_site"
    """It redirects off the site."""
    FOR_NOW = "for_now"
    """It redirects for the time being; not believed until that lasts."""
    COPY = "copy"
    """It names another page as its canonical one."""
    NOINDEX = "noindex"
    ROBOTS = "robots"
    """robots.txt disallows it."""
    SCOPE = "scope"
    """The site's own table leaves it out."""
    NO_PAGE = "no_page"
    """What it answers is no page of documentation: an index, another content type, no text."""


DEAD = frozenset({Cause.NOT_FOUND, Cause.GONE, Cause.HOME})
"""Causes that say the page is no more; a later one confirms an earlier one."""
REDIRECTED = frozenset({Cause.MOVED, Cause.HOME, Cause.OFF_SITE})
"""Causes by which a page sends its readers elsewhere."""
LEAVING = frozenset({Verdict.GONE, Verdict.ABSENT, Verdict.EXCLUDED, Verdict.MOVED})
"""Verdicts after which a page is live only while a guard holds its removal."""


class JsonRecord:
    """Mixin for flat dataclasses that are stored as JSON objects."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON-ready dict, without fields at their default."""
        return {
            f.name: value
            for f in fields(self)  # type: ignore[arg-type]
            if (value := getattr(self, f.name)) != f.default
            and (value or f.default_factory is MISSING)
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Build the record from ``data``; names that are not known are left out."""
        known = {f.name for f in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: value for name, value in data.items() if name in known})


@dataclass(slots=True)
class PageRecord(JsonRecord):
    """State of one key. Times are seconds since the epoch, 0 for never."""

    key: str
    url: str
    status: str = Status.PENDING
    reason: str = ""
    """Why the page has its status, in words."""
    cause: str = ""
    """Why it is not in the answers, or is kept there by the site's policy (a Cause)."""
    proofs: list[dict[str, Any]] = field(default_factory=list)
    """What showed that it is to leave, or is kept by policy (``core.proofs``), newest last."""
    first_seen: float = 0.0
    last_seen: float = 0.0
    """A discovery source listed the page."""
    last_checked: float = 0.0
    """A fetch answered (200, 304, 404, 410, a redirect)."""
    last_attempt: float = 0.0
    next_due: float = 0.0
    interval: float = 0.0
    """Seconds between checks, as the schedule has it now."""
    checks: int = 0
    changes: int = 0
    failures: int = 0
    """Failed fetches in a row."""
    failing_since: float = 0.0
    """Start of the run that brought the first of them, 0 for none."""
    missing_runs: int = 0
    """Runs in a row that found the page unlisted and still answering."""
    unlisted_by: list[str] = field(default_factory=list)
    """Ids of the sources that listed the page last, once they list it no more."""
    unlisted_since: float = 0.0
    """Start of the run that found first that nothing leads to it; 0 if something does."""
    unheard_runs: int = 0
    """Runs in a row since then in which something failed that may list it; counted to a few."""
    etag: str = ""
    last_modified: str = ""
    validator_url: str = ""
    """The exact URL that sent the two validators."""
    validator_digest: str = ""
    """Version (text and links) of the content that came with the validators."""
    alias_of: str = ""
    """Key that this one redirects to."""
    listed_url: str = ""
    """The spelling that a source used last, if it is not ``url``."""
    left_out: bool = False
    """The site's own table leaves the page out: it is not asked for."""
    canonical: str = ""
    """Key of the page that this one says it is a copy of."""
    via: str = ""
    """URL through which the text was read, if a temporary redirect led there."""
    last_verdict: str = ""
    lastmod: str = ""
    """``lastmod`` of the sitemap entry, as written."""
    recipe: str = ""
    """How the body that the validators came with was read (extractor version, site's rules)."""
    made_by: str = ""
    """How the published chunks were read and cut (`reading.made_by`); "": not known."""
    shown_digest: str = ""
    """Digest of the last text with what the site calls volatile; tells ``cosmetic`` apart."""
    newer_since: float = 0.0
    """When a text was found that is newer than the published one and waits; 0 if there is none."""
    size: int = -1
    """Bytes of the last whole body, decompressed; -1: not known."""
    churn: int = 0
    """Checks in a row, up to the last one, that found another text."""
    difference: dict[str, Any] = field(default_factory=dict)
    """How the last other text differed from the published one: ``verdict``, ``at``, ``grade``,
    ``reason`` and ``tokens`` (pairs of old and new words); empty if there never was one."""
    generator: str = ""
    """Name of the rule that found the main content of the last body, ``body`` for none."""
    doubt: dict[str, Any] = field(default_factory=dict)
    """A text that was suddenly short, until it is believed or gone (``core.trust.Short``)."""
    discarded: dict[str, Any] = field(default_factory=dict)
    """What a person discarded of the page (``core.discards``), until something else is found."""
    refused: str = ""
    """What the last body said (``core.trust.essence_digest``), if that stands in front of pages."""

    @property
    def difference_tokens(self) -> list[list[str]]:
        """Pairs ``[old words, new words]`` of the last difference."""
        return list(self.difference.get("tokens", ()))

    @property
    def stale_reason(self) -> str:
        """Why the published text may be out of date although it is served, or ``""``."""
        live = self.status == Status.LIVE
        leaving = live and self.last_verdict in LEAVING
        if self.failures or leaving or (live and self.left_out):
            return self.reason or "the last checks failed"
        return ""
