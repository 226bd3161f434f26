"""Giving unused room of a site's state back to the disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.core.published import Chunk
from freshcrawl.generations import drop_old
from freshcrawl.ledger import Ledger
from freshcrawl.state import CORPUS, INDEX, RECORDS
from freshcrawl.stores import compacting
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState

FILES = (RECORDS, CORPUS)


@dataclass(slots=True)
class Compacted:
    """What a compaction gave back."""

    site: str
    bytes_before: int
    """Of both databases with their logs, and of the index folder."""
    bytes_after: int = 0
    files_removed: int = 0
    """Drafts and files of generations that are not kept."""
    logs_in_use: list[str] = field(default_factory=list)
    """Databases whose log stays, as a reader with an older snapshot needs it."""


def compact(state: SiteState, config: Config, now: float) -> Compacted:
    """Drop what is past its retention and what was left over, and rewrite both databases.

    Killed at any moment it leaves a whole state. The stores are closed afterwards.

    Raises:
        StoreError: too little of the disk is free, a file is damaged, or the folder was replaced.
    """
    folder = state.folder
    if folder is None:
        raise StoreError(f"{state.name} is in memory: there is nothing to compact")
    done = Compacted(state.name, _bytes(folder))
    # Records in step with a rollback that was cut off, before its generation may be dropped.
    ledger = Ledger(state, now)
    ledger.commit_records()
    done.files_removed = drop_old(state, config, now)
    waiting = waiting_digests(ledger)
    state.records.close()
    state.corpus.close()
    # From here on both files are opened by their names.
    state.check_own()
    compacting.drop_unpublished(folder / CORPUS, waiting)
    for name in FILES:
        state.check_own()
        compacting.refuse_without_room(folder / name)
    for name in FILES:
        state.check_own()
        if not compacting.compact_file(folder / name):
            done.logs_in_use.append(name)
    done.bytes_after = _bytes(folder)
    return done


def waiting_digests(ledger: Ledger, but: Container[str] = ()) -> set[str]:
    """Return the embed digests of the passages of staged work, ``but`` that of some pages."""
    return {
        Chunk.from_json(data).embed_digest
        for entry in ledger.staged.values()
        if entry.key not in but
        for whole in ledger.whole([entry])
        for data in whole.chunks
    }


def _bytes(folder: Path) -> int:
    files = [path for name in FILES for path in folder.glob(f"{name}*")]
    return sum(path.stat().st_size for path in [*files, *(folder / INDEX).iterdir()])
