"""Events of a webhook: what happened to a site's pages and in its runs, and in which batches."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Status
from freshcrawl.core.report import iso

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Published

COMPLETED, HELD, INCOMPLETE = "run.completed", "run.held", "run.incomplete"
NEW, CHANGED, MOVED = "page.new", "page.changed", "page.moved"
HIDDEN, GONE = "page.hidden", "page.gone"
TYPES = (COMPLETED, HELD, INCOMPLETE, NEW, CHANGED, MOVED, HIDDEN, GONE)
PING = "ping"
"""Type of the event of a test; sent whatever types are chosen."""
WITHDRAWN = "withdrawn"
"""Status of a page without a row: a generation from before it was known is current again."""
FINAL = frozenset({Status.GONE, Status.ALIAS})
"""What a page can become that is out of the answers already."""
PARTS = {"text": "digest", "links": "links_digest", "title": "title", "url": "url"}
"""What can differ between two live rows of a page, and the field that tells."""


def page_type(old: Published | None, new: Published | None) -> str:
    """Return the type of what happened between two rows of one page; "" for nothing to tell."""
    before, after = old.status if old else "", new.status if new else WITHDRAWN
    if after == Status.LIVE:
        if before != Status.LIVE:
            return NEW
        return CHANGED if differing_parts(old, new) else ""
    if not before or before == after:
        return ""
    if after in {Status.GONE, Status.ALIAS}:
        return GONE if after == Status.GONE else MOVED
    return HIDDEN if before == Status.LIVE else ""


def as_it_stands(row: Published | None, record: PageRecord | None) -> Published | None:
    """Return a page's row with what became of it since it left the answers.

    A hidden page that turns out to be gone, or moved, is not published again for that: only its
    record knows.
    """
    if row is None or row.status == Status.LIVE or record is None or record.status not in FINAL:
        return row
    return row if row.status == record.status else replace(row, status=record.status)


def differing_parts(old: Published | None, new: Published | None) -> list[str]:
    """Return which of ``PARTS`` differ between two rows.

    Links only where the text is the same: their digest has their places in it.
    """
    parts = [name for name, part in PARTS.items() if getattr(old, part) != getattr(new, part)]
    return [name for name in parts if name != "links" or "text" not in parts]


def page_event(
    site: str,
    old: Published | None,
    new: Published | None,
    record: PageRecord | None,
    *,
    at: float,
    generation: int,
    moved_to: str = "",
    moved_from: str = "",
    later: bool = False,
) -> dict[str, Any] | None:
    """Return the event of a page that had the row ``old`` and has ``new``, None for none.

    ``at``: when the row was published (epoch seconds); ``moved_to`` and ``moved_from`` are URLs.
    ``later``: it became so without another row, at ``at``.
    The id is of what happened: the same whenever and however often it is made.
    """
    kind, page = page_type(old, new), new or old
    if not kind or page is None:
        return None
    status = str(new.status) if new else WITHDRAWN
    what = (kind, page.key, generation, status, page.version, page.url)
    event: dict[str, Any] = {
        "id": made_id(site, *what, *([iso(at)] if later else [])),
        "type": kind,
        "at": iso(at),
        "generation": generation,
        "key": page.key,
        "url": page.url,
        "title": page.title or (old.title if old else ""),
        "content_digest": page.digest,
        "old_status": str(old.status) if old else None,
        "status": status,
    }
    if kind == CHANGED:
        event["parts"] = differing_parts(old, new)
    if old is not None and old.url != page.url:
        event["previous_url"] = old.url
    elif moved_from and kind == NEW:
        event["previous_url"] = moved_from
    if kind == MOVED:
        event["moved_to"] = moved_to or None
    if kind in {MOVED, HIDDEN, GONE}:
        event["cause"] = record.cause if record else ""
        event["reason"] = record.reason if record else ""
    return event


def forgotten_event(site: str, page: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event of a page that a person had purged; nothing of what it said is in it.

    ``page``: ``key``, ``url``, ``status`` before, ``at`` (epoch seconds), ``generation`` and
    ``reason``.
    """
    return {
        "id": made_id(site, GONE, page["key"], page["generation"], Status.FORGOTTEN, page["at"]),
        "type": GONE,
        "at": iso(page["at"]),
        "generation": page["generation"],
        "key": page["key"],
        "url": page["url"],
        "title": "",
        "content_digest": "",
        "old_status": page["status"],
        "status": str(Status.FORGOTTEN),
        "cause": str(Status.FORGOTTEN),
        "reason": page["reason"],
    }


def run_types(run: Mapping[str, Any]) -> list[str]:
    """Return the types of the events of a run that has ended; ``run`` is ``as_contract``."""
    whole = run["status"] == "ok" and run["complete"]
    held = [HELD] if run["held"] or run["pinned"] else []
    return [COMPLETED if whole else INCOMPLETE, *held]


def run_event(
    site: str, kind: str, run: Mapping[str, Any], remedies: Sequence[str], at: float
) -> dict[str, Any]:
    """Return one event of a run; ``remedies`` say what a person can do. ``at``: epoch seconds."""
    return {
        "id": made_id(site, kind, run["run_id"]),
        "type": kind,
        "at": run["finished_at"] or iso(at),
        "generation": run["generation"],
        "remedies": list(remedies),
        "run": dict(run),
    }


def made_id(*parts: object) -> str:
    """Return an id that is the same for the same parts: 32 hex digits."""
    text = json.dumps([str(part) for part in parts], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def in_batches(
    site: str,
    events: Sequence[dict[str, Any]],
    size: int,
    *,
    run_id: str,
    generation: int,
    at: float,
    exact: bool = True,
) -> Iterator[dict[str, Any]]:
    """Yield the bodies of the POSTs that tell of ``events``, in order, ``size`` in each.

    ``exact``: whether it is known for sure what was told before.
    """
    for start in range(0, len(events), size):
        batch = list(events[start : start + size])
        yield {
            "id": "msg_" + made_id(*(event["id"] for event in batch)),
            "created_at": iso(at),
            "site": site,
            "run_id": run_id,
            "generation": generation,
            "exact": exact,
            "events": batch,
        }
