"""What an outcome proves about a page: the status it gets, and why."""

from __future__ import annotations

from dataclasses import dataclass

from freshcrawl.core.pages import Cause, PageRecord, Status, Verdict
from freshcrawl.core.words import count

UNLISTED = "no sitemap or page links to it any more"


@dataclass(frozen=True, slots=True)
class Policies:
    """What a site wants done with pages for which there is more than one right answer."""

    absent: str = "keep"
    noindex: str = "hide"
    robots: str = "keep"
    missing_runs: int = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """Status of a page after an outcome, with the reason in words."""

    status: Status
    reason: str = ""
    verdict: Verdict | None = None
    missing_runs: int = 0
    alias_of: str = ""
    cause: str = ""
    """A Cause, if the page leaves the answers or does not enter them."""


def answered(record: PageRecord, listed: bool, policies: Policies) -> Finding:
    """Judge a page that answered 200 or 304 with content that stands.

    It is live, unless it left because nothing lists it, and nothing does yet. Whether this
    run finds it unlisted once more is known at the run's end only (``absent``).
    """
    if listed:
        return Finding(Status.LIVE)
    left = record.status in {Status.HIDDEN, Status.GONE}
    if left and record.missing_runs and (out := absent(record.missing_runs, policies)).verdict:
        return out
    reason = record.reason if record.reason.startswith(UNLISTED) else ""
    return Finding(Status.LIVE, reason, None, record.missing_runs)


def absent(runs: int, policies: Policies) -> Finding:
    """Judge a page that answers, and that ``runs`` runs in a row have found unlisted.

    It is kept until there were ``missing_runs`` of them; then the site's policy decides.
    """
    if runs < policies.missing_runs or policies.absent == "keep":
        return Finding(Status.LIVE, unlisted(runs), None, runs)
    status = Status.HIDDEN if policies.absent == "hide" else Status.GONE
    return Finding(status, unlisted(runs), Verdict.ABSENT, runs, cause=Cause.UNLISTED)


def unlisted(runs: int) -> str:
    """Return in words that ``runs`` runs in a row found a page answering and not listed."""
    return f"{UNLISTED} (found by {count(runs, 'run')})"


def not_found(record: PageRecord, listed: bool) -> Finding:
    """Judge a 404: gone if nothing lists the page, or if it was hidden by a 404 before."""
    if not listed:
        status, reason = Status.GONE, f"404, and {UNLISTED}"
    elif record.status in {Status.HIDDEN, Status.GONE}:
        status, reason = Status.GONE, f"404, and {record.status} before"
    else:
        status, reason = Status.HIDDEN, "404 although a source still lists it"
    return Finding(status, reason, Verdict.GONE, cause=Cause.NOT_FOUND)


def gone() -> Finding:
    """Judge a 410."""
    return Finding(Status.GONE, "410", Verdict.GONE, cause=Cause.GONE)


def excluded(reason: str, cause: str) -> Finding:
    """Judge an answer that keeps the page out of the answers."""
    return Finding(Status.EXCLUDED, reason, Verdict.EXCLUDED, cause=cause)


def disallowed(record: PageRecord, policies: Policies) -> Finding:
    """Judge a page that robots.txt does not allow to be fetched."""
    if record.status == Status.LIVE and policies.robots == "keep":
        return Finding(Status.LIVE, "robots.txt disallows further checks", Verdict.EXCLUDED)
    return excluded("robots.txt disallows it", Cause.ROBOTS)


def redirected(record: PageRecord, key: str | None, url: str, permanent: bool) -> Finding:
    """Judge a redirect to another page (``key``) or out of the site (None).

    A live page keeps its text under a temporary redirect, unread: that may be
    a login or a maintenance page. One that never was live is an alias at once,
    and an alias of that page already has not moved again.
    """
    if record.status == Status.LIVE and not permanent:
        where = f"to {key}" if key else f"off the site to {url}"
        return Finding(Status.LIVE, f"redirects {where} for now", Verdict.REJECTED)
    if key is None:
        return excluded(f"redirects off the site to {url}", Cause.OFF_SITE)
    known = record.status == Status.ALIAS and record.alias_of == key
    verdict = Verdict.UNCHANGED if known else Verdict.MOVED
    how = "moved to" if permanent else "redirects to"
    return Finding(Status.ALIAS, f"{how} {key}", verdict, alias_of=key, cause=Cause.MOVED)


def copy_of(key: str) -> Finding:
    """Judge a page that still names another, live page as its canonical one."""
    reason = f"rel=canonical names {key}"
    return Finding(Status.ALIAS, reason, Verdict.UNCHANGED, alias_of=key, cause=Cause.COPY)


def standing(record: PageRecord, reason: str) -> Finding:
    """Return the finding that leaves a page as it is."""
    return Finding(Status(record.status), reason, None, record.missing_runs)
