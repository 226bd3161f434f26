"""Absence: what a run proves of pages that nothing lists any more.

A page counts as absent when every source that listed it last was read in this run, and all that
may list it now were read since it was found unlisted (``elsewhere.py``). That is known at the
run's end only: until then a sitemap may come that lists it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core import evidence
from freshcrawl.core.evidence import UNLISTED
from freshcrawl.core.listings import PATIENT_RUNS, POINTERS
from freshcrawl.core.pages import Cause, Status, Verdict
from freshcrawl.core.proofs import Proof, over
from freshcrawl.elsewhere import found_at, has_waited, hubs_to_ask, may_list, unheard
from freshcrawl.outcomes import ANSWERED
from freshcrawl.staging import leaving

if TYPE_CHECKING:
    from freshcrawl.core.evidence import Finding
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.run import Run


def to_confirm(run: Run) -> list[str]:
    """Return the live pages that are absent and need a fetch to confirm it, sorted.

    Before them come pages that may list them now: these have to be asked first.
    """
    absent = [r for r in _unlisted(run) if r.status == Status.LIVE]
    silence = unheard(run)
    waiting = [record for record in absent if may_list(run, silence, record)]
    # What is dead is known as soon as it is asked; else they are looked at when that counts.
    later = {r.key for r in waiting if r.last_attempt >= found_at(run, r)}
    to_count = (
        record.key
        for record in absent
        if record.key not in run.handled
        and record.key not in later
        and record.missing_runs < run.config.missing_runs
        and (has_waited(run, record) or _sources_read(run, record))
    )
    return [*hubs_to_ask(run, waiting), *sorted(to_count)]


def _unlisted(run: Run) -> list[PageRecord]:
    """Return the records of pages that nothing leads to; note since when."""
    reached = run.ledger.listings.reached()
    run.ledger.note_unlisted()
    found = [record for key, record in run.ledger.pages.items() if key not in reached]
    for record in found:
        asked = record.status == Status.LIVE or record.key in run.handled
        # A time to come is of a clock that was wrong.
        if asked and not 0 < record.unlisted_since <= run.now:
            run.ledger.set(record.key, unlisted_since=run.report.started_at)
    return found


def count_absent(run: Run, *, whole: bool) -> None:
    """Count the run for pages that answered although nothing lists them; let the policy decide.

    Those that are listed again begin anew, whether or not they were due or answered: what
    counts are runs in a row. A run that was not ``whole`` counts for nothing.
    """
    reached = run.ledger.listings.reached()
    unlisted = {record.key: record for record in _unlisted(run)}
    for key, record in run.ledger.pages.items():
        if key in reached and (record.missing_runs or record.unlisted_by or record.unlisted_since):
            if record.reason.startswith(UNLISTED):
                run.ledger.set(key, reason="", cause="")
            begun = {"missing_runs": 0, "unlisted_by": [], "unlisted_since": 0.0, "unheard_runs": 0}
            run.ledger.set(key, **begun, **over(record, run.now, listed=True))
            _stay(run, key)
    silence = unheard(run)
    for key, record in sorted(unlisted.items()) if whole else ():
        read = _sources_read(run, record)
        _wait(run, record, fails=not read or silence.failing < found_at(run, record))
        if key not in run.handled or not _answered(run, record):
            continue
        if (read or has_waited(run, record)) and not may_list(run, silence, record):
            _count(run, record)
    for key, entry in run.ledger.staged.items():
        if entry.verdict == Verdict.ABSENT and run.ledger.pages[key].last_verdict in ANSWERED:
            # It still waits to leave; meanwhile no newer text of it is taken.
            run.ledger.set(key, last_verdict=str(Verdict.ABSENT))


def _wait(run: Run, record: PageRecord, *, fails: bool) -> None:
    """Count the run for a page that waits for what ``fails``."""
    runs = min(record.unheard_runs + 1, PATIENT_RUNS) if fails else 0
    if record.status == Status.LIVE and runs != record.unheard_runs:
        run.ledger.set(record.key, unheard_runs=runs)


def _answered(run: Run, record: PageRecord) -> bool:
    """Tell whether a page that is in the answers, or about to be, answered in this run."""
    stands = run.ledger.is_live(record.key) or run.ledger.will_live(record.key)
    return (
        stands and record.last_attempt >= run.report.started_at and record.last_verdict in ANSWERED
    )


def _sources_read(run: Run, record: PageRecord) -> bool:
    """Tell whether all that listed a page last were read in this run.

    Where that is not known, or they are no more, all of discovery must have been whole.
    """
    sources = run.ledger.listings.sources
    if not record.unlisted_by or not sources.keys() >= set(record.unlisted_by):
        return not run.report.incomplete_reasons
    return all(_was_read(run, source_id) for source_id in record.unlisted_by)


def _was_read(run: Run, source_id: str) -> bool:
    """Tell whether a source was read; of a page that is not due, its stored links stand."""
    source = run.ledger.listings.sources[source_id]
    if source.kind in POINTERS:
        record = run.ledger.pages.get(source_id.partition(":")[2])
        return record is not None and not record.failures
    return source.read_at >= run.report.started_at


def _count(run: Run, record: PageRecord) -> None:
    finding = evidence.absent(record.missing_runs + 1, run.policies)
    run.count("missing")
    run.ledger.set(
        record.key,
        missing_runs=finding.missing_runs,
        reason=finding.reason,
        cause=finding.cause,
    )
    said = ", ".join(record.unlisted_by) or "all of discovery"
    said = f"not listed any more by {said}"
    run.prove(
        record.key, Proof(finding.cause, record.url, said=said, status=finding.status), run.now
    )
    if finding.verdict is not None:
        _leave(run, record, finding)


def _stay(run: Run, key: str) -> None:
    """Drop the removal of a page that is listed again; its text was not looked at meanwhile."""
    entry = run.ledger.staged.get(key)
    if run.ledger.pages[key].discarded.get("cause") == Cause.UNLISTED:
        run.ledger.forget_discard(key)
    if entry is not None and entry.verdict == Verdict.ABSENT:
        run.ledger.unstage(key)
        run.ledger.make_due(key)


def _leave(run: Run, record: PageRecord, finding: Finding) -> None:
    """Stage the removal of a page; one that was never in the answers just does not enter them."""
    ledger, key = run.ledger, record.key
    ledger.set(key, last_verdict=str(Verdict.ABSENT))
    if not ledger.is_live(key):
        ledger.unstage(key)
        ledger.set(key, status=finding.status)
        return
    entry = leaving(key, record.url, finding, Verdict.ABSENT, run.now)
    if ledger.is_discarded(entry):
        return
    hidden = finding.status == Status.HIDDEN
    found_before = ledger.holds_same(entry)
    run.count_page(key, "" if found_before else "hidden" if hidden else "gone")
    run.stage(entry)
    ledger.recheck_aliases_of(key)
