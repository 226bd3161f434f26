"""Records through sqlitedict, with an end to every wait and failures that are final."""

from __future__ import annotations

import logging
import os
import sqlite3
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.sqlitefile import FileIdentity, store_error

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CLOSE_SECS = 10.0
"""Longest wait for the thread to end: what it is at, as all that is queued is dropped."""

logger = logging.getLogger(__name__)


class BoundedSqliteDict:
    """A SqliteDict whose failure is final, and tells at the next call, whatever that is."""

    def __init__(self, path: Path) -> None:
        from freshcrawl.stores.guarded_sqlitedict import OwnedDict

        # Its many error lines say less than the StoreError that is raised.
        logging.getLogger("sqlitedict").setLevel(logging.CRITICAL)
        self._path = path
        self._pid = os.getpid()
        self._failure: StoreError | None = None
        self._dirty = False
        try:
            self._dict = OwnedDict(path)
        except (MemoryError, RuntimeError) as error:  # the latter if no thread can be started
            raise store_error(path, error) from error
        self._identity = FileIdentity(path)

    def put(self, name: str, value: Mapping[str, Any]) -> None:
        """Queue a write; its failure surfaces at a later call, ``commit`` at the latest.

        Raises:
            TypeError, ValueError: the value is no JSON.
        """
        self._raise_failure()
        self._dict[checked_name(self._path, name)] = value
        self._dirty = True

    def delete(self, name: str) -> None:
        """Queue a deletion."""
        self._raise_failure()
        sql = "DELETE FROM records WHERE key = ?"
        self._dict.conn.execute(sql, (checked_name(self._path, name),))
        self._dirty = True

    def select(self, sql: str, args: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement, after everything queued before it."""
        self._raise_failure()
        try:
            return list(self._dict.conn.select(sql, args))
        except Exception as error:
            raise self._failed(error) from error

    def commit(self) -> None:
        """Commit, unless one of the writes before failed."""
        if not self._dirty:
            self._raise_failure()
            return
        self.select("SELECT 1")
        try:
            self._identity.check()
        except StoreError as error:
            raise self._failed(error) from error
        self.select("COMMIT")
        self._dirty = False

    def close(self) -> None:
        """End the thread; what was not committed is dropped."""
        if os.getpid() != self._pid:
            return
        thread = self._dict.conn
        thread.drop_queued()
        self._dict.close(do_log=False, force=True)
        thread.join(CLOSE_SECS)
        if thread.is_alive():
            values = {"path": self._path, "secs": CLOSE_SECS}
            logger.warning("%(path)s: was not closed within %(secs)g s; its disk hangs", values)

    def _raise_failure(self) -> None:
        if self._failure is None and os.getpid() != self._pid:
            raise StoreError(f"{self._path}: was opened before this process was forked; open anew")
        if self._failure is None:
            try:
                self._dict.conn.check_raise_error()
            except Exception as error:
                self._failed(error)
        if self._failure is not None:
            raise self._failure

    def _failed(self, error: Exception) -> StoreError:
        """Keep the first failure; return it."""
        if self._failure is not None:
            pass
        elif isinstance(error, StoreError):
            self._failure = error
        elif isinstance(error, (sqlite3.Error, MemoryError)):
            self._failure = store_error(self._path, error)
        else:
            self._failure = StoreError(
                f"{self._path}: its writer thread died ({error}); check the file and the disk"
            )
        return self._failure


def checked_name(path: Path, name: str) -> str:
    """Return a name that can be stored.

    Raises:
        StoreError: it is no Unicode text.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise StoreError(f"{path}: the name {name!r} is no Unicode text") from None
    return name
