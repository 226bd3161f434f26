"""What answers are made of, and the changes that wait to become part of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from freshcrawl.core.pages import JsonRecord, Status


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
    cause: str = ""
    """Why the page leaves the answers (``core.pages.Cause``), if it does."""
    digest: str = ""
    links_digest: str = ""
    title: str = ""
    simhash: int = 0
    gist: str = ""
    """Digest of title and text without what differs by itself (`core.trust.gist_digest`)."""
    essence: str = ""
    """Digest of what the text says whatever page it is of (`core.trust.essence_digest`)."""
    canonical: str = ""
    """Key named by ``rel=canonical`` if it is another one."""
    alias_of: str = ""
    target: str = ""
    """URL off the site where the page redirects to."""
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
    cut_for: str = ""
    """The model, and its limit, that the chunks were cut for (`staging.limit_of`)."""
    held: str = ""
    """Class of the guard that holds it (``removals`` or ``changes``), or ``""``."""
    person: str = ""
    """Why a person must decide on it, if it is held and does not confirm itself."""
    held_runs: list[float] = field(default_factory=list)
    """Starts of the runs that found the same."""
    released: bool = False
    """Guards or a person have let it go: it waits for vectors only, its own or its target's."""
    waits_since: float = 0.0
    """When work of this page was first found that is not published since."""
