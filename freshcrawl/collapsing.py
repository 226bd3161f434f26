"""Pages that become one and the same in a run: something stands in front of all of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from freshcrawl.core.guards import LONE_MOVES
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.trust import gist_digest
from freshcrawl.ledger import NO_VALIDATORS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

ONE_TEXT = "one text for many"


def reject_collapsing(run: Run) -> None:
    """Drop changes by which pages that were different become one, or nearly so.

    That is a login, a consent or a maintenance page. Pages whose published
    text it is already are left in peace; the others keep their old text.
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
                _reject(run, entry, f"nearly the same text as {len(entries) - 1} other pages")


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
            _reject(run, entry, f"the same text as {same[entry.digest] - 1} other pages")


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


def _reject(run: Run, entry: Staged, reason: str) -> None:
    ledger = run.ledger
    if entry.key not in ledger.staged:
        return  # rejected already
    record = ledger.pages[entry.key]
    run.count_page(entry.key, "rejected")
    run.rejections[entry.key] = ONE_TEXT
    ledger.unstage(entry.key)
    ledger.set(
        entry.key,
        reason=f"{reason} all at once",
        last_verdict=str(Verdict.REJECTED),
        failures=record.failures + 1,
        failing_since=record.failing_since or run.report.started_at,
        next_due=run.now + run.schedule.minimum,
        churn=0,
        **run.before_change.pop(entry.key, {}),
        **NO_VALIDATORS,
    )
