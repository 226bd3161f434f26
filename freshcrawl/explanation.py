"""What is known of one page, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from freshcrawl.config import ConfigError
from freshcrawl.core.boilerplate import BODY
from freshcrawl.core.evidence import UNLISTED
from freshcrawl.core.forgetting import record_of, undo_command
from freshcrawl.core.freshness import CHURN_RUNS, stale_reason
from freshcrawl.core.guards import PERSON, WAITS
from freshcrawl.core.listings import Listings
from freshcrawl.core.pages import LEAVING, Status, Verdict
from freshcrawl.core.report import iso
from freshcrawl.core.schedule import CHANGES, LESSONS, due_at, is_due
from freshcrawl.core.urls import url_key
from freshcrawl.core.words import ago, count, when
from freshcrawl.forgotten import marks_of, scheme_of
from freshcrawl.noise.words import noise_lines, noise_of
from freshcrawl.proof_words import proof_lines, proofs_of
from freshcrawl.site_status import would_do
from freshcrawl.site_tables import make_site
from freshcrawl.staging import Content
from freshcrawl.stores.base import StoreError
from freshcrawl.summary import (
    VECTORS_COME,
    amount,
    changing_words,
    discard_command,
    pairs_words,
    release_command,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.core.forgetting import Mark
    from freshcrawl.core.listings import Source
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Staged
    from freshcrawl.core.schedule import SchedulePolicy
    from freshcrawl.state import SiteState


GIVE = "give the URL of a page, as https://docs.example.com/guide"
CONFIRMS = "later runs that find the same, far enough apart, let it go by themselves"
WHY_SO_OFTEN = {
    Verdict.NEW: ", the first time after half of that or more, so that not all come at once",
    **dict.fromkeys(CHANGES, "; each change that is found halves that"),
    **dict.fromkeys(LESSONS - CHANGES, "; each check that finds no change doubles that"),
    Verdict.GONE: ", and at least once a day until its removal is confirmed",
}
"""What the verdict of the last check says of the interval."""


def explain(
    state: SiteState, url: str, now: float, policy: SchedulePolicy, noise_expiry: float = math.inf
) -> dict[str, Any] | None:
    """Return what a site knows of a URL, or None if it does not know it.

    Raises:
        ConfigError: it is not the URL of a page.
        StoreError: what the last run left cannot be used.
    """
    key = key_in(state, url)
    if key is None:
        return None
    mark = marks_of(state).of(key, url)
    record = record_of(key, mark, scheme_of(state)) if mark else state.pages().get(key)
    if record is None:
        return None
    sources = Listings(state.sources()).sources_of(key)
    staged = state.staged_work(key) if not mark else None
    return {
        "site": state.name,
        **_record(record, sources),
        "stale_reason": stale_reason(record, now, policy.max_age),
        "next_due": iso(due_at(record, staged, policy)),
        "due": is_due(record, staged, policy, now),
        **_published(state, key),
        "noise": noise_of(state.records, key, now, noise_expiry),
        "staged": staged and {**_staged(staged), "waits_for": _place(state, staged)},
        "forgotten": mark and _forgotten(state.name, url, mark),
    }


def key_in(state: SiteState, url: str) -> str | None:
    """Return the key that a URL has by the rules of a site; None if no run of it has begun.

    Raises:
        ConfigError: it is not the URL of a page.
        StoreError: what the last run left cannot be used.
    """
    table = state.site_table()
    if table is None:
        return None
    try:
        site = make_site(table, f"state of {state.name}")
    except ConfigError as error:
        raise StoreError(f"{error}; crawl the site again") from None
    try:
        return url_key(url, site.rules)
    except ValueError as error:
        raise ConfigError(f"{error}; {GIVE}") from None


def _record(record: PageRecord, sources: list[Source]) -> dict[str, Any]:
    seen = max([record.last_seen, *(source.read_at for source in sources)])
    return {
        "key": record.key,
        "url": record.url,
        "status": record.status,
        "reason": record.reason,
        "cause": record.cause,
        "alias_of": record.alias_of,
        "proofs": proofs_of(record),
        "sources": [{"id": s.id, "read_at": iso(s.read_at)} for s in sources],
        "first_seen": iso(record.first_seen),
        "last_seen": iso(seen),
        "last_checked": iso(record.last_checked),
        "last_attempt": iso(record.last_attempt),
        "last_verdict": record.last_verdict,
        "interval_s": record.interval,
        "checks": record.checks,
        "changes": record.changes,
        "failures": record.failures,
        "missing_runs": record.missing_runs,
        "asked_for": not record.left_out,
        "etag": record.etag,
        "last_modified": record.last_modified,
        "lastmod": record.lastmod,
        "size": None if record.size < 0 else record.size,
        "churn": record.churn,
        "generator": record.generator,
        "difference": _dated(record.difference),
        "doubt": _dated(record.doubt),
        "discarded": _dated(record.discarded),
    }


def _dated(kept: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a record keeps of another text, with its time; None for nothing."""
    return {**kept, "at": iso(kept["at"])} if kept else None


def _difference_words(difference: Mapping[str, Any], now: float) -> str:
    grade = f", {difference['grade']}" if difference["grade"] else ""
    tokens = pairs_words(difference["tokens"])
    found = f"last difference {when(difference['at'], now)}: {difference['verdict']}{grade}"
    return f"{found}; {difference['reason']}" + (f": {tokens}" if tokens else "")


def _published(state: SiteState, key: str) -> dict[str, Any]:
    snapshot = state.corpus.snapshot()
    try:
        page, rollback = snapshot.page(key), snapshot.rollback()
        kept = state.corpus.get_content(page.content) if page and page.content else None
        content = Content.read(kept) if kept else None
        return {
            "last_changed": iso(page.changed_at) if page else None,
            "indexed_at": iso(snapshot.published_at(page.from_gen)) if page else None,
            "title": page.title if page else "",
            "content_digest": page.digest if page else "",
            "chunks": sum(1 for _ in snapshot.chunks(key)),
            "left_out": len(content.left_out) if content else 0,
            "boilerplate": state.boilerplate().version,
            "pinned": rollback.reason(state.name) if rollback and rollback.pinned else "",
        }
    finally:
        snapshot.close()


def _forgotten(site: str, url: str, mark: Mark) -> dict[str, Any]:
    undo = undo_command(site, mark.pattern or url)
    return {"at": iso(mark.at), "pattern": mark.pattern, "undo": undo}


def _place(state: SiteState, entry: Staged) -> str:
    """Return the URL that a page is to move to and that cannot be read as a page, "" if it can."""
    place, waiting = state.page(entry.alias_of), state.staged_work(entry.alias_of)
    moves = waiting is not None and waiting.status == Status.ALIAS
    return place.url if place is not None and (moves or place.status != Status.LIVE) else ""


def _staged(entry: Staged) -> dict[str, Any]:
    return {
        "status": entry.status,
        "held": entry.held,
        "person": entry.person,
        "released": entry.released,
        "found_at": [iso(moment) for moment in entry.held_runs],
        "words": would_do(entry),
    }


def page_lines(page: Mapping[str, Any], now: float) -> list[str]:
    """Return an explanation for reading, a line each."""
    why = f" ({page['reason']})" if page["reason"] else ""
    answers = f"; {count(page['chunks'], 'passage')} in the answers" if page["chunks"] else ""
    body = f"; {amount(page['size'])} when last read" if page["size"] else ""
    lines = [
        page["url"],
        f"  site {page['site']}, key {page['key']}",
        f"  {page['status']}{why}{answers or '; not in the answers'}{body}",
    ]
    if page["stale_reason"]:
        lines.append(f"  stale: {page['stale_reason']}")
    if page["discarded"]:
        back = release_command(page["site"], page["url"])
        at = when(page["discarded"]["at"], now)
        lines.append(f"  discarded {at}, until something else is found; to take that back: {back}")
    known = (*proof_lines(page, now), *_listed(page, now), *_checks(page, now))
    lines += [f"  {line}" for line in known]
    if page["generator"]:
        lines.append(f"  {_reading(page)}")
    lines.append(f"  {schedule_words(page, now)}")
    if page["difference"]:
        lines.append(f"  {_difference_words(page['difference'], now)}")
    if page["churn"] >= CHURN_RUNS:
        tokens = (page["difference"] or {}).get("tokens", ())
        words = changing_words({**page, "runs": page["churn"], "tokens": tokens})
        lines.append(f"  changes on every run: {words}")
    lines += [f"  {line}" for line in noise_lines(page, now)]
    if page["etag"] or page["last_modified"]:
        lines.append(f"  ETag {page['etag'] or '-'}, Last-Modified {page['last_modified'] or '-'}")
    if page["staged"]:
        lines.append(f"  {_waiting(page, page['staged'])}")
    if page["pinned"]:
        lines.append(f"  {page['pinned']}")
    if page["forgotten"]:
        lines.append(f"  to let it in again: {page['forgotten']['undo']}")
    return lines


def _reading(page: Mapping[str, Any]) -> str:
    """Return how the main content was found, and what of it is not the page's own."""
    if page["generator"] != BODY:
        return f"main content found by the rule {page['generator']}"
    words = "no main element known, so the whole body"
    if not page["boilerplate"]:
        return f"{words}; the site has no boilerplate that is left out"
    left_out = f"{count(page['left_out'], 'block')} left out as site boilerplate"
    return f"{words}; {left_out} (list {page['boilerplate']})"


def _listed(page: Mapping[str, Any], now: float) -> list[str]:
    lines = [f"listed by {s['id']}, read {when(s['read_at'], now)}" for s in page["sources"]]
    if lines:
        return lines
    runs = page["missing_runs"]
    return [f"{UNLISTED}, as {count(runs, 'run')} found" if runs else UNLISTED]


def _checks(page: Mapping[str, Any], now: float) -> list[str]:
    if not page["last_attempt"]:
        return ["never checked"]
    tried = f"tried {when(page['last_attempt'], now)}"
    if not page["last_checked"]:
        checked = f"never checked with success; {tried}: {page['last_verdict']}"
    elif page["failures"]:
        checked = f"checked {when(page['last_checked'], now)}; {tried}: {page['last_verdict']}"
    else:
        # What took the page away may have come by another way than most of its kind.
        hidden = page["status"] == Status.HIDDEN and page["last_verdict"] in LEAVING
        verdict = page["status"] if hidden else page["last_verdict"]
        checked = f"checked {when(page['last_checked'], now)}: {verdict}"
    counts = f"{count(page['checks'], 'check')}, {count(page['changes'], 'change')}"
    if page["failures"]:
        counts += f", {count(page['failures'], 'failure')} in a row"
    lines = [f"{checked}; {counts}"]
    if page["indexed_at"] and not page["content_digest"]:  # such a row is of a page that left
        lines.append(f"left the answers {when(page['indexed_at'], now)}")
    elif page["indexed_at"]:
        changed = when(page["last_changed"], now)
        lines.append(f"changed {changed}, indexed {when(page['indexed_at'], now)}")
    return lines


def schedule_words(page: Mapping[str, Any], now: float) -> str:
    """Return when a page is checked next, how often, and why so."""
    if not page["asked_for"]:
        return "not asked for any more"
    if not page["last_attempt"]:
        return "first check due now"
    next_check = "due now" if page["due"] else f"next check {when(page['next_due'], now)}"
    return f"{next_check}; {_interval(page)}"


def _interval(page: Mapping[str, Any]) -> str:
    if page["status"] == Status.GONE:
        return "a page that is gone is probed less and less often"
    if page["failures"]:
        why = ", and sooner while checks fail: up to a day apart"
    elif page["staged"] and page["staged"]["held"]:
        why = ", and by every run while a change is held"
    elif page["discarded"] or (page["staged"] and page["staged"]["waits_for"]):
        why = ""
    elif page["status"] == Status.HIDDEN:
        why = ", and at least once a day until it is back or gone for good"
    else:
        why = WHY_SO_OFTEN.get(page["last_verdict"], "")
    return f"checked every {ago(page['interval_s'])}{why}"


def _waiting(page: Mapping[str, Any], staged: Mapping[str, Any]) -> str:
    if staged["held"]:
        times = count(max(len(staged["found_at"]), 1), "run")
        found = f"one of many {staged['held']}; {staged['words']}, found by {times}"
        whom = f"{staged['person']}: {PERSON}" if staged["person"] else CONFIRMS
        return (
            f"{WAITS}: {found}; {whom}. To let it go: "
            f"{release_command(page['site'], page['url'])}; to keep the page as it is: "
            f"{discard_command(page['site'], page['url'])}"
        )
    what = "new text" if staged["status"] == Status.LIVE else staged["words"]
    if page["pinned"]:
        return f"found and waiting: {what}"
    if staged["waits_for"]:
        return (
            f"found, and waiting until {staged['waits_for']} is a page that can be read: {what}; "
            "until then the page answers with its last text"
        )
    if staged["released"] and staged["status"] == Status.LIVE:
        return f"found, and waiting for vectors: {what}; {VECTORS_COME}"
    return f"a later run publishes what was found: {what}"
