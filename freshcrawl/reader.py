"""A reader of one site that stays open: each search gets the generation that is current then."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any

from freshcrawl.generations import gather_vectors
from freshcrawl.state import CORPUS, RECORDS, SiteState, open_for_reading
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.identity import identity
from freshcrawl.stores.memory import MemoryIndex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.config import Config
    from freshcrawl.stores.base import Snapshot, VectorIndex

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class View:
    """One whole generation: its rows, its index, and the state for what is not published."""

    state: SiteState
    snapshot: Snapshot
    index: VectorIndex


@dataclass(eq=False, slots=True)
class _Opened:
    """The stores of a site as they were found."""

    state: SiteState
    files: tuple[Any, ...]
    users: int = 0
    retired: bool = False


class SiteReader:
    """Reads one site for as long as its process likes; any thread may call.

    Each use looks, in a read transaction of its own, which generation is
    current, and opens its index if that is another one than before, or was
    written again. Between uses no transaction is open, which would keep SQLite
    from emptying its write-ahead log. Where the site's folder was made anew,
    its files are opened anew; so they are at each use where nothing can be
    written beside them, since to have them open keeps writers out there.
    """

    def __init__(self, config: Config, name: str) -> None:
        self.name = name
        self._config = config
        self._lock = RLock()
        self._opened: _Opened | None = None
        self._index: VectorIndex | None = None
        self._which: tuple[Any, ...] = ()
        """What ``_index`` is of: databases, generation, its run, and version of its files."""

    @contextmanager
    def current(self) -> Iterator[View]:
        """Give the current generation, unchanged for as long as the block lasts.

        If its index file is missing or damaged, the index is built from the
        vectors that the corpus holds.

        Raises:
            StoreError: the site has no state, or it cannot be read.
        """
        with self._using() as opened:
            snapshot, index = self._generation(opened)
            try:
                yield View(opened.state, snapshot, index)
            finally:
                snapshot.close()

    @contextmanager
    def state(self) -> Iterator[SiteState]:
        """Give the site's state, open for reading, for as long as the block lasts.

        Raises:
            StoreError: the site has no state, or it cannot be read.
        """
        with self._using() as opened:
            yield opened.state

    def has_answers(self) -> bool:
        """Tell whether anything of the site was ever published.

        Raises:
            StoreError: the site has no state, or it cannot be read.
        """
        with self.current() as view:
            return view.snapshot.generation > 0

    def close(self) -> None:
        """Close what is open, once those who use it are done; a later use opens it again."""
        with self._lock:
            self._retire()
            self._index = None

    @contextmanager
    def _using(self) -> Iterator[_Opened]:
        """Keep what is open from being closed inside the block."""
        with self._lock:
            files = _files(self._config.state_path() / self.name)
            if self._which and self._which[0] != files:
                self._index = None
            if self._opened is None or self._opened.files != files:
                self._retire()
                self._opened = _Opened(open_for_reading(self._config, self.name), files)
            opened = self._opened
            opened.users += 1
        try:
            yield opened
        finally:
            with self._lock:
                opened.users -= 1
                if self._opened is opened and opened.state.keeps_writers_out:
                    self._retire()
                else:
                    _close_unused(opened)

    def _retire(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.retired = True
            _close_unused(opened)

    def _generation(self, opened: _Opened) -> tuple[Snapshot, VectorIndex]:
        """Return the rows and the index of the generation that is current now."""
        missing: tuple[Any, ...] = ()
        while True:
            snapshot = opened.state.corpus.snapshot()
            try:
                number = snapshot.generation
                written = opened.state.index.version(number)
                which = (opened.files, number, snapshot.info()["run_id"], written)
                with self._lock:
                    if self._index is None or self._which != which:
                        gone = which == missing
                        self._index = index_of(opened.state, snapshot, rebuild=gone)
                        self._which = which
                    return snapshot, self._index
            except FileNotFoundError:
                # A later publish tidied up in between: there is a newer generation. If there is
                # none, the file is missing for good.
                missing = which
                snapshot.close()
            except BaseException:
                snapshot.close()
                raise


def index_of(state: SiteState, snapshot: Snapshot, *, rebuild: bool = False) -> VectorIndex:
    """Open the index of a generation; built from the corpus if damaged, or if ``rebuild``.

    Raises:
        FileNotFoundError: its file is not there (any more).
        StoreError: the corpus cannot be read.
    """
    if snapshot.generation and not rebuild:
        try:
            return checked_index(state, snapshot)
        except StoreError as error:
            logger.warning("%(error)s; searched without it, which is slower", {"error": error})
    ids, vectors = gather_vectors(snapshot)
    return MemoryIndex(ids, vectors)


def checked_index(state: SiteState, snapshot: Snapshot) -> VectorIndex:
    """Open the index file of a generation, if it is of that very generation.

    Raises:
        FileNotFoundError: it is not there (any more).
        StoreError: it is damaged, or was made for other rows.
    """
    info = snapshot.info()
    index = state.index.open(snapshot.generation)
    run = state.index.manifest(snapshot.generation).get("run_id", info["run_id"])
    if (run, len(index)) != (info["run_id"], info["chunks"]):
        raise StoreError(
            f"{state.name}: the index file of generation {snapshot.generation} was made for "
            "other rows; the next publish writes a new one"
        )
    return index


def _files(folder: Path) -> tuple[Any, ...]:
    """Return what tells the databases from others of the same name.

    Those that are open keep their numbers, so that no new file can have them.
    """
    return tuple(identity(folder / name) for name in (RECORDS, CORPUS))


def _close_unused(opened: _Opened) -> None:
    if opened.retired and not opened.users:
        opened.state.close()
