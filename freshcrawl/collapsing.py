"""Pages that become one and the same: something stands in front of all of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from freshcrawl.core.guards import LONE_MOVES
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.trust import gist_digest
from freshcrawl.entering import began, groups, is_strange, refused_texts, said
from freshcrawl.ledger import NO_VALIDATORS
from freshcrawl.outcomes import LINKS_UNREAD
from freshcrawl.witnesses import is_other_text, stood, stood_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

ONE_TEXT = "one text for many"


def reject_collapsing(run: Run) -> None:
    """Drop changes by which pages that were different become one, or nearly so.

    That is a login, a consent or a maintenance page. Pages whose published
    text it is already are left in peace; the others keep their old text, and
    list what they listed. May be called more than once a run.
    """
    ledger = run.ledger
    changed = [e for e in ledger.staged.values() if e.verdict == Verdict.CHANGED and e.digest]
    _reject_equal(run, changed)
    groups: dict[str, list[Staged]] = {}
    for entry in changed:
        if entry.gist and ledger.is_live(entry.key):
            groups.setdefault(entry.gist, []).append(entry)
    for entries in groups.values():
        alike = {e.digest for e in entries}
        if len(entries) > LONE_MOVES and len(alike) > 1 and _differed(run, entries):
            for entry in entries:
                _reject(
                    run,
                    entry,
                    f"nearly the same text as {len(entries) - 1} other pages all at once",
                )
    _reject_few(run)
    _reject_refused(run)
    _reject_entering(run)


def _reject_equal(run: Run, changed: list[Staged]) -> None:
    ledger = run.ledger
    same = Counter(entry.digest for entry in changed)
    same.update(p.digest for p in ledger.published.values() if p.status == Status.LIVE)
    # What was published of the pages that have, or would have, each of these texts.
    before: dict[str, set[str]] = {entry.digest: set() for entry in changed}
    for page in ledger.published.values():
        if page.status == Status.LIVE and page.digest in before:
            before[page.digest].add(page.digest)
    for entry in changed:
        if ledger.is_live(entry.key):
            before[entry.digest].add(ledger.published[entry.key].digest)
    for entry in changed:
        become_one = same[entry.digest] > LONE_MOVES and len(before[entry.digest]) > 1
        if become_one and ledger.is_live(entry.key):
            _reject(
                run, entry, f"the same text as {same[entry.digest] - 1} other pages all at once"
            )


def _differed(run: Run, entries: Iterable[Staged]) -> bool:
    """Tell whether the published texts of pages were not nearly one and the same already.

    Numbered pages that differ in their numbers only were, and stay so.
    """
    found: set[str] = set()
    for entry in entries:
        page, blocks = run.ledger.published[entry.key], run.ledger.published_blocks(entry.key)
        text = "\n\n".join(block.plain for block in blocks or ())
        found.add(gist_digest(page.title, text, page.url) if blocks else page.digest)
        if len(found) > 1:
            return True
    return False


def _reject_few(run: Run) -> None:
    """Reject a text that few pages came to have, if nothing says that the site is itself.

    That is if pages that were asked for comparison have it, or, where there was none to ask,
    most of the live pages that answered.
    """
    groups: dict[str, list[Staged]] = {}
    for entry in run.ledger.staged.values():
        if is_other_text(run, entry):
            groups.setdefault(said(entry), []).append(entry)
    others = stood(run)
    for entries in groups.values():
        keys = {entry.key for entry in entries}
        seen = not keys.isdisjoint(run.witnesses)
        asked = not others.isdisjoint(run.witnesses)
        most = not asked and len(keys) > len(others)
        if len(keys) > 1 and (seen or most) and _differed(run, entries):
            for entry in entries:
                _reject(run, entry, f"the text that {len(keys)} pages of the site now have")


def _reject_refused(run: Run) -> None:
    """Reject a text that was refused of another page, in this run or since that last answered."""
    refused = {r.refused: r.key for r in run.ledger.pages.values() if r.refused and r.failures}
    for entry in list(run.ledger.staged.values()):
        key = refused.get(said(entry))
        if key is not None and key != entry.key and is_other_text(run, entry):
            _reject(run, entry, f"the text that was refused of {key}")


def _reject_entering(run: Run) -> None:
    """Keep pages out, new ones and such as had left, whose text stands in front of others.

    It was refused of one in the answers, one that was asked for comparison has it, or several
    came with it and none in the answers has said since that the site is itself.
    """
    refused, times = refused_texts(run), stood_at(run)
    last = max(times, default=0.0)
    # Where there is nobody left to ask, as all have answered, that has to do.
    asked = bool(run.witnesses) or not times
    other = {
        said(e) for k in run.witnesses if (e := run.ledger.staged.get(k)) and is_other_text(run, e)
    }
    for text, entries in groups(run).items():
        alone = asked and began(run, entries) > last and is_strange(run, entries)
        for entry in entries:
            if key := refused.get(text) or refused.get(entry.digest):
                _reject(run, entry, f"the text that was refused of {key}")
            elif text in other:
                _reject(run, entry, "the text that other pages of the site now have")
            elif alone:
                _reject(run, entry, f"one text for {len(entries)} pages that are to come in")


def _reject(run: Run, entry: Staged, reason: str) -> None:
    refuse(run, entry, reason, ONE_TEXT)


def refuse(run: Run, entry: Staged, reason: str, kind: str) -> None:
    """Drop staged work: the page stays as it is published, stale, and is looked at again soon.

    What its record and listings said before is put back.
    """
    ledger, key = run.ledger, entry.key
    if key not in ledger.staged:
        return  # rejected already
    record = ledger.pages[key]
    run.count_page(key, "rejected")
    run.rejections[key] = kind
    ledger.unstage(key)
    ledger.set(
        key,
        reason=reason,
        refused=said(entry) if ledger.is_live(key) else record.refused,
        last_verdict=str(Verdict.REJECTED),
        failures=record.failures + 1,
        failing_since=record.failing_since or run.report.started_at,
        next_due=run.now + run.schedule.minimum,
        churn=0,
        **run.before_change.pop(key, {}),
        **NO_VALIDATORS,
    )
    _restore_listing(run, key)


def _restore_listing(run: Run, key: str) -> None:
    """Let a page list what it did, and forget what the run came upon through its new text only."""
    listings = run.ledger.listings
    before = run.listed_before.pop(key, None)
    if before is None:
        return
    now = {k for source in listings.of_page(key).values() if source for k in source.keys}
    listings.restore(before)
    if before[f"page:{key}"] is not None:
        run.report.incomplete(LINKS_UNREAD)
    for found in sorted(now):
        record = run.ledger.pages.get(found)
        new = record is not None and record.first_seen >= run.report.started_at
        if new and not listings.lists(found) and not run.ledger.is_live(found):
            run.count_page(found, "")
            run.ledger.forget_new(found)
            run.handled.discard(found)
