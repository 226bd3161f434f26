"""What cuts a run in process short: a kill, a full disk, an embedder that fails, a stop."""

from __future__ import annotations

import errno
import shutil
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import DownloadFailedError

from freshcrawl.seams import Seam
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from freshcrawl.stores.base import Matrix

COPIES = 50
INDEX_STEPS = frozenset({Seam.INDEX_WRITTEN, Seam.INDEX_NAMED, Seam.MANIFEST_NAMED})


class Killed(Exception):
    """Ends what is left of a run that is dead already: what it still writes is thrown away."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What happens to a run, once: ``how`` at the ``number``-th time of ``where``.

    ``how`` is kill, full (disk), embedder, stop, pages (CLOSESPIDER_PAGECOUNT), or "" for nothing;
    ``where`` a seam's name, or ``item``, ``request``, or ``encode`` for the embedder.
    """

    how: str = ""
    where: str = "item"
    number: int = 1


class Saboteur:
    """Counts what happens in a run, and cuts it at its moment."""

    def __init__(self, cut: Cut, folder: Path, copy: Path) -> None:
        self.cut = cut
        self._left = cut.number
        self._folder = folder
        self._copy = copy
        self.state: Any = None
        """The run's SiteState, once it is open."""
        self.stop: Any = None
        """Called without arguments, asks the run to stop."""
        self.struck = False

    @property
    def killed(self) -> bool:
        """Whether the run was killed; what it left is in the copy."""
        return self.struck and self.cut.how == "kill"

    def at_seam(self, seam: Seam) -> None:
        """Act at a step of a publish. Any thread may call.

        Raises:
            Killed: the run is dead.
            OSError: the disk is full.
        """
        self._reach(seam)
        if self.killed:
            raise Killed(seam)
        if self.struck and self.cut.how == "full" and seam in INDEX_STEPS:
            raise OSError(errno.ENOSPC, "No space left on device")

    def at_item(self) -> None:
        """Act when a page is done, before the run commits it."""
        self._reach("item")

    def at_request(self, number: int) -> None:
        """Act at a request.

        Raises:
            DownloadFailedError: the run is dead.
        """
        self._reach("request")
        if self.killed:
            raise DownloadFailedError(f"dead at request {number}")

    def _reach(self, where: str) -> None:
        if self.struck or where != self.cut.where:
            return
        self._left -= 1
        if self._left > 0:
            return
        self.struck = True
        if self.cut.how == "kill":
            copy_as_killed(self._folder, self._copy)
        elif self.cut.how == "full":
            fill_disk(self.state)
        elif self.cut.how == "stop":
            self.stop()


def copy_as_killed(folder: Path, copy: Path) -> None:
    """Copy a state folder as a process leaves it that dies now: what is on the disk, WAL and all.

    A checkpoint may be writing to a database meanwhile: then it is copied again.
    """
    for _ in range(COPIES):
        shutil.rmtree(copy, ignore_errors=True)
        with suppress(OSError, shutil.Error):  # a file went away meanwhile
            before = _signature(folder)
            # Databases before their WALs: what a checkpoint moves in between is then in both.
            shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
            for wal in folder.rglob("*-wal"):
                shutil.copyfile(wal, copy / wal.relative_to(folder))
            if _signature(folder) == before:
                return
    raise AssertionError(f"{folder} never holds still")


def _signature(folder: Path) -> dict[Path, tuple[int, int]]:
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.endswith("-shm"):
            stat = path.stat()
            found[path] = (stat.st_size, stat.st_mtime_ns)
    return found


def fill_disk(state: Any) -> None:
    """Let neither database of a state grow any more: SQLite itself says that the disk is full."""
    state.corpus._writer.execute("PRAGMA max_page_count = 1")
    state.records._writer.select("PRAGMA max_page_count = 1")


class WatchedEmbedder(HashEmbedder):
    """Notes what it embeds, and fails at a batch; of its tokens it keeps those that it knows."""

    texts: ClassVar[list[str]] = []
    fails_at: ClassVar[int] = 0
    """Number of the batch that fails, from 1; 0 for none."""
    _spans: ClassVar[dict[str, list[tuple[int, int]]]] = {}

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, no special tokens."""
        spans = self._spans.get(text)
        if spans is None:
            spans = self._spans[text] = super().token_offsets(text)
        return spans

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text.

        Raises:
            RuntimeError: this is the batch that fails.
        """
        if type(self).fails_at:
            type(self).fails_at -= 1
            if not type(self).fails_at:
                raise RuntimeError("the model has run out of memory")
        self.texts.extend(texts)
        return super().encode(texts)
