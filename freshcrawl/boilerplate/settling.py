"""Site boilerplate at the end of a run: learned from the newest blocks, applied to all pages.

The list is a function of the pages that are in the answers, or will be once this run has
published, in their newest versions, so that a site that was crawled often has the list of a
first crawl. What a list takes away goes at once; what it gives back comes with the page's next
body, so that a page that still has an old template does not show it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread

from freshcrawl import tally
from freshcrawl.boilerplate.learning import learn, newest_versions, published_pages, staged_pages
from freshcrawl.boilerplate.parting import Parter
from freshcrawl.core import boilerplate
from freshcrawl.core.boilerplate import BODY, FRAME_ONLY
from freshcrawl.core.differences import LINKS_ONLY, Difference
from freshcrawl.core.guards import CHANGES
from freshcrawl.core.pages import Verdict
from freshcrawl.core.schedule import halve_double, reschedule
from freshcrawl.ledger import NO_VALIDATORS
from freshcrawl.noise.check import differs_in_noise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from freshcrawl.core.boilerplate import Boilerplate
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

logger = logging.getLogger(__name__)

BATCH = 50
"""Pages that are made anew between two looks at whether the run is asked to stop."""


async def settle(run: Run) -> None:
    """Learn the site's boilerplate if its pages are not those that it was learned from.

    Then judge and cut anew what is staged, and published pages that show what is
    boilerplate now.
    """
    ledger = run.ledger
    known, gone = ledger.boilerplate, tally.leaving(run)
    if known.basis == boilerplate.basis_of(newest_versions(run, gone)):
        await _judge_changes(run)
        return
    learned = await run_in_thread(learn, run, gone)
    renewed = learned.fingerprints != known.fingerprints
    if renewed and await run_in_thread(_is_doubtful, run, learned):
        await _judge_changes(run)
        return
    if renewed or known.unfinished:
        # Should this be cut off, the next run goes over all pages again.
        ledger.keep_boilerplate(replace(learned, unfinished=True))
        finished = await _renew(run)
        words = {"site": run.site.name, "blocks": len(learned.fingerprints)}
        logger.info("%(site)s: %(blocks)d blocks repeat across the site, and are left out", words)
    else:
        finished = await _judge_changes(run)
    if finished:
        basis = boilerplate.basis_of(newest_versions(run, gone))
        ledger.keep_boilerplate(replace(learned, basis=basis))


def _is_doubtful(run: Run, learned: Boilerplate) -> bool:
    """Tell whether, in the light of a list, so much has changed that a guard holds it.

    Then some of what was learned comes from text that nobody trusts yet.
    """
    parter, ledger = _parter(run, learned), run.ledger
    held = []
    for key, kind in tally.classes_of(run).items():
        entry = ledger.staged[key]
        if kind != CHANGES or _verdict(run, parter, entry) != Verdict.CHANGED:
            continue
        held.append(key)
    return tally.holds_changes(run, held)


def _verdict(run: Run, parter: Parter, entry: Staged) -> str:
    content = run.ledger.published_content(entry.key)
    if entry.generator != BODY or content is None:
        return entry.verdict
    [whole] = run.ledger.whole([entry])
    return parter.verdict(whole, run.ledger.published[entry.key], content)


def _parter(run: Run, learned: Boilerplate) -> Parter:
    return Parter(
        frozenset(learned.fingerprints),
        run.site.volatile_patterns,
        run.cutter,
        partial(differs_in_noise, run),
    )


async def _renew(run: Run) -> bool:
    """Make all pages anew with the list; False if the run was asked to stop before the end."""
    published = list(published_pages(run))
    if not await _judge(run, [entry.key for entry in staged_pages(run)]):
        return False
    parter = _parter(run, run.ledger.boilerplate)
    for keys in _batches(run, published):
        made = await run_in_thread(_remake, run, parter, keys)
        for key, (entry, owes) in zip(keys, made, strict=True):
            _adopt(run, key, entry, owes=owes)
    return not run.stopping


async def _judge_changes(run: Run) -> bool:
    """Judge changes anew whose published text may have been parted with an older list."""
    changed = [entry.key for entry in staged_pages(run) if entry.verdict == Verdict.CHANGED]
    return await _judge(run, changed)


async def _judge(run: Run, keys: Sequence[str]) -> bool:
    """Judge staged text by the list; False if the run was asked to stop before the end."""
    parter, ledger = _parter(run, run.ledger.boilerplate), run.ledger
    for batch in _batches(run, keys):
        entries = [ledger.staged[key] for key in batch]
        again = await run_in_thread(_again, run, parter, entries)
        for before, entry in zip(entries, again, strict=True):
            _replace(run, before, entry)
    return not run.stopping


def _batches(run: Run, keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), BATCH):
        if run.stopping:
            return
        yield keys[start : start + BATCH]


def _again(run: Run, parter: Parter, entries: Sequence[Staged]) -> list[Staged]:
    ledger, again = run.ledger, []
    for entry in ledger.whole(entries):
        page = ledger.published[entry.key] if ledger.is_live(entry.key) else None
        content = ledger.published_content(entry.key) if page else None
        again.append(parter.again(entry, page, content))
    return again


def _replace(run: Run, before: Staged, entry: Staged) -> None:
    """Keep staged work as it is judged now, and what the record says of it."""
    ledger, key = run.ledger, entry.key
    _rebind(run, key, _version(before), entry)
    verdict = entry.verdict
    if verdict != before.verdict:
        entry.held = ""
        if ledger.published[key].version == _version(entry):
            verdict = Verdict.UNCHANGED
        _take_back(run, before, verdict)
    if verdict == Verdict.UNCHANGED and before.verdict != Verdict.UNCHANGED:
        ledger.unstage(key)
        kept = ledger.published_content(key)
        ledger.set(key, made_by=kept.made_by if kept else "")
    elif (verdict, _version(entry)) != (before.verdict, _version(before)):
        ledger.restage(entry)


def _take_back(run: Run, before: Staged, verdict: str) -> None:
    """Make a page's record as if its change had been none from the beginning."""
    ledger, key = run.ledger, before.key
    record, found_at = ledger.pages[key], before.staged_at
    fresh = before.run_id == run.report.run_id
    if fresh and key in run.counted:
        run.count_page(key, verdict)
    reason = LINKS_ONLY if verdict == Verdict.LINKS_ONLY else FRAME_ONLY
    found = Difference(reason=reason).to_json(verdict, found_at)
    difference = {} if verdict == Verdict.UNCHANGED else found
    ledger.set(key, churn=0, difference=difference)
    if record.last_verdict == before.verdict:
        # Else a later check has failed, or brought what is not the page.
        ledger.set(key, last_verdict=str(verdict))
    if fresh and verdict != Verdict.LINKS_ONLY:
        # It halved the interval.
        interval = halve_double(record.interval, False, run.schedule)
        ledger.set(key, changes=max(record.changes - 1, 0), interval=interval)
        reschedule(record, verdict, run.now, run.schedule, since=0.0)


def _remake(run: Run, parter: Parter, keys: Sequence[str]) -> list[tuple[Staged | None, bool]]:
    ledger = run.ledger
    kept = [(ledger.published[key], ledger.published_content(key)) for key in keys]
    return [parter.remake(page, content, run.now) for page, content in kept]


def _adopt(run: Run, key: str, entry: Staged | None, *, owes: bool) -> None:
    """Stage a published page that was made anew; ask for the body of one that owes text."""
    ledger = run.ledger
    if entry is not None and key in ledger.staged:
        owes = True  # it waits to leave: should it stay, its next body tells
    elif entry is not None:
        _rebind(run, key, ledger.published[key].version, entry)
        run.stage(entry)
        run.count("remade")
    if owes:
        ledger.set(key, **NO_VALIDATORS)


def _rebind(run: Run, key: str, version: str, entry: Staged) -> None:
    """Bind a page's validators to the same body, read anew."""
    if run.ledger.pages[key].validator_digest == version:
        run.ledger.set(key, validator_digest=_version(entry))


def _version(entry: Staged) -> str:
    return entry.digest + entry.links_digest
