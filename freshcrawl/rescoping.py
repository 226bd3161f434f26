"""Pages that the site's own table treats otherwise since it was changed.

Scope, patterns, URL rules: the operator's word is evidence like any other, so pages that it leaves
out leave the answers through the guards, and come back when the table lets them in again.
Policies: what they decide on is asked for again, as only an answer says what becomes of a page;
what waits to leave for one that the table has no more, waits no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.core import evidence
from freshcrawl.core.evidence import Policies
from freshcrawl.core.pages import Cause, PageRecord, Status, Verdict
from freshcrawl.core.proofs import Proof, all_of
from freshcrawl.core.published import Staged
from freshcrawl.ledger import NO_VALIDATORS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.run import Run

OUT = "not among the site's pages any more"
SAME = "the site's URL rules make it the same page as"
POLICIES: dict[str, str] = {
    Cause.UNLISTED: "absent",
    Cause.GONE: "gone",
    Cause.MOVED: "moved",
    Cause.NOINDEX: "noindex",
    Cause.NOT_FOUND: "not_found",
    Cause.OFF_SITE: "off_site",
    Cause.ROBOTS: "robots",
    Cause.HOME: "to_home",
}
"""The key of the site's table that decides on a page for a cause, by an answer of the page."""
FINAL = frozenset({Status.GONE, Status.ALIAS})


def rescope(run: Run) -> None:
    """Take pages that do not belong to the site any more out of the run, and out of the answers.

    A page that other URL rules give another key becomes an alias of that one.
    """
    renamed: dict[str, str] = {}
    # Once, not for each page: it looks through all sources.
    by_links = run.site.discovery == "links" or (
        run.site.discovery == "auto" and bool(run.ledger.listings.of_kind("start"))
    )
    for record in list(run.ledger.pages.values()):
        if record.status == Status.FORGOTTEN:
            run.handled.add(record.key)
            run.sightings.left_out += 1
            continue
        key = _key_of(run, record, by_links=by_links)
        if key == record.key:
            _let_in(run, record)
            if run.ledger.is_live(key) and not run.site.wants(record.url):
                # The start page, from now on read for its links only.
                run.ledger.set(key, next_due=0.0, **NO_VALIDATORS)
            continue
        run.handled.add(record.key)
        if not record.left_out:
            run.ledger.set(record.key, left_out=True)
        run.sightings.left_out += 1
        run.ledger.drop_listings_of(record.key)
        if key is not None:
            renamed[record.key] = key
        if run.ledger.is_live(record.key):
            _leave(run, record, key)
        elif record.status not in FINAL:
            run.ledger.unstage(record.key)
            run.ledger.set(record.key, **_end(run, record, key))
            _prove(run, record, key)
    run.ledger.listings.rename(renamed)
    _let_stay(run)


def _let_stay(run: Run) -> None:
    """Drop removals of unlisted pages that the policy of today would not make.

    Their texts were not taken meanwhile, and are read again.
    """
    for key, entry in list(run.ledger.staged.items()):
        if entry.verdict == Verdict.ABSENT:
            found = evidence.absent(run.ledger.pages[key].missing_runs, run.policies)
            if found.verdict is None:
                run.ledger.unstage(key)
                run.ledger.make_due(key)


def apply_policies(run: Run, table: Mapping[str, Any] | None) -> None:
    """Make the pages due on which a policy decides otherwise than before.

    Those that are kept by one that keeps no more, until they have answered; and once those that
    left by one that keeps now. ``table``: the site's table as of the last run.
    """
    policies = {key: getattr(run.policies, key) for key in POLICIES.values()}
    before = {key: (table or {}).get(key, getattr(Policies(), key)) for key in policies}
    keeps = {key for key, value in policies.items() if value == "keep"}
    keeps_now = {key for key in keeps if table is not None and before[key] != "keep"}
    for record in run.ledger.pages.values():
        key = POLICIES.get(record.cause)
        if key is None or record.left_out or record.key in run.ledger.staged:
            continue
        let_go = key not in keeps and _is_kept(run, record)
        if let_go or (key in keeps_now and record.status != Status.LIVE):
            run.ledger.make_due(record.key)


def _is_kept(run: Run, record: PageRecord) -> bool:
    """Tell a page that is in the answers by a policy alone.

    Not one that a person keeps, nor one that was asked already and could not be read: that is
    tried again by itself.
    """
    if record.status != Status.LIVE or record.discarded or record.failures:
        return False
    if record.cause == Cause.UNLISTED and record.missing_runs < run.policies.missing_runs:
        return False
    proofs = [proof for proof in all_of(record) if proof.cause == record.cause and not proof.over]
    return bool(proofs) and proofs[-1].status == Status.LIVE


def add_targets(run: Run) -> None:
    """Add the pages whose aliases others become by the URL rules, if discovery did not name them.

    Not before it: the spelling that the site uses now is the one to fetch and cite.
    """
    for entry in list(run.ledger.staged.values()):
        if entry.reason.startswith(SAME) and entry.alias_of not in run.ledger.pages:
            run.sightings.see(entry.url)


def _let_in(run: Run, record: PageRecord) -> None:
    """Undo what an earlier table left out."""
    staged = run.ledger.staged.get(record.key)
    if not record.left_out:
        return
    if staged is not None:
        run.ledger.unstage(record.key)
    run.ledger.forget_discard(record.key)
    if record.status in {Status.EXCLUDED, Status.ALIAS} or record.cause == Cause.SCOPE:
        live = run.ledger.is_live(record.key)
        status = Status.LIVE if live else Status.PENDING
        run.ledger.set(record.key, status=status, reason="", cause="", alias_of="")
    # What the page links to is to be read again.
    run.ledger.set(record.key, left_out=False, next_due=0.0, **NO_VALIDATORS)


def _key_of(run: Run, record: PageRecord, *, by_links: bool) -> str | None:
    """Return the key that the page's URL has today; another spelling of it may keep the old one."""
    key = run.site.key_of(record.url, start=by_links)
    if key == record.key or not record.listed_url:
        return key
    if run.site.key_of(record.listed_url, start=by_links) != record.key:
        return key
    run.ledger.set(record.key, url=record.listed_url, listed_url="")
    return record.key


def _end(run: Run, record: PageRecord, key: str | None) -> dict[str, Any]:
    """Return what a page becomes that was let go; it is hidden if it was in the answers."""
    if key is not None:
        end = {"status": Status.ALIAS, "reason": f"{SAME} {key}", "alias_of": key}
        return {**end, "cause": Cause.MOVED}
    why, was = _out(run, record), record.key in run.ledger.published
    found = evidence.excluded(why, Cause.SCOPE, was_published=was)
    return {"status": found.status, "reason": why, "alias_of": "", "cause": found.cause}


def _out(run: Run, record: PageRecord) -> str:
    return f"{OUT} ({run.site.leaves_out(record.url)})"


def _leave(run: Run, record: PageRecord, key: str | None) -> None:
    """Take a page out of the answers, unless the site's policy keeps it."""
    if key is None and run.policies.out_of_scope == "keep":
        found = evidence.kept(_out(run, record), Cause.SCOPE, "out_of_scope")
        run.ledger.unstage(record.key)
        run.ledger.set(record.key, reason=found.reason, cause=found.cause)
        _prove(run, record, None)
        return
    end = _end(run, record, key)
    run.ledger.set(record.key, reason=end["reason"], cause=end["cause"])
    _prove(run, record, key, end["status"])
    entry = Staged(
        key=record.key,
        url=record.url,
        verdict=Verdict.EXCLUDED if key is None else Verdict.MOVED,
        staged_at=run.now,
        changed_at=run.now,
        **end,
    )
    if not (run.ledger.holds_same(entry) or run.ledger.is_discarded(entry)):
        run.count_page(record.key, "hidden" if key is None else "moved")
    run.stage(entry)


def _prove(run: Run, record: PageRecord, key: str | None, status: str = "") -> None:
    """Note since when the table leaves a page out; it says the same in each run."""
    cause = Cause.SCOPE if key is None else Cause.MOVED
    if any(proof.cause == cause and not proof.over for proof in all_of(record)):
        return
    said = "the site's table" if key is None else f"{SAME} {key}"
    proof = Proof(cause, record.url, said=said, status=status or record.status)
    run.prove(record.key, proof, run.now)
