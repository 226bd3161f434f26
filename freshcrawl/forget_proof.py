"""What a forget hands out in writing: what was removed, and that it is not found any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl import __version__
from freshcrawl.compacting import FILES
from freshcrawl.core.forgetting import undo_command
from freshcrawl.core.report import iso

if TYPE_CHECKING:
    from freshcrawl.forgetting import Forgetting
    from freshcrawl.purged import PurgedPage

FORMAT = 1
"""Goes up whenever a field changes its meaning."""


def proof_of(done: Forgetting, now: float) -> dict[str, Any]:
    """Return the document: JSON with no text of any page, only digests of digests of it.

    ``now``: when it is written, in epoch seconds.
    """
    kept = {*done.logs_in_use, *done.without_room}
    return {
        "format": FORMAT,
        "site": done.site,
        "target": done.target,
        "written_at": iso(now),
        "freshcrawl": __version__,
        "generation": done.generation,
        "pages": [_page(page, page.key in done.before) for page in done.purged.pages],
        "removed": done.removed,
        "copies": done.copies,
        "rewritten": [name for name in FILES if name not in kept],
        "logs_in_use": done.logs_in_use,
        "without_room": done.without_room,
        "checked": done.traces.to_json() if done.traces else None,
        "undo": undo_command(done.site, done.target),
    }


def _page(page: PurgedPage, before: bool) -> dict[str, Any]:
    return {
        "key": page.key,
        "urls": page.urls,
        "status_before": page.status,
        "forgotten_at": iso(page.forgotten_at),
        "forgotten_before": before,
        "removed": page.removed,
        "text_sha256": page.text_sha256,
    }
