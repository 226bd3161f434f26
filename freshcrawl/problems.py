"""What needs attention at a site, and what a person can do: for timers, and for the webhook."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from freshcrawl.core.guards import NOT_WELL, PERSON
from freshcrawl.core.report import ENDED_EARLY
from freshcrawl.core.rollback import release_command as rollback_release
from freshcrawl.core.words import ago, count
from freshcrawl.summary import discard_command, release_command, stopped_early

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.config import Config


class Kind(StrEnum):
    """What a problem is about, the most serious first."""

    FAILED = "failed"
    OVERDUE = "overdue"
    HELD = "held"
    INCOMPLETE = "incomplete"
    STALE = "stale"
    ALERTS = "alerts"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that needs attention."""

    kind: Kind
    words: str
    remedy: str


def run_problems(run: Mapping[str, Any], site: str) -> list[Problem]:
    """Return what was wrong with a run; ``run`` is ``as_contract``."""
    again = f"scrapy crawl docs -a site={site}"
    if run["status"] == "killed":
        words = "the last run was killed"
        return [Problem(Kind.FAILED, words, f"nothing is lost, the next one goes on: {again}")]
    if run["status"] == "failed":
        words = f"the last run failed: {run['error'] or 'see its log'}"
        return [Problem(Kind.FAILED, words, f"mend that, then {again}")]
    if stopped_early(run):
        early = f"the last run was ended by {run['finish_reason']}"
        return [Problem(Kind.INCOMPLETE, early, f"the next one goes on: {again}")]
    reasons = [text for text in run["incomplete_reasons"] if not text.startswith(ENDED_EARLY)]
    if not reasons:
        return []
    words = f"the last run was incomplete: {'; '.join(reasons)}"
    return [Problem(Kind.INCOMPLETE, words, f"the next one tries again: {again}")]


def held_problems(
    data: Mapping[str, Any], site: str, config: Config | None = None
) -> list[Problem]:
    """Return what waits for leave to be published; ``data`` is a report or a site's status.

    With the settings of the site it is said when it goes by itself.
    """
    problems = []
    if data["pinned"]:
        problems.append(Problem(Kind.HELD, data["pinned"], rollback_release(site)))
    if data["held"] and (data["held_classes"] or not data["pinned"]):
        reasons = [reason for reason in data["held_reasons"] if reason != data["pinned"]]
        why = "; ".join(reasons) or "found by an earlier run"
        confirmed = data.get("held_confirmed")
        not_well = all(reason.startswith(NOT_WELL) for reason in reasons) and bool(reasons)
        if config is not None and confirmed is not None and not not_well:
            who = "the others go by themselves" if PERSON in why else "goes by itself"
            why += f"; {who} {_once_confirmed(config, confirmed)}"
        words = f"{count(data['held'], 'page')} held: {why}"
        look = f"scrapy status --site {site} --pages held"
        remedy = (
            f"look: {look}; let go: {release_command(site)}; keep as it is: {discard_command(site)}"
        )
        problems.append(Problem(Kind.HELD, words, remedy))
    return problems


def _once_confirmed(config: Config, confirmed: int) -> str:
    needed = config.guard_confirm_runs
    return (
        f"once {count(needed, 'later run')}, at least {config.guard_confirm_hours:g} h "
        f"apart, {'finds' if needed == 1 else 'find'} the same "
        f"({min(confirmed, needed)} of {needed} so far)"
    )


def run_remedies(run: Mapping[str, Any], site: str) -> list[str]:
    """Return what a person can do about a run, in words and commands."""
    return [p.remedy for p in (*run_problems(run, site), *held_problems(run, site))]


def site_problems(status: Mapping[str, Any], now: float, config: Config) -> list[Problem]:
    """Return what needs attention at a site, the most serious first.

    ``status`` is ``site_status.site_status``, ``config`` the settings of the site.
    """
    site, run = status["site"], status["last_run"]
    crawl = f"scrapy crawl docs -a site={site}"
    if run is None:
        return [Problem(Kind.INCOMPLETE, "it was never crawled", crawl)]
    found = [*run_problems(run, site), *_overdue(run, now, config.check_run_hours)]
    found += held_problems(status, site, config)
    # Minus the pages that somebody wants so.
    stale = Counter(status["stale_reasons"]) - Counter(status["stale_decided"])
    if stale:
        why = "; ".join(f"{number} {reason}" for reason, number in stale.most_common())
        words = f"{count(stale.total(), 'page')} stale ({why})"
        remedy = f"look: scrapy status --site {site} --pages stale"
        found.append(Problem(Kind.STALE, words, remedy))
    found += _vectorless(status, config.check_run_hours)
    found += alert_problems(status["alerts"], site, has_webhook=bool(config.webhook_url))
    return sorted(found, key=lambda problem: list(Kind).index(problem.kind))


def _overdue(run: Mapping[str, Any], now: float, hours: float) -> list[Problem]:
    silent = now - datetime.fromisoformat(run["started_at"]).timestamp()
    if not hours or silent <= hours * 3_600 or run["status"] == "running":
        return []
    words = f"no run for {ago(silent)} (FRESHCRAWL_CHECK_RUN_HOURS is {hours:g})"
    remedy = "look whether the timer still runs: scrapy crawl docs"
    return [Problem(Kind.OVERDUE, words, remedy)]


def _vectorless(status: Mapping[str, Any], hours: float) -> list[Problem]:
    """Return that texts wait for vectors for longer than runs may be apart."""
    waits = status["pending_embed_s"]
    if not hours or waits <= hours * 3_600:
        return []
    words = f"{count(status['pending_embed'], 'page')} waiting for vectors, since {ago(waits)}"
    remedy = f"scrapy embed --site {status['site']}; or allow for more: FRESHCRAWL_EMBED_RUN_CHUNKS"
    return [Problem(Kind.STALE, words, remedy)]


def alert_problems(
    alerts: Mapping[str, Any], site: str, *, has_webhook: bool = True
) -> list[Problem]:
    """Return what is wrong with the webhook's outbox; ``alerts`` is ``outbox_status``.

    ``has_webhook``: there is a receiver to which what waits could go.
    """
    found = []
    if alerts["dead"]:
        words = f"{count(alerts['dead'], 'event')} could not be delivered by webhook"
        remedy = (
            f"look: scrapy alerts --site {site}; again: scrapy alerts --resend all --site {site}; "
            f"or without one: scrapy alerts --drop ID --site {site}"
        )
        found.append(Problem(Kind.ALERTS, words, remedy))
    waiting = count(alerts["waiting"], "event")
    waits = f"{waiting} wait{'s' if alerts['waiting'] == 1 else ''}"
    if alerts["waiting"] and not has_webhook:
        words = f"{waits} for a webhook, and FRESHCRAWL_WEBHOOK_URL is not set"
        remedy = f"set it, or drop them: scrapy alerts --drop all --site {site}"
        found.append(Problem(Kind.ALERTS, words, remedy))
    elif alerts["failing"]:
        tried = f"{count(alerts['attempts'], 'attempt')} failed"
        words = f"the webhook fails ({alerts['problem']}): {waits}, {tried}"
        remedy = f"mend it, then scrapy alerts --send --site {site}"
        found.append(Problem(Kind.ALERTS, words, remedy))
    return found
