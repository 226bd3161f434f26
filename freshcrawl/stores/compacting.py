"""Giving unused room of SQLite files back to the disk."""

from __future__ import annotations

import os
import shutil
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.sqlitefile import BUSY_SECS, connect_existing, reported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_COPIES = 2
"""What a VACUUM writes beside the file until it is done: the new file, and the log with it."""
_UNUSED_CONTENT = (
    "DELETE FROM content WHERE NOT published"
    " AND NOT EXISTS (SELECT 1 FROM published WHERE content = content.digest)"
)
_UNUSED_VECTORS = (
    "DELETE FROM vectors WHERE used_at IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.embed_digest = vectors.embed_digest)"
    " AND embed_digest NOT IN (SELECT digest FROM waiting)"
)

READER_WAIT_SECS = BUSY_SECS
"""Longest wait for a reader whose snapshot keeps the log from being given back."""


def room_needed(path: Path) -> int:
    """Return how many bytes must be free for a file to be compacted."""
    with reported(path), closing(connect_existing(path)) as conn:
        [pages], [free], [size] = (
            conn.execute(f"PRAGMA {name}").fetchone()
            for name in ("page_count", "freelist_count", "page_size")
        )
    return int(_COPIES * (pages - free) * size)


def refuse_without_room(path: Path) -> None:
    """Check that a file can be compacted where it is.

    Raises:
        StoreError: too little of the disk is free.
    """
    needed, free = room_needed(path), shutil.disk_usage(path.parent).free
    if free < needed:
        raise StoreError(
            f"{path}: to compact it takes {needed / 1e6:.1f} MB of free disk, and "
            f"{free / 1e6:.1f} MB are free; make room and run again"
        )


def compact_file(path: Path) -> bool:
    """Rewrite a SQLite file without its unused pages; atomic, and beside readers.

    Returns whether its log was given back, too: a reader whose snapshot is older holds that
    up, and is waited for `READER_WAIT_SECS` at most.

    Raises:
        StoreError: it is damaged, or another process writes to it.
    """
    with reported(path), _temporary_files_in(path.parent), closing(connect_existing(path)) as conn:
        conn.execute("VACUUM")
        busy, _, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def drop_unpublished(path: Path, waiting: Iterable[str]) -> None:
    """Delete content and vectors that were stored and never published, as by a killed run.

    Not the vectors of passages that some kept generation has, be it with another model, nor
    those of the embed digests ``waiting``.
    """
    with reported(path), closing(connect_existing(path)) as conn:
        conn.execute(_UNUSED_CONTENT)
        conn.execute("CREATE TEMP TABLE waiting (digest TEXT PRIMARY KEY)")
        conn.executemany("INSERT OR IGNORE INTO waiting VALUES (?)", ((d,) for d in waiting))
        conn.execute(_UNUSED_VECTORS)


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Have SQLite put its copy beside the file: the one place whose free room was looked at.

    It unlinks the copy as soon as it has made it, so that nothing is left by a kill.
    """
    name = "SQLITE_TMPDIR"
    before = os.environ.get(name)
    os.environ[name] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
