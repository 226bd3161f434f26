"""What a look at a site's state finds, in words and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What can be wrong. In the order in which it is repaired."""

    DATABASE = "database-damaged"
    ROW = "row-damaged"
    ROLLBACK = "rollback-unfinished"
    FORGOTTEN = "forget-unfinished"
    FORGOTTEN_STORED = "forgotten-stored"
    STAGED_BROKEN = "staged-broken"
    STAGED_DONE = "staged-published"
    WORK_STRAY = "work-stray"
    GENERATION_BEHIND = "generation-behind"
    CHUNKS_STRAY = "chunks-stray"
    CONTENT_DAMAGED = "content-damaged"
    CONTENT_MISSING = "content-missing"
    CONTENT_OLD = "content-unused-damaged"
    VECTORS = "vectors-damaged"
    VECTORS_UNUSED = "vectors-unused-damaged"
    VECTORS_DIFFER = "vectors-differ"
    CHUNKS = "chunks-differ"
    COUNTS = "counts-differ"
    OLD_GENERATION = "old-generation-damaged"
    INDEX = "index-damaged"
    INDEX_UNKNOWN = "index-unknown"
    RECORD_MISSING = "record-missing"
    RECORD_UNPUBLISHED = "record-unpublished"
    RECORD_STATUS = "record-status"
    RECORD_MADE_BY = "record-made-by"
    RECORD_VERSION = "record-version"
    NOT_CHECKED = "not-checked"


REPAIRS = {
    Kind.DATABASE: "none: put a backup in its place, or delete the site's folder and crawl again",
    Kind.ROW: "drops the row; its page is looked at again",
    Kind.ROLLBACK: "brings records in step with it, as the next run does",
    Kind.FORGOTTEN: "drops what records hold of it, as the next run does",
    Kind.FORGOTTEN_STORED: "none: run scrapy forget again, with its URL",
    Kind.STAGED_BROKEN: "drops it; its page is downloaded again",
    Kind.STAGED_DONE: "drops it, as the next run does",
    Kind.WORK_STRAY: "drops it",
    Kind.GENERATION_BEHIND: "adds the row of that generation",
    Kind.CHUNKS_STRAY: "drops them",
    Kind.CONTENT_DAMAGED: "drops it; the next crawl downloads the page and keeps it again",
    Kind.CONTENT_MISSING: "makes the page due: the next crawl downloads it and keeps it again",
    Kind.CONTENT_OLD: "drops it",
    Kind.VECTORS: "embeds their text, or takes them from the index file",
    Kind.VECTORS_UNUSED: "drops them",
    Kind.VECTORS_DIFFER: "embeds their text to see which are right",
    Kind.CHUNKS: "publishes the page again as it was kept, as a new generation",
    Kind.COUNTS: "counts again",
    Kind.OLD_GENERATION: "keeps that generation no more, and drops its files",
    Kind.INDEX: "writes it anew from the vectors in corpus.sqlite",
    Kind.INDEX_UNKNOWN: "drops it",
    Kind.RECORD_MISSING: "makes one from the published page, due at once",
    Kind.RECORD_UNPUBLISHED: "makes the page pending and due at once",
    Kind.RECORD_STATUS: "takes the published status, and makes the page due at once",
    Kind.RECORD_MADE_BY: "takes what the kept content says",
    Kind.RECORD_VERSION: "makes the page due at once, without validators",
    Kind.NOT_CHECKED: "none",
}
"""What ``--repair`` does about each."""

LEFTOVERS = {
    *(Kind.ROLLBACK, Kind.FORGOTTEN, Kind.STAGED_DONE, Kind.INDEX_UNKNOWN, Kind.RECORD_MADE_BY)
}
"""What is mended also where it is no damage."""
OTHER_ROW = "none: put a backup in place of the file, or delete that row by hand"
NEXT_RUN = "none needed: the next run does it"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    kind: Kind
    where: str
    """The key, row, digest, generation or file that it is about."""
    what: str
    """One line."""
    damage: bool = True
    """False for what a run that was cut off, or is under way, has left to do."""
    repair: str = ""
    """What ``--repair`` does; the default is that of the kind."""

    @property
    def remedy(self) -> str:
        """What ``--repair`` does about it."""
        return self.repair or REPAIRS[self.kind]

    def to_json(self) -> dict[str, Any]:
        """Return the finding as ``--json`` shows it."""
        return {
            "kind": str(self.kind),
            "level": "damage" if self.damage else "note",
            "where": self.where,
            "what": self.what,
            "repair": self.remedy,
        }

    def line(self) -> str:
        """Return the finding for reading."""
        level = "damage" if self.damage else "note"
        return f"{level:<6} {self.kind}: {self.where}: {self.what}"


def is_mended(finding: Finding) -> bool:
    """Tell whether ``--repair`` does something about a finding."""
    return (finding.damage or finding.kind in LEFTOVERS) and not finding.remedy.startswith("none")


def damages(findings: list[Finding]) -> list[Finding]:
    """Return those findings that are damage."""
    return [finding for finding in findings if finding.damage]
