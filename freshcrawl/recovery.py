"""Records after a run that was cut off: brought in step with what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.staging import is_published

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged
    from freshcrawl.ledger import Ledger
    from freshcrawl.state import SiteState


def recover(ledger: Ledger, state: SiteState, now: float) -> None:
    """Bring records and staged work in step with what is published; durable with a commit."""
    staged = {entry.key: entry for entry in state.staged()}
    for key, page in ledger.published.items():
        record = ledger.pages.setdefault(key, PageRecord(key, page.url, first_seen=now))
        if record.status == Status.FORGOTTEN:
            continue  # the corpus was put back from an older copy: scrapy verify tells
        if (record.status == Status.LIVE) != (page.status == Status.LIVE):
            entry = staged.get(key)
            ledger.settle(page, entry if entry and is_published(entry, page) else None)
    for entry in staged.values():
        _recover_staged(ledger, entry)
    for key, record in ledger.pages.items():
        if record.status == Status.LIVE and key not in ledger.published:
            # The corpus was lost or put back from an older copy.
            ledger.set(key, status=Status.PENDING, next_due=0.0)
    for name, row in list(state.records.items("run:")):
        if row.get("status", "running") == "running":
            state.records.put(name, {**row, "status": "killed"})


def _recover_staged(ledger: Ledger, entry: Staged) -> None:
    """Take staged work that waits into the ledger; drop it if it is published already."""
    key = entry.key
    ledger.staged[key] = entry
    if is_published(entry, ledger.published.get(key)) and _is_made(ledger, entry):
        ledger.unstage(key)
        if ledger.is_live(key):
            ledger.set(key, made_by=entry.made_by)
    elif entry.status != Status.LIVE and not entry.held:
        # Evidence of a run that was cut off: looked at again before it counts.
        ledger.set(key, next_due=0.0)


def _is_made(ledger: Ledger, entry: Staged) -> bool:
    """Tell whether what is published of a page was read and cut as the staged text was.

    Not if its content is lost: then the staged text brings it back.
    """
    if not ledger.is_live(entry.key) or not ledger.published[entry.key].content:
        return True
    kept = ledger.published_content(entry.key)
    return kept is not None and kept.made_by == entry.made_by
