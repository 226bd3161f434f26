"""Records and staged work against what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from freshcrawl.core.pages import Status
from freshcrawl.staging import is_published
from freshcrawl.verify.bound import reading_of
from freshcrawl.verify.findings import NEXT_RUN, OTHER_ROW, Finding, Kind
from freshcrawl.verify.unfinished import is_rolled_back, is_under_way, was_made_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Published, Staged
    from freshcrawl.verify.view import View

T = TypeVar("T")
DROPPED = ("page:", "staged:", "work:", "noise:", "event:", "letter:")
"""Rows that a crawl makes again, or that only the webhook would miss."""


def check_records(view: View) -> Iterator[Finding]:
    """Compare records with published pages, both ways, and staged work with its parts."""
    for name in view.bad_rows:
        repair = "" if name.startswith(DROPPED) else OTHER_ROW
        yield Finding(Kind.ROW, name, "the row is no JSON object of its kind", repair=repair)
    if view.rollback is not None:
        what = f"records are not in step with the rollback to generation {view.rollback.of}"
        where = f"generation {view.rollback.generation}"
        yield Finding(Kind.ROLLBACK, where, what, damage=False)
    yield from _check_forgotten(view)
    yield from _check_staged(view)
    reading = reading_of(view)
    for key, page in _but_forgotten(view, view.published).items():
        record = view.pages.get(key)
        under_way = is_under_way(view, key)
        if record is None:
            # A row that is damaged is reported as that.
            if f"page:{key}" not in view.bad_rows:
                what = "it is published, but there is no record of it"
                yield _finding(Kind.RECORD_MISSING, key, what, under_way=under_way)
        else:
            yield from _check_record(view, page, record, under_way=under_way)
            if not under_way and reading.lacks(view, page, record):
                what = "its record has the validators of a text that is not published, nor staged"
                yield Finding(Kind.RECORD_VERSION, key, what)
    for key in view.staged.keys() - view.published.keys() - view.pages.keys():
        if f"page:{key}" not in view.bad_rows:
            yield Finding(Kind.RECORD_MISSING, key, "it is staged, but there is no record of it")
    for key, record in _but_forgotten(view, view.pages).items():
        if record.status == Status.LIVE and key not in view.published:
            what = "its record says that it is live, but it is not published"
            under_way = is_rolled_back(view, key)
            yield _finding(Kind.RECORD_UNPUBLISHED, key, what, under_way=under_way)


def _but_forgotten(view: View, rows: dict[str, T]) -> dict[str, T]:
    """Return rows by key, without those of pages that were purged: these are looked at apart."""
    return {key: row for key, row in rows.items() if key not in view.forgotten.keys}


def _check_forgotten(view: View) -> Iterator[Finding]:
    """Look for what is still there of pages that were purged for good."""
    for key in view.forgotten.keys:
        record = view.pages.get(key)
        if view.versions(key):
            what = "it was forgotten and is stored all the same, as in an older copy"
            repair = f"none: run scrapy forget https://{key}"
            yield Finding(Kind.FORGOTTEN_STORED, key, what, repair=repair)
        if key in view.staged or (record is not None and record.status != Status.FORGOTTEN):
            what = "it was forgotten, and records know it still: that was cut off"
            yield Finding(Kind.FORGOTTEN, key, what, damage=False)


def _check_record(
    view: View, page: Published, record: PageRecord, *, under_way: bool
) -> Iterator[Finding]:
    live = page.status == Status.LIVE
    if (record.status == Status.LIVE) != live:
        what = f"its record says {record.status}, it is published as {page.status}"
        yield _finding(Kind.RECORD_STATUS, page.key, what, under_way=under_way)
    elif live and record.made_by:
        made_by = view.made_by.get(page.key)
        if made_by not in {None, record.made_by}:
            what = f"its record says made by {record.made_by!r}, its content by {made_by!r}"
            if not under_way and was_made_by(view, page, record):
                yield Finding(Kind.RECORD_MADE_BY, page.key, what, damage=False)
            else:
                yield _finding(Kind.RECORD_MADE_BY, page.key, what, under_way=under_way)


def _finding(kind: Kind, key: str, what: str, *, under_way: bool) -> Finding:
    return Finding(kind, key, what, damage=not under_way, repair=NEXT_RUN if under_way else "")


def _check_staged(view: View) -> Iterator[Finding]:
    for key, entry in _but_forgotten(view, view.staged).items():
        if is_done(view, entry):
            what = "it is published already"
            yield Finding(Kind.STAGED_DONE, f"staged:{key}", what, damage=False)
        elif entry.status == Status.LIVE and not view.work.get(key):
            lacks = "cannot be read" if key in view.work else "is missing"
            if f"work:{key}" not in view.bad_rows:
                what = f"its text, in work:{key}, {lacks}"
                yield Finding(Kind.STAGED_BROKEN, f"staged:{key}", what)
    for key in view.work.keys() - view.staged.keys() - view.forgotten.keys.keys():
        if f"staged:{key}" not in view.bad_rows:
            yield Finding(Kind.WORK_STRAY, f"work:{key}", "it is of no staged change")


def is_done(view: View, entry: Staged) -> bool:
    """Tell whether staged work is what is published, and made in the same way."""
    page = view.published.get(entry.key)
    if not is_published(entry, page):
        return False
    if page is None or page.status != Status.LIVE:
        return True
    return view.made_by.get(entry.key) in {None, entry.made_by}
