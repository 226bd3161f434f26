"""Forgotten pages of which the receiver is to be told: no kept generation says that they were.

They are noted in the transaction that drops the page's record, and taken in the one that puts
the event into the outbox. URL, key and clocks only: nothing of what the page said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Status

if TYPE_CHECKING:
    from freshcrawl.core.forgetting import Mark
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.stores.base import RecordStore

ANNOUNCED = "meta:announced"
"""Row of what the receiver was told, see ``announcing``; none: it never was told anything."""
UNTOLD = "meta:untold"


def note(records: RecordStore, record: PageRecord | None, mark: Mark, generation: int) -> None:
    """Note that a page is to be told of, if it was ever published.

    ``record``: as it was before; ``generation``: the one that is without the page.
    """
    was_published = record is not None and (record.status == Status.LIVE or record.made_by)
    if record is None or not was_published or records.get(ANNOUNCED) is None:
        return
    known = (records.get(UNTOLD) or {}).get("pages", {})
    page = {
        "url": record.url,
        "status": str(record.status),
        "at": mark.at,
        "generation": generation,
        "reason": mark.words,
    }
    records.put(UNTOLD, {"pages": {**known, record.key: page}})


def take(records: RecordStore) -> list[dict[str, Any]]:
    """Return what was noted, by key, and forget it: ``key`` and the fields of ``note``."""
    row = records.get(UNTOLD)
    if row is None:
        return []
    records.delete(UNTOLD)
    return [{"key": key, **page} for key, page in sorted(row["pages"].items())]
