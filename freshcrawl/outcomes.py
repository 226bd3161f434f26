"""From a judged item to the run: record, listings and staged work change in one step.

Everything here happens without a pause of the event loop, so that a commit
that another page triggers never sees half an outcome: a page whose record says
"checked" also has its text staged and its links listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core import proofs
from freshcrawl.core.discards import is_finding, outlasts_text
from freshcrawl.core.pages import LEAVING, Cause, PageRecord, Status, Verdict
from freshcrawl.items import Outcome, PageItem
from freshcrawl.ledger import NO_VALIDATORS

if TYPE_CHECKING:
    from freshcrawl.core.evidence import Finding
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

CONTENT = frozenset({Verdict.NEW, Verdict.CHANGED, Verdict.LINKS_ONLY})
"""Verdicts that bring text to publish."""
ANSWERED = CONTENT | {Verdict.UNCHANGED, Verdict.COSMETIC}
"""Verdicts on text that stands."""
BODIES = frozenset({Outcome.FETCHED, Outcome.REDIRECT, Outcome.MISSING, Outcome.GONE})
"""Outcomes that came with a body, which any other crawl would get too."""
LINKS_UNREAD = "pages whose links lead to others could not be read"


def conclude(run: Run, item: PageItem, finding: Finding, staged: Staged | None) -> None:
    """Record an outcome: stage, list, count, and set when to look again."""
    record = run.ledger.pages[item.key]
    before = run.ledger.staged.get(item.key)
    verdict = finding.verdict or item.verdict or Verdict.FAILED
    discarded = staged is not None and run.ledger.is_discarded(staged)
    # Text that a person does not want is none.
    verdict = Verdict.UNCHANGED if discarded and verdict in CONTENT else verdict
    changes: dict[str, Any] = {
        "reason": finding.reason,
        "cause": record.cause if _stays_out(record, verdict) else finding.cause,
        "missing_runs": finding.missing_runs,
        **_validators(run, item, record),
        **_churn(run, record, item, verdict, before),
        **_doubt(item, verdict),
        **_refused(item, verdict),
    }
    if item.outcome in BODIES:
        changes["size"] = item.size
    if item.document is not None:
        changes |= {"canonical": item.canonical, "shown_digest": item.shown_digest}
        changes["generator"] = item.document.generator
    if item.difference is not None and verdict in ANSWERED:
        changes["difference"] = item.difference.to_json(verdict, item.fetched_at)
    if item.outcome == Outcome.DISALLOWED:
        changes["last_checked"] = record.last_checked  # nobody looked at the page
    else:
        run.count("asked")
    count_as = _counter(run, verdict, finding, record)
    if _still_leaves(run, before, verdict):
        count_as = ""
    elif discarded:
        run.ledger.unstage(item.key)
        count_as = "" if verdict in LEAVING else count_as
        changes |= NO_VALIDATORS
    elif staged is not None:
        if run.ledger.holds_same(staged):
            count_as = ""  # found again, counted before
        run.stage(staged)
    elif verdict not in {Verdict.FAILED, Verdict.REJECTED}:
        changes |= _void(run, item, finding)
    run.checked(item.key, verdict, count_as=count_as, **changes)
    _prove(run, item, finding, verdict)
    _learn(run, item, verdict)
    _note_rejection(run, item, verdict)
    _list(run, item, verdict)
    if finding.status == Status.GONE and not run.ledger.is_live(item.key):
        run.ledger.drop_listings_of(item.key)
    if finding.status in {Status.GONE, Status.HIDDEN}:
        run.ledger.recheck_aliases_of(item.key)


def _stays_out(record: PageRecord, verdict: str) -> bool:
    """Tell an answer that says nothing of a page which left: the cause is what it was."""
    return verdict == Verdict.REJECTED and record.status in {Status.HIDDEN, Status.GONE}


def _void(run: Run, item: PageItem, finding: Finding) -> dict[str, Any]:
    """Drop what older fetches staged: the newest has the word. Return what that changes."""
    ledger, key = run.ledger, item.key
    ledger.unstage(key)
    kept = finding.status == Status.LIVE and is_finding(ledger.pages[key], finding.cause)
    lasts = kept or outlasts_text(ledger.pages[key], item.canonical)
    if item.outcome != Outcome.DISALLOWED and not lasts:
        ledger.forget_discard(key)
    if not ledger.is_live(key) and finding.status != Status.LIVE:
        return {"status": finding.status, "alias_of": finding.alias_of}
    return {}


def _still_leaves(run: Run, before: Staged | None, verdict: str) -> bool:
    """Tell a page that is to leave because nothing lists it, which is still so.

    That it answers says nothing against it; the end of the run finds it again, or does not.
    """
    return (
        before is not None
        and before.verdict == Verdict.ABSENT
        and verdict in ANSWERED
        and before.key not in run.ledger.listings.reached()
    )


def _learn(run: Run, item: PageItem, verdict: str) -> None:
    """Keep what a body says of the page's noise."""
    memory = run.ledger.noise
    if item.noise is not None and verdict in ANSWERED:
        memory.learn(item.key, item.noise, item.fetched_at, run.noise.expiry)
    elif verdict in {Verdict.UNCHANGED, Verdict.COSMETIC}:
        memory.settle(item.key)


def _doubt(item: PageItem, verdict: str) -> dict[str, Any]:
    """Return what an outcome says of a text that is suddenly short; nothing if nobody read it."""
    return {} if _unread(item, verdict) and not item.doubt else {"doubt": item.doubt}


def _refused(item: PageItem, verdict: str) -> dict[str, Any]:
    """Return what an outcome says of a text that stands in front of pages.

    One that is only short may be the page's own; what was not read says nothing.
    """
    if verdict == Verdict.FAILED or item.outcome == Outcome.DISALLOWED:
        return {}
    wall = verdict == Verdict.REJECTED and not item.doubt
    return {"refused": item.essence if wall else ""}


def _unread(item: PageItem, verdict: str) -> bool:
    return verdict in {Verdict.FAILED, Verdict.REJECTED} or item.outcome == Outcome.DISALLOWED


def _note_rejection(run: Run, item: PageItem, verdict: str) -> None:
    if verdict == Verdict.REJECTED:
        other = "redirect" if item.outcome == Outcome.REDIRECT else "no document"
        run.rejections[item.key] = item.refused or other


def _prove(run: Run, item: PageItem, finding: Finding, verdict: str) -> None:
    """Keep what the answer proves of the page, or that what was proven is over."""
    for_now = finding.cause == Cause.FOR_NOW
    unproven = verdict == Verdict.FAILED or (verdict == Verdict.REJECTED and not for_now)
    if unproven or finding.cause == Cause.UNLISTED:
        return  # the one proves nothing, the other is said at the run's end
    record = run.ledger.pages[item.key]
    if not finding.cause:
        run.ledger.set(item.key, **proofs.over(record, item.fetched_at))
        return
    again = item.outcome == Outcome.NOT_MODIFIED  # it stands for the answer of then
    known = [p for p in proofs.all_of(record) if p.cause == finding.cause and not p.over]
    said = known[-1].said if again and known and not item.barred else item.barred
    if item.outcome == Outcome.DISALLOWED:
        said = "robots.txt"
    proof = proofs.Proof(finding.cause, item.url, said=said, status=finding.status)
    if finding.cause == Cause.COPY:
        target = run.ledger.pages.get(item.canonical)
        proof.target, proof.said = target.url if target else item.canonical_url, ""
    else:
        proof.http_status, proof.target = 200 if again else item.http_status, item.target
    run.prove(item.key, proof, item.fetched_at)


def _list(run: Run, item: PageItem, verdict: str) -> None:
    """Take the pages that this one points to: redirect target, canonical page, links."""
    if verdict in {Verdict.FAILED, Verdict.REJECTED}:
        if f"page:{item.key}" in run.ledger.listings.sources:
            run.report.incomplete(LINKS_UNREAD)
        return
    read = item.outcome == Outcome.FETCHED
    if run.believes_later(verdict):
        run.listed_before[item.key] = run.ledger.listings.of_page(item.key)
    urls = [item.target] if item.outcome == Outcome.REDIRECT else []
    # What a live page lists stands until its removal is published: a guard may hold that.
    if item.outcome == Outcome.REDIRECT and not run.ledger.is_live(item.key):
        run.ledger.listings.drop(f"page:{item.key}")
    urls += [item.canonical_url] if item.canonical else []
    run.sightings.list_targets(item.key, urls, whole=read)
    if read and run.sightings.follows_links and not run.sightings.list_links(item.key, item.links):
        # A 304 would hide the links that there was no room for.
        run.ledger.set(item.key, **NO_VALIDATORS)


def _validators(run: Run, item: PageItem, record: PageRecord) -> dict[str, Any]:
    """Return what an outcome says of the page's validators."""
    if item.outcome == Outcome.NOT_MODIFIED:
        fresh = {"etag": item.etag, "last_modified": item.last_modified}
        return {name: value for name, value in fresh.items() if value}
    if item.document is None and not _keeps_out(run, item):
        return {}
    if item.published_stays:
        # The validators of the published text stay; these would be of a text that nobody has.
        known = record.recipe == run.recipe
        return {} if known else {**NO_VALIDATORS, "recipe": run.recipe}
    via = "" if item.url == item.cited_url else item.url
    place = {"url": item.cited_url, "via": via}
    if item.refused:
        return {**place, **NO_VALIDATORS}
    if item.by_headers or item.rendered or not (item.etag or item.last_modified):
        return {**place, **NO_VALIDATORS, "recipe": run.recipe}
    return {
        **place,
        "etag": item.etag,
        "last_modified": item.last_modified,
        "validator_url": item.url,
        "validator_digest": item.digest + item.links_digest,
        "recipe": run.recipe,
    }


def _churn(
    run: Run, record: PageRecord, item: PageItem, verdict: str, before: Staged | None
) -> dict[str, Any]:
    """Return what an outcome says of how often the page changes; nothing if nobody read it."""
    if _unread(item, verdict):
        return {}
    found_again = before is not None and before.digest == item.digest
    read_anew = record.recipe not in {"", run.recipe}  # the change may be our own
    if verdict != Verdict.CHANGED or found_again or read_anew:
        return {"churn": 0}
    return {"churn": record.churn + 1}


def _keeps_out(run: Run, item: PageItem) -> bool:
    """Tell a body that keeps a page out of the answers from one that takes it out."""
    fetched = item.outcome == Outcome.FETCHED
    return fetched and item.verdict == Verdict.EXCLUDED and not run.ledger.is_live(item.key)


def _counter(run: Run, verdict: str, finding: Finding, record: PageRecord) -> str:
    """Return the name of the report's counter for an outcome, "" for none."""
    if verdict == Verdict.GONE and record.key not in run.ledger.published:
        return "dead"
    if verdict in LEAVING - {Verdict.EXCLUDED} and finding.status == record.status:
        return ""  # a tombstone or alias that was looked at again
    if verdict == Verdict.EXCLUDED and finding.status == Status.LIVE:
        return "kept"
    left = verdict == Verdict.EXCLUDED and finding.status == Status.HIDDEN != record.status
    if left or verdict in {Verdict.GONE, Verdict.ABSENT}:
        return "hidden" if finding.status == Status.HIDDEN else "gone"
    return str(verdict)
