"""What a person has discarded of a page: kept in its record until a fetch finds something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Cause, PageRecord, Status
from freshcrawl.core.published import Staged
from freshcrawl.core.same_work import same_cause, same_work

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = ("status", "verdict", "reason", "cause", "digest", "simhash", "gist", "alias_of")
AT_THE_END = frozenset({Cause.UNLISTED, Cause.COPY})
"""Causes that a run finds at its end: that the page answers, and how, says nothing of them."""

WORDS = {
    Cause.NOT_FOUND: "404",
    Cause.GONE: "410",
    Cause.UNLISTED: "nothing lists it any more",
    Cause.MOVED: "it moved",
    Cause.HOME: "it redirects to the home page",
    Cause.OFF_SITE: "it redirects off the site",
    Cause.COPY: "it is a copy",
    Cause.NOINDEX: "noindex",
    Cause.ROBOTS: "robots.txt",
    Cause.SCOPE: "the site's table leaves it out",
}
"""Causes in words that are the same for each page, so that pages can be counted by them."""


def remembered(entry: Staged) -> dict[str, Any]:
    """Return what is kept of work that a person discards."""
    return {name: value for name in KEPT if (value := getattr(entry, name))}


def finding_of(record: PageRecord) -> Staged | None:
    """Return what a person discarded of a page, as staged work without its text."""
    if not record.discarded:
        return None
    kept = {name: record.discarded[name] for name in KEPT if name in record.discarded}
    at = float(record.discarded.get("at", 0.0))
    return Staged.from_json({"key": record.key, "url": record.url, "staged_at": at, **kept})


def is_same(record: PageRecord, entry: Staged) -> bool:
    """Tell whether a finding is the one that a person has discarded."""
    kept = finding_of(record)
    return kept is not None and same_work(kept, entry)


def is_finding(record: PageRecord, cause: str) -> bool:
    """Tell whether a person has discarded that a page leaves for this cause."""
    kept = finding_of(record)
    return kept is not None and bool(cause) and same_cause(kept.cause, cause)


def outlasts_text(record: PageRecord, canonical: str) -> bool:
    """Tell whether a discard stands although the page answered with a text, be it another one.

    ``canonical`` is the key that this text names as the page that it is a copy of.
    """
    kept = finding_of(record)
    if kept is None or kept.cause not in AT_THE_END:
        return False
    return kept.cause == Cause.UNLISTED or kept.alias_of == canonical


def words(discarded: Mapping[str, Any]) -> str:
    """Return in words what a person discarded, "" for nothing."""
    if not discarded:
        return ""
    if discarded.get("status") == Status.LIVE:
        return "kept by a person: new text discarded"
    why = WORDS.get(discarded.get("cause", "")) or discarded.get("reason") or discarded["status"]
    return f"kept by a person: removal discarded ({why})"
