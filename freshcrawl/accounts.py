"""What a run adds up to: savings, stale pages, pages that always change, pages by verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.freshness import all_bytes, changing, stale_reasons
from freshcrawl.core.pages import Chunk, Status

if TYPE_CHECKING:
    from freshcrawl.run import Run


def add_up(run: Run) -> None:
    """Fill in what the report says of the whole site, at the end of a run."""
    report, pages = run.report, run.ledger.pages
    listed = run.ledger.listings.listed()
    wanted = [r for key, r in pages.items() if key in listed or r.status == Status.LIVE]
    report.recrawl_requests = len(wanted)
    report.recrawl_bytes = all_bytes(record.size for record in wanted)
    report.recrawl_chunks = run.ledger.published_chunks()
    report.stale_reasons = stale_reasons(pages.values(), run.now, run.config.max_age_secs)
    report.stale = sum(report.stale_reasons.values())
    report.changing = changing(pages.values())
    report.name_pages({pages[key].url: kind for key, kind in run.counted.items()})
    if run.dry_run:
        report.chunks_to_embed = _to_embed(run)


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
