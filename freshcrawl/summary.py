"""A run's end in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def run_summary(run: Mapping[str, Any]) -> list[str]:
    """Return what a run did, a sentence a line; ``run`` is ``RunReport.as_contract``."""
    lines = [
        f"{run['discovered']} pages listed, {run['not_due']} not due, "
        f"{run['fetched']} fetched ({run['not_modified']} answered 304): {run['new']} new, "
        f"{run['changed']} changed, {run['links_only']} with new links only, "
        f"{run['unchanged']} unchanged, {run['excluded']} not documents, "
        f"{run['moved']} moved, {run['gone'] + run['hidden']} gone, "
        f"{run['dead']} dead links, {run['rejected']} rejected, {run['failed']} failed",
        f"{run['chunks_embedded']} chunks embedded, {run['chunks_reused']} reused, "
        f"{run['chunks_removed']} removed; {run['bytes_downloaded']} bytes downloaded; "
        f"generation {run['generation']}; {run['duration_s']:.1f} s",
    ]
    if run["held"]:
        lines.append(
            f"{run['held']} pages held: {'; '.join(run['held_reasons'])}; later runs that find "
            "the same release them (docs/troubleshooting.md, held)"
        )
    if run["incomplete_reasons"]:
        lines.append(f"incomplete: {'; '.join(run['incomplete_reasons'])}")
    if run["error"]:
        lines.append(f"failed: {run['error']}")
    return lines
