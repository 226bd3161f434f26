"""What a person has discarded of a page: kept in its record until a fetch finds something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Cause, PageRecord, Status
from freshcrawl.core.published import Staged
from freshcrawl.core.same_work import same_work

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = ("status", "verdict", "reason", "cause", "digest", "simhash", "gist", "alias_of")
AT_THE_END = frozenset({Cause.UNLISTED, Cause.COPY})
"""Causes that a run finds at its end: that the page answers, and how, says nothing of them."""


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
        return "a person discarded its new text"
    why = discarded.get("reason") or discarded.get("status")
    return f"a person discarded its removal ({why})"
