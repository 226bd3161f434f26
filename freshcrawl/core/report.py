"""The run report: what one run did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from freshcrawl.core.pages import JsonRecord

TIMES = ("started_at", "finished_at")


@dataclass(slots=True)
class RunReport(JsonRecord):
    """Counters of a run. Times are epoch seconds here and ISO 8601 UTC in ``as_contract``."""

    run_id: str
    started_at: float
    finished_at: float = 0.0
    status: str = "running"
    """running, ok, failed; killed once a later run finds that it never ended."""
    full: bool = False
    complete: bool = False
    incomplete_reasons: list[str] = field(default_factory=list)
    held: int = 0
    """Pages whose staged work is held."""
    held_reasons: list[str] = field(default_factory=list)
    error: str = ""
    discovered: int = 0
    """Keys that a source lists."""
    not_due: int = 0
    fetched: int = 0
    """Page requests that got an answer, 304 and errors of the server included."""
    not_modified: int = 0
    new: int = 0
    changed: int = 0
    cosmetic: int = 0
    links_only: int = 0
    unchanged: int = 0
    moved: int = 0
    gone: int = 0
    hidden: int = 0
    dead: int = 0
    """Listed URLs that answer 404 or 410 and never were pages."""
    missing: int = 0
    """Pages found unlisted and still answering."""
    excluded: int = 0
    rejected: int = 0
    failed: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0
    chunks_removed: int = 0
    bytes_downloaded: int = 0
    page_bytes: int = 0
    """Bytes of page bodies, decompressed; a 304 has none."""
    generation: int = 0
    torch_imported: bool = False
    """Whether the process loaded the embedding library."""

    @property
    def duration_s(self) -> float:
        """Seconds from start to end; 0 while running."""
        return round(max(self.finished_at - self.started_at, 0.0), 3) if self.finished_at else 0.0

    def incomplete(self, reason: str) -> None:
        """Note once why the run did not see the whole site."""
        if reason not in self.incomplete_reasons:
            self.incomplete_reasons.append(reason)

    def as_contract(self) -> dict[str, Any]:
        """Return the report as ``status --json`` shows it."""
        data = {name: getattr(self, name) for name in self.__slots__}
        for name in TIMES:
            data[name] = iso(data[name])
        return {**data, "duration_s": self.duration_s}


def iso(moment: float) -> str | None:
    """Return epoch seconds as ISO 8601 UTC, None for 0 (never)."""
    if not moment:
        return None
    return (
        datetime.fromtimestamp(moment, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
