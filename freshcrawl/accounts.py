"""What a run adds up to: savings, stale pages, pages that always change, pages by verdict."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from freshcrawl.core.freshness import all_bytes, changing, stale_reasons
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.core.published import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.core.pages import PageRecord
    from freshcrawl.run import Run


def add_up(run: Run) -> None:
    """Fill in what the report says of the whole site, at the end of a run."""
    report, pages = run.report, run.ledger.pages
    listed = run.ledger.listings.listed()
    listed = {key for key in listed if not run.ledger.is_forgotten(key)}
    wanted = [r for key, r in pages.items() if key in listed or r.status == Status.LIVE]
    report.recrawl_requests = len(wanted)
    report.recrawl_bytes = all_bytes(record.size for record in wanted)
    report.recrawl_chunks = run.ledger.published_chunks()
    report.stale_reasons = stale_reasons(pages.values(), run.now, run.config.max_age_secs)
    report.stale = sum(report.stale_reasons.values())
    report.changing = changing(pages.values())
    report.rejected_kinds = dict(Counter(run.rejections.values()).most_common())
    found = {k: kind for k, kind in run.counted.items() if kind != "excluded" or _leaves(run, k)}
    report.newly_excluded = sum(kind == "excluded" for kind in found.values())
    report.name_pages({pages[key].url: kind for key, kind in found.items()})
    if run.dry_run:
        report.chunks_to_embed = _to_embed(run)


def _leaves(run: Run, key: str) -> bool:
    """Tell whether a page was in the answers before this run and leaves, now or once confirmed."""
    return key in run.was_live and not run.ledger.will_live(key)


def _to_embed(run: Run) -> int:
    """Return how many texts a dry run would have had to embed."""
    digests = {
        Chunk.from_json(data).embed_digest
        for entry in run.ledger.staged.values()
        if not entry.held
        for whole in run.ledger.whole([entry])
        for data in whole.chunks
    }
    return run.publisher.missing(digests)


def nothing_found(run: Run) -> str:
    """Return why a site has no page, as far as its records tell; "" if it has one.

    Nothing is said of a dry run, which leaves nothing behind.
    """
    if run.dry_run or run.ledger.live_count() or run.ledger.staged:
        return ""
    reasons = _most_common(r.reason for r in run.ledger.pages.values())
    folder = run.config.state_path() / run.site.name
    return (
        f"no page with content was found at {run.site.url}{reasons}; "
        f"the site stays known, so if its URL is wrong, delete {folder}"
    )


def nothing_checked(run: Run) -> str:
    """Return why it seems that no live page of the site can be checked, "" if one can.

    One page of many may fail by itself; where it is all of several, it is the site. Pages
    that fail while the site works say nothing of it: some live page was checked since the run
    in which they began to fail. Nor do those that robots.txt forbids, unless it forbids all.
    """
    since, pages = run.report.started_at, run.ledger.pages
    live = [record for record in pages.values() if record.status == Status.LIVE]
    asked = [r for r in live if r.key in run.handled and r.last_attempt >= since]
    worked = max((record.last_checked for record in live), default=0.0)
    if not asked or worked >= since:
        return ""
    blind = [r for r in asked if r.failures and r.failing_since > worked]
    if not any(record.failures for record in asked) and all(map(was_forbidden, live)):
        blind = asked
    if len(blind) < min(2, run.ledger.live_count()):
        return ""
    reasons = _most_common(record.reason for record in blind)
    if len(asked) == 1:
        return f"the live page that was due could not be checked{reasons}"
    return f"none of {len(asked)} live pages that were due could be checked{reasons}"


def was_forbidden(record: PageRecord) -> bool:
    """Tell whether robots.txt kept the last check from a page."""
    return record.last_verdict == Verdict.EXCLUDED and record.last_checked < record.last_attempt


def _most_common(reasons: Iterable[str]) -> str:
    found = Counter(filter(None, reasons)).most_common(1)
    return f" ({found[0][0]})" if found else ""
