"""What an outcome proves about a page: the status it gets, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freshcrawl.core.pages import DEAD, Cause, PageRecord, Status, Verdict
from freshcrawl.core.proofs import is_confirmed
from freshcrawl.core.words import count

UNLISTED = "no sitemap or page links to it any more"


SITE_POLICIES = (
    *("absent", "gone", "moved", "noindex", "not_found", "off_site", "out_of_scope", "robots"),
    "to_home",
)
"""Keys of a site's table that say what becomes of a page for a reason; all can be ``keep``."""


@dataclass(frozen=True, slots=True)
class Policies:
    """What a site wants done with pages for which there is more than one right answer."""

    absent: str = "keep"
    noindex: str = "hide"
    robots: str = "keep"
    missing_runs: int = 3
    gone: str = "delete"
    not_found: str = "hide"
    moved: str = "follow"
    to_home: str = "hide"
    off_site: str = "hide"
    out_of_scope: str = "hide"
    confirm: float = 12 * 3_600.0
    """Seconds after the first 404 from which another one confirms it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Status of a page after an outcome, with the reason in words."""

    status: Status
    reason: str = ""
    verdict: Verdict | None = None
    missing_runs: int = 0
    alias_of: str = ""
    target: str = ""
    """URL off the site where a redirect leads."""
    cause: str = ""
    """A Cause, if the page leaves the answers, does not enter them, or is kept by policy only."""


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
    unlisted_before = record.reason.startswith(UNLISTED)
    reason, cause = (record.reason, record.cause) if unlisted_before else ("", "")
    return Finding(Status.LIVE, reason, None, record.missing_runs, cause=cause)


def absent(runs: int, policies: Policies) -> Finding:
    """Judge a page that answers, and that ``runs`` runs in a row have found unlisted.

    It is kept until there were ``missing_runs`` of them; then the site's policy decides.
    """
    if runs < policies.missing_runs or policies.absent == "keep":
        by = '; kept by absent = "keep"' if runs >= policies.missing_runs else ""
        return Finding(Status.LIVE, unlisted(runs) + by, None, runs, cause=Cause.UNLISTED)
    status = Status.HIDDEN if policies.absent == "hide" else Status.GONE
    return Finding(status, unlisted(runs), Verdict.ABSENT, runs, cause=Cause.UNLISTED)


def unlisted(runs: int) -> str:
    """Return in words that ``runs`` runs in a row found a page answering and not listed."""
    return f"{UNLISTED} (found by {count(runs, 'run')})"


def not_found(record: PageRecord, listed: bool, policies: Policies, now: float) -> Finding:
    """Judge a 404: gone if nothing lists the page, or if it was found dead some hours before."""
    if record.status == Status.LIVE and policies.not_found == "keep":
        return kept("404", Cause.NOT_FOUND, "not_found")
    if not listed:
        status, reason = Status.GONE, f"404, and {UNLISTED}"
    elif is_confirmed(record, DEAD, now - policies.confirm):
        status, reason = Status.GONE, f"404, and {record.status} before"
    elif policies.not_found == "delete":
        status, reason = Status.GONE, "404"
    else:
        status, reason = Status.HIDDEN, "404 although a source still lists it"
    return Finding(status, reason, Verdict.GONE, cause=Cause.NOT_FOUND)


def gone(record: PageRecord, policies: Policies) -> Finding:
    """Judge a 410."""
    if record.status == Status.LIVE and policies.gone == "keep":
        return kept("410", Cause.GONE, "gone")
    hide = policies.gone == "hide" and record.status != Status.GONE
    status = Status.HIDDEN if hide else Status.GONE
    return Finding(status, "410", Verdict.GONE, cause=Cause.GONE)


def excluded(reason: str, cause: str, *, was_published: bool = False) -> Finding:
    """Judge an answer that keeps the page out of the answers; it is hidden if it was in them."""
    hidden = was_published and cause != Cause.NO_PAGE
    status = Status.HIDDEN if hidden else Status.EXCLUDED
    return Finding(status, reason, Verdict.EXCLUDED, cause=cause)


def kept(reason: str, cause: str, policy: str) -> Finding:
    """Judge a page in the answers that the site's ``policy`` keeps there, as it was last read."""
    reason = f'{reason}; kept by {policy} = "keep"'
    return Finding(Status.LIVE, reason, Verdict.EXCLUDED, cause=cause)


def kept_and_read(finding: Finding) -> Finding:
    """Judge a page that says noindex, is read all the same, and gets the status of ``finding``."""
    reason = 'noindex; kept by noindex = "keep"'
    runs = finding.missing_runs
    return Finding(Status.LIVE, reason, finding.verdict, runs, cause=Cause.NOINDEX)


def disallowed(record: PageRecord, policies: Policies, *, was_published: bool = False) -> Finding:
    """Judge a page that robots.txt does not allow to be fetched."""
    if record.status == Status.LIVE and policies.robots == "keep":
        return kept("robots.txt disallows further checks", Cause.ROBOTS, "robots")
    return excluded("robots.txt disallows it", Cause.ROBOTS, was_published=was_published)


def redirected(
    record: PageRecord,
    key: str | None,
    url: str,
    permanent: bool,
    policies: Policies,
    *,
    was_published: bool = False,
    lasting: bool = False,
) -> Finding:
    """Judge a redirect to another page (``key``) or out of the site (None).

    A live page keeps its text under a temporary redirect, unread, and one that left stays
    as it is: that may be a login or a maintenance page, unless it is ``lasting`` and leads
    to a live page. One that never was live is an alias at once, and an alias of that page already
    has not moved again.
    """
    live = record.status == Status.LIVE
    if (live or _left(record, was_published)) and not permanent and not lasting:
        return for_now(record, f"to {key}" if key else f"off the site to {url}")
    if key is None:
        reason = f"redirects off the site to {url}"
        if live and policies.off_site == "keep":
            return kept(reason, Cause.OFF_SITE, "off_site")
        finding = excluded(reason, Cause.OFF_SITE, was_published=was_published)
        return replace(finding, target=url)
    how = "moved to" if permanent else "redirects to"
    if live and policies.moved == "keep":
        return kept(f"{how} {key}", Cause.MOVED, "moved")
    known = record.status == Status.ALIAS and record.alias_of == key
    verdict = Verdict.UNCHANGED if known else Verdict.MOVED
    return Finding(Status.ALIAS, f"{how} {key}", verdict, alias_of=key, cause=Cause.MOVED)


def for_now(record: PageRecord, where: str) -> Finding:
    """Judge a page that is or was live and redirects for the time being: it stays as it is."""
    reason = f"redirects {where} for now"
    return Finding(Status(record.status), reason, Verdict.REJECTED, cause=Cause.FOR_NOW)


def _left(record: PageRecord, was_published: bool) -> bool:
    return was_published and record.status in {Status.HIDDEN, Status.GONE}


def to_home(
    record: PageRecord,
    url: str,
    permanent: bool,
    policies: Policies,
    now: float,
    *,
    was_published: bool,
) -> Finding:
    """Judge a redirect to the home page, which is how many sites answer for what is no more.

    As with a 404, a page is hidden first, and gone when a run some hours later confirms it.
    """
    live = record.status == Status.LIVE
    if (live or _left(record, was_published)) and not permanent:
        return for_now(record, "to the home page")
    reason = f"redirects to the home page {url}"
    if live and policies.to_home == "keep":
        return kept(reason, Cause.HOME, "to_home")
    if not was_published:
        return excluded(reason, Cause.HOME)
    confirmed = is_confirmed(record, DEAD, now - policies.confirm)
    status = Status.GONE if confirmed else Status.HIDDEN
    return Finding(status, reason, Verdict.GONE, cause=Cause.HOME)


def copy_of(key: str) -> Finding:
    """Judge a page that still names another, live page as its canonical one."""
    reason = f"rel=canonical names {key}"
    return Finding(Status.ALIAS, reason, Verdict.UNCHANGED, alias_of=key, cause=Cause.COPY)


def standing(record: PageRecord, reason: str) -> Finding:
    """Return the finding that leaves a page as it is."""
    status = Status(record.status)
    return Finding(status, reason, None, record.missing_runs, cause=record.cause)
