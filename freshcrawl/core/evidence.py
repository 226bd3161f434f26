"""What an outcome proves about a page: the status it gets, and why."""

from __future__ import annotations

from dataclasses import dataclass

from freshcrawl.core.pages import PageRecord, Status, Verdict
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
    return Finding(status, unlisted(runs), Verdict.ABSENT, runs)


def unlisted(runs: int) -> str:
    """Return in words that ``runs`` runs in a row found a page answering and not listed."""
    return f"{UNLISTED} (found by {count(runs, 'run')})"


def not_found(record: PageRecord, listed: bool) -> Finding:
    """Judge a 404: gone if nothing lists the page, or if it was hidden by a 404 before."""
    if not listed:
        return Finding(Status.GONE, f"404, and {UNLISTED}", Verdict.GONE)
    if record.status in {Status.HIDDEN, Status.GONE}:
        return Finding(Status.GONE, f"404, and {record.status} before", Verdict.GONE)
    return Finding(Status.HIDDEN, "404 although a source still lists it", Verdict.GONE)


def gone() -> Finding:
    """Judge a 410."""
    return Finding(Status.GONE, "410", Verdict.GONE)


def disallowed(record: PageRecord, policies: Policies) -> Finding:
    """Judge a page that robots.txt does not allow to be fetched."""
    if record.status == Status.LIVE and policies.robots == "keep":
        return Finding(Status.LIVE, "robots.txt disallows further checks", Verdict.EXCLUDED)
    return Finding(Status.EXCLUDED, "robots.txt disallows it", Verdict.EXCLUDED)


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
        return Finding(Status.EXCLUDED, f"redirects off the site to {url}", Verdict.EXCLUDED)
    known = record.status == Status.ALIAS and record.alias_of == key
    verdict = Verdict.UNCHANGED if known else Verdict.MOVED
    how = "moved to" if permanent else "redirects to"
    return Finding(Status.ALIAS, f"{how} {key}", verdict, alias_of=key)


def copy_of(key: str) -> Finding:
    """Judge a page that still names another, live page as its canonical one."""
    return Finding(Status.ALIAS, f"rel=canonical names {key}", Verdict.UNCHANGED, alias_of=key)


def standing(record: PageRecord, reason: str) -> Finding:
    """Return the finding that leaves a page as it is."""
    return Finding(Status(record.status), reason, None, record.missing_runs)
