"""What is known of a whole site now: counts, ages, pages of a kind."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from freshcrawl.alerts.outbox import outbox_status
from freshcrawl.backlog import waiting_since, waits_for_vectors
from freshcrawl.core.freshness import (
    changing,
    is_changing,
    is_decided,
    stale_reason,
    stale_reasons,
)
from freshcrawl.core.guards import PERSON, GuardPolicy, counted
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.report import iso
from freshcrawl.core.schedule import is_due
from freshcrawl.core.words import ago
from freshcrawl.stores.locks import holder
from freshcrawl.summary import pairs_words

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged
    from freshcrawl.core.report import RunReport
    from freshcrawl.core.schedule import SchedulePolicy
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState

KINDS = (
    *(str(status) for status in Status),
    *("held", "stale", "due", "changing", "pending_embed"),
)
"""Kinds of pages that can be listed: statuses, and states that cut across them."""


def site_status(state: SiteState, now: float, policy: SchedulePolicy) -> dict[str, Any]:
    """Return the status of one site as the contract has it."""
    snapshot = state.corpus.snapshot()
    try:
        generation = snapshot.generation
        info = snapshot.info() if generation else {}
        rollback = snapshot.rollback()
    finally:
        snapshot.close()
    records = state.pages()
    reports = _reports(state)
    staged = {entry.key: entry for entry in state.staged()}
    held = [entry for entry in staged.values() if entry.held]
    checked = [record.last_checked for record in records.values() if record.status == Status.LIVE]
    stale = stale_reasons(records.values(), now, policy.max_age)
    wanted = [r for r in records.values() if is_decided(r, now, policy.max_age)]
    decided = stale_reasons(wanted, now, policy.max_age)
    vectorless = waiting_since(staged.values())
    oldest = [entry.staged_at for entry in staged.values()]
    complete = [report.finished_at for report in reports if report.complete]
    return {
        **_nothing(state.name, (state.site_table() or {}).get("url", "")),
        "pages": dict(sorted(Counter(str(r.status) for r in records.values()).items())),
        "due": sum(is_due(r, staged.get(key), policy, now) for key, r in records.items()),
        "stale": sum(stale.values()),
        "stale_reasons": stale,
        "stale_decided": decided,
        "changing": changing(records.values()),
        "staged": len(staged),
        "pending_embed": sum(waits_for_vectors(entry) for entry in staged.values()),
        "pending_embed_s": round(now - vectorless, 1) if vectorless else 0.0,
        "alerts": outbox_status(state.records),
        "writer": holder(state.folder) if state.folder else "",
        "held": len(held),
        "held_classes": sorted({entry.held for entry in held}),
        "held_reasons": _held_reasons(reports[-1], len(held)) if held and reports else [],
        "held_confirmed": confirmed_runs(held, policy),
        "pinned": rollback.reason(state.name) if rollback and rollback.pinned else "",
        "chunks": info.get("chunks", 0),
        "model": info.get("model", ""),
        "generation": generation,
        "oldest_check_s": round(now - min(checked), 1) if checked else None,
        "index_lag_s": round(now - min(oldest), 1) if oldest else 0.0,
        "last_complete": iso(max(complete, default=0.0)),
        "last_run": reports[-1].as_contract() if reports else None,
    }


def _reports(state: SiteState) -> list[RunReport]:
    """Return the run reports; one that says ``running`` while nobody writes to the site was killed.

    The next run would note that. Whoever ended in between noted how, so they are read again.
    """
    reports = state.reports()
    if not _runs(reports) or state.folder is None or holder(state.folder):
        return reports
    again = state.reports()
    if _runs(again) and again[-1].run_id == reports[-1].run_id:
        again[-1].status = "killed"
    return again


def _runs(reports: list[RunReport]) -> bool:
    return bool(reports) and reports[-1].status == "running"


def _held_reasons(report: RunReport, held: int) -> list[str]:
    """Return why work is held: what the last run said, and how much was decided since."""
    decided = 0 if report.pinned else report.held - held
    since = [f"{decided} of the {report.held} decided since"] if decided > 0 else []
    return [*report.held_reasons, *since]


def confirmed_runs(held: list[Staged], policy: SchedulePolicy) -> int | None:
    """Return how many runs have confirmed held work that goes by itself, None if there is none.

    Of several pages that is the one which was confirmed least.
    """
    needed = GuardPolicy(confirm_secs=policy.confirm)
    found = [counted(entry.held_runs, needed) for entry in held if not entry.person]
    return min(found, default=None)


def never_crawled(site: SiteConfig) -> dict[str, Any]:
    """Return the status of a site of ``sites.toml`` that has no state yet."""
    return _nothing(site.name, site.url)


def _nothing(name: str, url: str) -> dict[str, Any]:
    return {
        "site": name,
        "url": url,
        "pages": {},
        "due": 0,
        "stale": 0,
        "stale_reasons": {},
        "stale_decided": {},
        "changing": [],
        "staged": 0,
        "pending_embed": 0,
        "pending_embed_s": 0.0,
        "alerts": {"waiting": 0, "failing": 0, "dead": 0, "problem": ""},
        "writer": "",
        "held": 0,
        "held_classes": [],
        "held_reasons": [],
        "held_confirmed": None,
        "pinned": "",
        "chunks": 0,
        "model": "",
        "generation": 0,
        "oldest_check_s": None,
        "index_lag_s": 0.0,
        "last_complete": None,
        "last_run": None,
    }


def listed(state: SiteState, kind: str, now: float, policy: SchedulePolicy) -> list[dict[str, Any]]:
    """Return the pages of one of ``KINDS`` by key: ``key``, ``url``, ``status``, ``reason``."""
    staged = {entry.key: entry for entry in state.staged()}
    rows = []
    for key, record in sorted(state.pages().items()):
        entry = staged.get(key)
        if kind == "held":
            reason = held_words(entry) if entry is not None and entry.held else None
        elif kind == "pending_embed":
            waits = entry is not None and waits_for_vectors(entry)
            since = (now - (entry.waits_since or entry.staged_at)) if waits and entry else 0.0
            reason = f"its text waits for vectors since {ago(since)}" if waits else None
        elif kind == "due":
            why = record.reason if record.last_attempt else "never checked"
            reason = why if is_due(record, entry, policy, now) else None
        else:
            reason = _reason(record, kind, now, policy.max_age)
        if reason is not None:
            row = {"key": key, "url": record.url, "status": str(record.status), "reason": reason}
            rows.append(row)
    return rows


def _reason(record: PageRecord, kind: str, now: float, max_age: float) -> str | None:
    """Return why a page is of a kind, None if it is not."""
    if kind == "stale":
        return stale_reason(record, now, max_age) or None
    if kind == "changing":
        return pairs_words(record.difference_tokens) if is_changing(record) else None
    return record.reason if record.status == kind else None


def held_words(entry: Staged) -> str:
    """Return in words what held work would do, and for whom it waits."""
    whom = f"; {entry.person}: {PERSON}" if entry.person else ""
    return f"{would_do(entry)}{whom}"


def would_do(entry: Staged) -> str:
    """Return in words what staged work would do."""
    if entry.status == Status.LIVE:
        return "its text would change"
    why = f": {entry.reason}" if entry.reason else ""
    return f"would leave the answers ({entry.status}{why})"
