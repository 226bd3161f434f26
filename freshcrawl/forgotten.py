"""Records after a page was forgotten: brought in step with the marks that keep it out.

Derived from the marks, so that it makes no difference whether the process that was told to forget
does it, or whoever opens the site next because that one was killed.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from freshcrawl.alerts import forgotten_pages
from freshcrawl.alerts.outbox import Outbox
from freshcrawl.core.forgetting import Forgotten, record_of
from freshcrawl.core.listings import POINTERS
from freshcrawl.core.pages import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.ledger import Ledger
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import RecordStore

logger = logging.getLogger(__name__)

MARKS = "meta:forgotten"
"""Name of the record with the marks: a second place, should the corpus be lost or put back."""
KEPT = "forgotten pages"
"""Id of the source that lists what they listed: that nobody reads them any more proves nothing."""
PARTS = ("staged", "work", "noise")
"""Rows of a page beside its record."""
BLANK = "(a forgotten page)"
"""What stands in run reports for its URL."""


def marks_of(state: SiteState) -> Forgotten:
    """Return the marks of a site."""
    with closing(state.corpus.snapshot()) as snapshot:
        published = snapshot.forgotten()
    return published.joined(Forgotten.from_json(state.records.get(MARKS) or {}))


def scheme_of(state: SiteState) -> str:
    """Return how the URLs of a site begin, ``https`` if it is not known."""
    return urlsplit((state.site_table() or {}).get("url", "")).scheme or "https"


def catch_up(ledger: Ledger, state: SiteState) -> None:
    """Drop all that records hold of pages that are marked; durable with a commit."""
    marks = ledger.forgotten = marks_of(state)
    if not marks:
        return
    known = marks.to_json()
    if state.records.get(MARKS) != known:
        state.records.put(MARKS, known)
    for key in marks.keys.keys() & ledger.published.keys():
        logger.warning(
            "%(key)s was forgotten and is in the answers, as an older copy of the corpus was put "
            "back: run scrapy forget %(scheme)s://%(key)s --site %(site)s",
            {"key": key, "scheme": scheme_of(state), "site": state.name},
        )
    late = {key for key in marks.keys if not is_in_step(ledger, key)}
    if not late:
        return
    _keep_listed(ledger, late)
    urls = {r.url for key in late if (r := ledger.pages.get(key))}
    urls |= {f"{each}://{key}" for key in late for each in ("http", "https")}
    scheme = scheme_of(state)
    for key in sorted(late):
        for part in PARTS:
            if state.records.get(f"{part}:{key}") is not None:
                state.records.delete(f"{part}:{key}")
        ledger.drop_listings_of(key)
        page, mark = ledger.pages.get(key), marks.keys[key]
        forgotten_pages.note(state.records, page, mark, ledger.generation)
        ledger.add(record_of(key, mark, scheme))
    ledger.noise.forget(late)
    names = names_pattern(urls | set(late))
    _blank_reports(state.records, names)
    _blank_letters(state.records, names)


def is_in_step(ledger: Ledger, key: str) -> bool:
    """Tell whether a page's record is no more than its mark."""
    record = ledger.pages.get(key)
    return record is not None and record.status == Status.FORGOTTEN


def _keep_listed(ledger: Ledger, late: set[str]) -> None:
    """Let what pages listed stay listed without them."""
    sources = ledger.listings.sources
    parts = (sources.get(f"{kind}:{key}") for key in sorted(late) for kind in POINTERS)
    listed = [key for source in parts if source for key in source.keys if key not in late]
    if listed:
        ledger.listings.extend(KEPT, "kept", listed)
        sources[KEPT].read_at = max(ledger.forgotten.keys[key].at for key in late)


def names_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Return what finds URLs and keys in a text, but not as parts of longer ones."""
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w./-])(?:{any_name})(?!\.?[\w/?&=%~-])")


def _blank_letters(records: RecordStore, pattern: re.Pattern[str]) -> None:
    """Take pages out of what waits to be told by webhook, or could not be told."""
    outbox = Outbox(records)
    for letter in outbox.letters():
        try:
            batch = json.loads(outbox.body(letter))
        except ValueError:
            outbox.remove(letter)  # nobody could read it either
            continue
        blanked = _blank(batch, pattern)
        if blanked != batch:
            outbox.rewrite(letter, blanked)


def _blank_reports(records: RecordStore, pattern: re.Pattern[str]) -> None:
    """Take pages out of the run reports."""
    for name, row in list(records.items("run:")):
        blanked = _blank(row, pattern)
        if blanked != row:
            records.put(name, blanked)


def _blank(value: Any, pattern: re.Pattern[str]) -> Any:
    """Return JSON without the entries of lists that are a page, or about one; text without it."""
    if isinstance(value, str):
        return pattern.sub(BLANK, value)
    if isinstance(value, dict):
        return {name: _blank(one, pattern) for name, one in value.items()}
    if isinstance(value, list):
        return [_blank(one, pattern) for one in value if not _is_of(one, pattern)]
    return value


def _is_of(entry: Any, pattern: re.Pattern[str]) -> bool:
    url = entry.get("url", "") if isinstance(entry, dict) else entry
    return isinstance(url, str) and pattern.fullmatch(url) is not None
