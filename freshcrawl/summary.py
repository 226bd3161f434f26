"""A run's end in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freshcrawl.core.report import RunReport


def run_summary(site: str, report: RunReport) -> str:
    """Return what a run did, on a few lines."""
    lines = [
        f"{site}: {report.discovered} pages listed, {report.not_due} not due, "
        f"{report.fetched} fetched ({report.not_modified} answered 304): {report.new} new, "
        f"{report.changed} changed, {report.links_only} with new links only, "
        f"{report.unchanged} unchanged, {report.excluded} not documents, "
        f"{report.moved} moved, {report.gone + report.hidden} gone, "
        f"{report.rejected} rejected, {report.failed} failed",
        f"{site}: {report.chunks_embedded} chunks embedded, {report.chunks_reused} reused, "
        f"{report.chunks_removed} removed; {report.bytes_downloaded} bytes downloaded; "
        f"generation {report.generation}; {report.duration_s:.1f} s",
    ]
    if report.held:
        lines.append(f"{site}: {report.held} pages held: {'; '.join(report.held_reasons)}")
    if report.incomplete_reasons:
        lines.append(f"{site}: incomplete: {'; '.join(report.incomplete_reasons)}")
    return "\n".join(lines)
