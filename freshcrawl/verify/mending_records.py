"""Records and staged work are brought in step with what is published, in one transaction."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.ledger import NO_VALIDATORS
from freshcrawl.seams import Seam, reached
from freshcrawl.state import RECORDS
from freshcrawl.stores.records_audit import RecordsAudit
from freshcrawl.verify.findings import Finding, Kind
from freshcrawl.verify.records import DROPPED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.state import SiteState
    from freshcrawl.verify.view import View

READ_ANEW: dict[str, Any] = {**NO_VALIDATORS, "made_by": "", "next_due": 0.0}
"""What makes the next crawl download a page, and keep and publish it whatever it finds."""
AT_ONCE: dict[str, Any] = {**NO_VALIDATORS, "next_due": 0.0}


class RecordChanges:
    """Changes of ``records.sqlite`` that are not written yet."""

    def __init__(self, view: View, now: float) -> None:
        self._view = view
        self._now = now
        self._changes: dict[str, dict[str, Any]] = {}
        self._dropped: set[str] = set()

    def change(self, key: str, **changes: Any) -> None:
        """Change fields of a page's record, which is made if it is not there."""
        self._changes.setdefault(key, {}).update(changes)

    def drop(self, *names: str) -> None:
        """Drop rows."""
        self._dropped.update(names)

    def write(self, state: SiteState) -> None:
        """Write and commit, if there is anything.

        Raises:
            StoreError: the site's folder is another one by now.
        """
        state.check_own()
        for name in sorted(self._dropped):
            state.records.delete(name)
        for key, changes in sorted(self._changes.items()):
            if record := self._record(key):
                for name, value in changes.items():
                    setattr(record, name, value)
                state.records.put(f"page:{key}", record.to_json())
        if self._dropped or self._changes:
            state.records.commit()
            reached(Seam.RECORDS_COMMITTED)

    def _record(self, key: str) -> PageRecord | None:
        """Return a page's record, or a new one if it is published or staged; else None."""
        view = self._view
        known = view.published.get(key) or view.staged.get(key)
        if key in view.pages or known is None:
            return view.pages.get(key)
        status = view.published[key].status if key in view.published else Status.PENDING
        made_by = view.made_by.get(key, "")
        return PageRecord(key, known.url, status, first_seen=self._now, made_by=made_by)


def settle_records(view: View, findings: Iterable[Finding], changes: RecordChanges) -> None:
    """Add to ``changes`` what mends records and staged work."""
    for finding in findings:
        key = finding.where
        match finding.kind:
            case Kind.ROW if key.startswith(DROPPED):
                _drop_row(view, key, changes)
            case Kind.STAGED_DONE:
                _settle(view, key.removeprefix("staged:"), changes)
            case Kind.STAGED_BROKEN:
                key = key.removeprefix("staged:")
                changes.drop(f"staged:{key}", f"work:{key}")
                changes.change(key, **AT_ONCE)
            case Kind.WORK_STRAY:
                changes.drop(key)
            case Kind.CONTENT_DAMAGED | Kind.CONTENT_MISSING if finding.damage:
                changes.change(key, **READ_ANEW)
            case Kind.RECORD_MISSING if finding.damage:
                changes.change(key, **AT_ONCE)
            case Kind.RECORD_UNPUBLISHED:
                changes.change(key, status=Status.PENDING, **READ_ANEW)
            case Kind.RECORD_STATUS if finding.damage:
                changes.change(key, status=view.published[key].status, **AT_ONCE)
            case Kind.RECORD_MADE_BY:
                changes.change(key, made_by=view.made_by[key])
            case Kind.RECORD_VERSION:
                changes.change(key, **AT_ONCE)


def _drop_row(view: View, name: str, changes: RecordChanges) -> None:
    prefix, _, key = name.partition(":")
    changes.drop(name)
    if prefix == "staged":
        changes.drop(f"work:{key}")
        changes.change(key, **AT_ONCE)
    elif prefix == "page":
        changes.change(key, **AT_ONCE)
        if key not in view.published:
            # Only who lists it knows its URL; sitemaps are read whole in each run.
            for parent in _pointing_to(view, key):
                changes.change(parent, **AT_ONCE)


def _pointing_to(view: View, key: str) -> list[str]:
    """Return the pages that list a page by link, redirect or canonical link."""
    prefixes = ("listing:page:", "listing:target:")
    with closing(RecordsAudit(view.folder / RECORDS)) as records:
        return [
            name.split(":", 2)[2]
            for name, row in records.rows()
            if name.startswith(prefixes) and key in (row or {}).get("keys", ())
        ]


def _settle(view: View, key: str, changes: RecordChanges) -> None:
    """Do what the next run's start does with staged work that is published."""
    entry, page = view.staged[key], view.published.get(key)
    changes.drop(f"staged:{key}", f"work:{key}")
    if page is None:
        return
    if page.status == Status.LIVE:
        changes.change(key, status=page.status, made_by=entry.made_by)
    else:
        changes.drop(f"noise:{key}")
        told = {"alias_of": entry.alias_of, "reason": entry.reason, "cause": entry.cause}
        changes.change(key, status=page.status, **told, **NO_VALIDATORS)
