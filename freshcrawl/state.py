"""State and index of one site on disk: which file is which store."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from freshcrawl.config import Config, ConfigError
from freshcrawl.core.boilerplate import Boilerplate
from freshcrawl.core.listings import Source
from freshcrawl.core.pages import PageRecord
from freshcrawl.core.published import Staged
from freshcrawl.core.report import RunReport
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.faiss_index import FaissIndexStore
from freshcrawl.stores.http_embedding import HttpEmbedder
from freshcrawl.stores.locks import SiteLock
from freshcrawl.stores.memory import MemoryIndexStore, MemoryRecordStore
from freshcrawl.stores.memory_corpus import MemoryCorpus
from freshcrawl.stores.onnx_encoder import OnnxEmbedder
from freshcrawl.stores.sqlite import SqliteRecordStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from freshcrawl.stores.base import Corpus, Embedder, IndexStore, RecordStore

OPTION_SETTINGS = {"chunk_tokens": "chunk_tokens"}
"""Setting of an option of embedders where it is not ``embed_`` and its name."""
RECORDS, CORPUS, INDEX = "records.sqlite", "corpus.sqlite", "index"


@dataclass(slots=True)
class SiteState:
    """The opened stores of one site."""

    name: str
    records: RecordStore
    corpus: Corpus
    index: IndexStore
    lock: SiteLock | None = None
    folder: Path | None = None
    """None in memory."""

    def pages(self) -> dict[str, PageRecord]:
        """Return all page records by key."""
        rows = self.records.items("page:")
        return {name[5:]: PageRecord.from_json(value) for name, value in rows}

    def pages_of(self, keys: Iterable[str]) -> dict[str, PageRecord]:
        """Return the records of some pages, of those that have one."""
        rows = ((key, self.records.get(f"page:{key}")) for key in keys)
        return {key: PageRecord.from_json(value) for key, value in rows if value is not None}

    def page(self, key: str) -> PageRecord | None:
        """Return the record of one page."""
        row = self.records.get(f"page:{key}")
        return PageRecord.from_json(row) if row else None

    def staged_work(self, key: str) -> Staged | None:
        """Return what waits to be published of one page, whole."""
        row = self.records.get(f"staged:{key}")
        return Staged.from_json({**row, **(self.records.get(f"work:{key}") or {})}) if row else None

    def staged(self) -> Iterator[Staged]:
        """Yield what waits to be published, by key, without chunks, blocks and body."""
        for _, value in self.records.items("staged:"):
            yield Staged.from_json(value)

    def sources(self) -> Iterator[Source]:
        """Yield the discovery sources with their listings."""
        for name, value in self.records.items("source:"):
            listing = self.records.get("listing:" + name[7:]) or {}
            yield Source.from_json({**value, "keys": listing.get("keys", [])})

    def reports(self) -> list[RunReport]:
        """Return the kept run reports, oldest first."""
        return [RunReport.from_json(value) for _, value in self.records.items("run:")]

    def site_table(self) -> dict[str, Any] | None:
        """Return the table that makes the site's SiteConfig, as of its last run."""
        return self.records.get("meta:site")

    def boilerplate(self) -> Boilerplate:
        """Return what the site's pages have in common, as of the last run that learned it."""
        return Boilerplate.from_json(self.records.get("meta:boilerplate") or {})

    @property
    def keeps_writers_out(self) -> bool:
        """Whether no writer can open the site until this is closed, as nothing can be shared."""
        return self.records.keeps_writers_out or self.corpus.keeps_writers_out

    def check_own(self) -> None:
        """Make sure that nobody took the site's folder from under this process.

        Raises:
            StoreError: it was deleted or replaced.
        """
        if self.lock is not None:
            self.lock.check()

    def close(self) -> None:
        """Close the stores and release the lock."""
        try:
            self.records.close()
            self.corpus.close()
        finally:
            if self.lock is not None:
                self.lock.release()


def open_for_writing(config: Config, name: str, command: str, now: float) -> SiteState:
    """Open a site's state as its only writer, creating it if need be.

    Raises:
        LockedError: another process writes to it.
        StoreError: the folder or a file cannot be used.
    """
    folder = config.state_path() / name
    try:
        (folder / INDEX).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder}: the state folder cannot be made ({error.strerror}): "
            "set FRESHCRAWL_STATE_DIR to a folder that can be written"
        ) from None
    lock = SiteLock(folder)
    lock.acquire(command, now)
    opened: list[Any] = []
    try:
        _refuse_emptied(folder)
        opened.append(SqliteRecordStore(folder / RECORDS))
        opened.append(SqliteCorpus(folder / CORPUS))
        return SiteState(name, opened[0], opened[1], FaissIndexStore(folder / INDEX), lock, folder)
    except BaseException:
        for store in opened:
            store.close()
        lock.release()
        raise


def open_for_reading(config: Config, name: str) -> SiteState:
    """Open a site's state beside whoever writes to it; nothing is created.

    Raises:
        StoreError: there is no such site, or a file cannot be read.
    """
    folder = config.state_path() / name
    if not _has_state(folder):
        known = ", ".join(site_names(config)) or "none yet"
        raise StoreError(f"no state of a site {name!r} in {folder.parent}; known: {known}")
    _refuse_emptied(folder)
    records = SqliteRecordStore(folder / RECORDS, read_only=True)
    try:
        corpus = SqliteCorpus(folder / CORPUS, read_only=True)
    except BaseException:
        records.close()
        raise
    return SiteState(name, records, corpus, FaissIndexStore(folder / INDEX), folder=folder)


def site_names(config: Config) -> list[str]:
    """Return the names of the sites that have state, sorted; none if there is no state folder.

    A folder that cannot be looked into counts as a site: to open it says what is wrong.

    Raises:
        StoreError: the state folder cannot be read.
    """
    found = []
    try:
        with os.scandir(config.state_path()) as folders:
            for folder in folders:
                with suppress(StoreError):
                    if not folder.is_dir() or not _has_state(Path(folder)):
                        continue
                found.append(folder.name)
    except FileNotFoundError:
        return []
    except OSError as error:  # no answer at all would look like "no site yet"
        raise _unreadable(error) from None
    return sorted(found)


def _has_state(folder: Path) -> bool:
    """Tell whether a folder is that of a site.

    Raises:
        StoreError: it cannot be looked into.
    """
    try:
        return (folder / RECORDS).exists()
    except OSError as error:
        raise _unreadable(error) from None


def _unreadable(error: OSError) -> StoreError:
    return StoreError(
        f"{error.filename}: the state cannot be read ({error.strerror}): run as the user that "
        "owns it, or set FRESHCRAWL_STATE_DIR to a folder"
    )


def _refuse_emptied(folder: Path) -> None:
    """Refuse a database that was cut to nothing: SQLite would take it for a new one.

    One that is missing was taken away on purpose, and begins anew.

    Raises:
        StoreError: a file is empty although something of the site was published.
    """
    if not any((folder / INDEX).glob("*.json")):
        return
    for path in (folder / RECORDS, folder / CORPUS):
        if path.exists() and path.stat().st_size == 0:
            raise StoreError(
                f"{path}: the file is damaged, it is empty; put a backup in its place, or delete "
                "it to begin it anew"
            )


def make_embedder(config: Config) -> Embedder:
    """Build the configured embedder (its model is loaded when first used).

    Raises:
        ConfigError: the class cannot be imported.
        StoreError: the model cannot be found.
    """
    options = EmbedOptions(
        **{
            f.name: getattr(config, OPTION_SETTINGS.get(f.name, f"embed_{f.name}"))
            for f in fields(EmbedOptions)
        }
    )
    return _embedder(config.embedder_class, config.embed_model, config.embed_revision, options)


@cache
def _embedder(class_path: str, model: str, revision: str, options: EmbedOptions) -> Embedder:
    """Return the one embedder of a kind in this process: sites that run together share it."""
    if options.url:
        return HttpEmbedder(model, revision, options)
    try:
        made_by = load_object(class_path)
        if made_by is SentenceTransformerEmbedder:
            local = OnnxEmbedder if options.backend == "onnx" else SentenceTransformerEmbedder
            return local(model, revision, options)
        embedder: Embedder = made_by(model, revision)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise ConfigError(f"FRESHCRAWL_EMBEDDER_CLASS={class_path}: {error}") from error
    return embedder


def open_in_memory(name: str) -> SiteState:
    """Return empty stores that leave nothing behind (dry runs of unknown sites)."""
    return SiteState(name, MemoryRecordStore(), MemoryCorpus(), MemoryIndexStore())
