"""Published pages, chunks, vectors and content in one SQLite file."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from freshcrawl.stores import corpus_history, corpus_publish, corpus_retention
from freshcrawl.stores.base import DamagedContentError, StoreError
from freshcrawl.stores.corpus_snapshot import SqliteSnapshot
from freshcrawl.stores.corpus_tables import (
    SCHEMA_VERSION,
    VERSION_QUERY,
    add_indexes,
    connect_existing,
    create_tables,
)
from freshcrawl.stores.sqlitefile import (
    FileIdentity,
    checkpoint,
    connect_writer,
    keeps_writers_out,
    layout_version,
    reported,
    use_wal,
)
from freshcrawl.stores.told import ToldConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from freshcrawl.core.published import Edit
    from freshcrawl.core.rollback import Rollback
    from freshcrawl.core.versions import Retention
    from freshcrawl.stores.base import Snapshot

_PUT_CONTENT = (
    "INSERT INTO content (digest, data) VALUES (?, ?)"
    " ON CONFLICT (digest) DO UPDATE SET published = 0 WHERE published"
)
_PUT_VECTOR = (
    "INSERT INTO vectors (model, embed_digest, vector) VALUES (?, ?, ?)"
    " ON CONFLICT (embed_digest, model) DO UPDATE SET vector = excluded.vector, used_at = NULL"
    " WHERE vector != excluded.vector OR used_at IS NOT NULL"
)


class SqliteCorpus:
    """Corpus in the file ``path``; any thread may call it.

    Reads have a connection of their own, so only writes wait for a publish.
    With ``read_only`` nothing is created and a missing file reads as empty.

    Raises:
        StoreError: the file is damaged, newer than this version, or cannot be opened.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._path = path
        self._lock = RLock()
        self._read_lock = RLock()
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        try:
            with reported(path):
                if not read_only:
                    self._writer = self._open_writer()
                    self._identity = FileIdentity(path)
                self._open_reader()
        except BaseException:
            self.close()
            raise

    @property
    def keeps_writers_out(self) -> bool:
        """Whether a writer has to wait until this is closed: it reads where nothing is shared."""
        return keeps_writers_out(self._reader)

    def snapshot(self, generation: int | None = None) -> SqliteSnapshot:
        """Return the generation that is current now, or an older one.

        Raises:
            StoreError: ``generation`` is not kept.
        """
        with reported(self._path):
            conn = connect_existing(self._path)
            if conn is None:
                conn = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
                create_tables(conn)
            conn.execute("BEGIN")
            told = cast("sqlite3.Connection", ToldConnection(conn, self._path))
            return SqliteSnapshot(told, owned=True, generation=generation)

    def put_vectors(self, model: str, vectors: Mapping[str, Any], *, day: str = "") -> None:
        """Keep ``embed digest -> float32 vector`` of a model; durable on return.

        They count as spent on ``day`` (ISO date), in the same transaction, unless that is "".
        """
        import numpy as np

        rows = [
            (model, digest, np.asarray(vector, dtype="<f4").tobytes())
            for digest, vector in vectors.items()
        ]
        if rows:
            with self._writing() as conn:
                conn.executemany(_PUT_VECTOR, rows)
                if day:
                    corpus_publish.spend(conn, day, len(rows))

    def spent(self, day: str) -> int:
        """Return how many vectors were put that count as spent on a day (ISO date)."""
        with self._read_lock, reported(self._path):
            conn = self._open_reader()
            return corpus_publish.spent(conn, day) if conn else 0

    def vector_length(self, model: str) -> int:
        """Return the length of the kept vectors of a model, 0 if there are none."""
        with self._read_lock, reported(self._path):
            conn = self._open_reader()
            return corpus_publish.vector_length(conn, model) if conn else 0

    def missing_vectors(self, model: str, digests: Iterable[str]) -> set[str]:
        """Return those of ``digests`` for which no vector is kept."""
        with self._read_lock, reported(self._path):
            conn = self._open_reader()
            return corpus_publish.missing_vectors(conn, model, digests) if conn else set(digests)

    def put_content(self, contents: Mapping[str, bytes]) -> None:
        """Keep ``digest -> bytes`` (compressed on disk); durable on return."""
        rows = [(digest, zlib.compress(data)) for digest, data in contents.items()]
        self._write_rows(_PUT_CONTENT, rows)

    def get_content(self, digest: str) -> bytes | None:
        """Return kept bytes, or None.

        Raises:
            StoreError: they are damaged.
        """
        query = "SELECT data FROM content WHERE digest = ?"
        with self._read_lock, reported(self._path):
            conn = self._open_reader()
            row = conn.execute(query, (digest,)).fetchone() if conn else None
        try:
            return zlib.decompress(row[0]) if row else None
        except zlib.error as error:
            raise DamagedContentError(
                f"{self._path}: the kept content of a page is damaged; run scrapy verify --repair"
            ) from error

    def publish(
        self,
        edits: Sequence[Edit],
        *,
        run_id: str,
        model: str,
        dimension: int,
        published_at: float,
        build: Callable[[Snapshot], None],
        withdrawn: Collection[str] = (),
        rollback: Rollback | None = None,
        distrust: bool = False,
    ) -> int:
        """Apply ``edits`` as the next generation and make it current; see Corpus.

        ``build`` sees the writer's own open transaction: the commit after it
        is the switch. Edits that change nothing make no generation.
        """
        with self._writing() as conn:
            publication = corpus_publish.Publication(conn, model, dimension, published_at)
            if not publication.apply(edits, run_id, withdrawn, always=rollback is not None):
                return publication.number - 1
            if rollback is not None:
                corpus_history.note_rollback(conn, rollback)
            if distrust:
                corpus_history.distrust_closed_in(conn, publication.number)
            build(SqliteSnapshot(conn, owned=False))
            return publication.number

    def editing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Hold one transaction for edits that no publish makes."""
        return self._writing()

    def release(self, now: float) -> None:
        """Note durably that the last rollback is released, unless it is."""
        with self._writing() as conn:
            rollback = corpus_history.last_rollback(conn)
            if rollback is not None and rollback.pinned:
                released = replace(rollback, pinned=False, released_at=now)
                corpus_history.note_rollback(conn, released)

    def retain(self, retention: Retention) -> list[int]:
        """Drop what is past its retention; return the numbers of the generations still kept.

        In transactions of a bounded size: what a kill leaves is dropped by the next call.
        Vectors and content that were put and not published since are never dropped.
        """
        with self._writing() as conn:
            kept = corpus_retention.leave_generations(conn, retention.generations)
        more = bool(kept)
        while more:
            with self._writing() as conn:
                more = corpus_retention.drop_some(conn, kept[0], retention)
        # Readers that stay open keep SQLite from doing so when the writer closes.
        with self._lock, reported(self._path):
            checkpoint(conn)
        return kept

    def close(self) -> None:
        """Release the corpus."""
        with self._lock, self._read_lock:
            for conn in (self._reader, self._writer):
                if conn:
                    conn.close()

    def _open_writer(self) -> sqlite3.Connection:
        conn = connect_writer(self._path)
        try:
            version = layout_version(conn, self._path, VERSION_QUERY, SCHEMA_VERSION)
            use_wal(conn)
            if not version:
                create_tables(conn)
            add_indexes(conn)
        except BaseException:
            conn.close()
            raise
        return conn

    def _open_reader(self) -> sqlite3.Connection | None:
        if self._reader is None:
            self._reader = connect_existing(self._path)
        return self._reader

    def _write_rows(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        if rows:
            with self._writing() as conn:
                conn.executemany(statement, rows)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold one transaction: committed at the end, rolled back by any exception."""
        if self._writer is None:
            raise StoreError(f"{self._path}: the corpus is opened for reading only")
        with self._lock, reported(self._path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._identity.check()
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    with suppress(sqlite3.Error):  # what came first is what is told
                        self._writer.execute("ROLLBACK")
