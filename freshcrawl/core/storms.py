"""Storms: what guards began to hold together stays one class until it is decided or confirmed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from freshcrawl.core.guards import REMOVALS
from freshcrawl.core.pages import JsonRecord, PageRecord, Status

if TYPE_CHECKING:
    from freshcrawl.core.published import Published


class Fate(StrEnum):
    """What became of a page whose work was held, in words."""

    LEFT = "left"
    PUBLISHED = "published"
    KEPT = "kept by a person"


@dataclass(slots=True)
class Storm(JsonRecord):
    """The pages of one class of held work, those that a person took out of it too."""

    since: float = 0.0
    """When the first of it was found."""
    pages: dict[str, str] = field(default_factory=dict)
    """By key, where the page leads to (``guards.destination``); of a change, its new digest."""


def fate(kind: str, mark: str, page: Published | None, record: PageRecord | None) -> Fate | None:
    """Return what a person decided on a page of a storm that waits no more.

    ``mark`` is what the storm has of it, ``page`` what is published. None: the page is well, by
    what its site says.
    """
    if page is None or page.status != Status.LIVE:
        return Fate.LEFT
    if record is not None and record.discarded:
        kept_removal = record.discarded.get("status") != Status.LIVE
        return Fate.KEPT if kept_removal == (kind == REMOVALS) else None
    return Fate.PUBLISHED if kind != REMOVALS and mark and page.digest == mark else None
