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

    @property
    def difference_tokens(self) -> list[list[str]]:
        """Pairs ``[old words, new words]`` of the last difference."""
        return list(self.difference.get("tokens", ()))

    @property
    def stale_reason(self) -> str:
        """Why the published text may be out of date although it is served, or ``""``."""
        leaving = self.status == Status.LIVE and self.last_verdict in LEAVING
        if self.failures or leaving:
            return self.reason or "the last checks failed"
        return ""


@dataclass(slots=True)
class Block(JsonRecord):
    """One block of main content.

    ``kind`` is one of heading, paragraph, list, code, table, signature,
    admonition, quote, rule. ``text`` is Markdown for display; ``bare`` is the
    same without link targets (``""``: equal to ``text``). ``level`` is 1-6 for
    a heading; for a signature 7 plus its depth of nesting. ``title`` is the
    plain text of a heading, or the short name of a signature.
    """

    kind: str
    text: str
    bare: str = ""
    level: int = 0
    anchor: str = ""
    title: str = ""

    @property
    def plain(self) -> str:
        """Markdown without link targets: what is compared and embedded."""
        return self.bare or self.text


@dataclass(slots=True)
class Document:
    """Main content and head of one HTML page."""

    title: str = ""
    blocks: list[Block] = field(default_factory=list)
    left_out: dict[int, Block] = field(default_factory=dict)
    """Blocks that are none of the page's own, by their place among all (site boilerplate)."""
    links: list[str] = field(default_factory=list)
    """Absolute URLs of all ``a href`` of the whole page, in order, without repeats."""
    canonical: str = ""
    description: str = ""
    language: str = ""
    robots: str = ""
    """Content of ``meta name=robots`` (and ``googlebot`` is not read)."""
    refresh: str = ""
    """Absolute target of an immediate ``meta http-equiv=refresh``, or ``""``."""
    generator: str = ""
    """Name of the rule that found the main content, ``body`` for none."""
    index_page: bool = False
    """A page that the generator makes of links alone (Sphinx genindex, search)."""
    head_title: str = ""
    """Title in the head as it is, with the site's name."""
    wall: str = ""
    """What stands in front of the page: ``login form`` and so on (`extract.walls`), or ``""``."""
    wall_sign: str = ""
    """What it is known by, in words."""

    @property
    def wall_words(self) -> str:
        """What stands in front of the page and what it is known by, in words."""
        return f"the answer is a {self.wall}, not the page ({self.wall_sign})"

    @property
    def markdown(self) -> str:
        """Displayed Markdown."""
        return "\n\n".join(block.text for block in self.blocks)

    @property
    def bare_markdown(self) -> str:
        """Markdown without link targets: the text whose digest decides."""
        return "\n\n".join(block.plain for block in self.blocks)


@dataclass(slots=True)
class Chunk(JsonRecord):
    """One retrievable passage of a page."""

    id: int
    """Positive 63-bit integer of (key, embed digest, occurrence)."""
    key: str
    ordinal: int
    """Place in the page, from 0; display order only, not part of the identity."""
    heading_path: list[str]
    anchor: str
    text: str
    """Displayed Markdown."""
    embed_digest: str
    """sha256 (hex) of ``embed_text``."""
    embed_text: str = ""
    """Heading path and text without link targets; what the model sees."""


@dataclass(slots=True)
class Published(JsonRecord):
    """One page of a generation: what answers are made of."""

    key: str
    url: str
    status: str = Status.LIVE
    digest: str = ""
    """sha256 (hex) of the main Markdown without link targets."""
    links_digest: str = ""
    """sha256 (hex) of the link targets inside the main content."""
    title: str = ""
    simhash: int = 0
    changed_at: float = 0.0
    """When the fetch that brought this content answered."""
    content: str = ""
    """Digest under which the stored blocks are found in ``content``."""
    from_gen: int = 0

    @property
    def version(self) -> str:
        """What identifies the content as it is shown: text, link targets and anchors."""
        return self.digest + self.links_digest


@dataclass(slots=True)
class Edit:
    """One page's part of a publish."""

    page: Published
    """The page's new row; any status but live takes it out of the answers."""
    chunks: list[Chunk] = field(default_factory=list)
    """Its chunks, in order; empty unless the status is live."""


@dataclass(slots=True)
class Staged(JsonRecord):
    """A change that waits to be published.

    With ``status`` live the page's row and chunks are replaced; with any other
    status the page leaves the answers. ``blocks``, ``body`` and ``chunks`` are
    stored apart from the rest and may be empty here.
    """

    key: str
    url: str
    status: str
    verdict: str
    staged_at: float
    changed_at: float = 0.0
    """When the text that this makes current was fetched first."""
    run_id: str = ""
    reason: str = ""
    digest: str = ""
    links_digest: str = ""
    title: str = ""
    simhash: int = 0
    gist: str = ""
    """Digest of title and text without what differs by itself (`core.trust.gist_digest`)."""
    canonical: str = ""
    """Key named by ``rel=canonical`` if it is another one."""
    alias_of: str = ""
    generator: str = ""
    """Name of the rule that found the main content, ``body`` for none."""
    left_out: list[int] = field(default_factory=list)
    """Places of those blocks that are site boilerplate: kept, but not shown."""
    blocks: str = ""
    """JSON list of all blocks, zlib, base64."""
    made_by: str = ""
    """How the page was read and cut (`reading.made_by`)."""
    body: str = ""
    """Fetched body, zlib, base64 (for re-extraction)."""
    chunks: list[dict[str, Any]] = field(default_factory=list)
    held: str = ""
    """Class of the guard that holds it (``removals`` or ``changes``), or ``""``."""
    held_runs: list[float] = field(default_factory=list)
    """Starts of the runs that found the same."""
