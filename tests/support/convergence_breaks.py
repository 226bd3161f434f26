"""Deliberate breaks of what freshcrawl promises: the convergence suite must find each of them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from freshcrawl import absence, extensions, page_answers
from freshcrawl.core import guards
from freshcrawl.core.listings import Listings
from freshcrawl.discovery import Discovery
from freshcrawl.items import Outcome
from freshcrawl.run import Run
from freshcrawl.run_publishing import RunPublishing
from freshcrawl.staging import to_edit
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.corpus_publish import Publication

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.core.versions import Retention


@contextmanager
def records_before_the_switch() -> Iterator[None]:
    """Records are committed as if published, then it is published."""
    publish = RunPublishing._publish

    def _publish(self: Any, rows: Any, worth: Any) -> None:
        run = self._run
        pages = {edit.page.key: edit.page for edit in map(to_edit, rows)}
        run.ledger.adopt(pages, run.ledger.generation + 1)
        run.commit()
        publish(self, rows, worth)

    with patch.object(RunPublishing, "_publish", _publish):
        yield


@contextmanager
def index_after_the_switch() -> Iterator[None]:
    """Rows become current before their index file is written."""
    publish = SqliteCorpus.publish

    def _publish(self: Any, edits: Any, *, build: Any, **rest: Any) -> int:
        built: list[bool] = []
        number = publish(self, edits, build=lambda snapshot: built.append(True), **rest)
        if built:
            snapshot = self.snapshot()
            try:
                build(snapshot)
            finally:
                snapshot.close()
        return number

    with patch.object(SqliteCorpus, "publish", _publish):
        yield


@contextmanager
def validators_of_any_text() -> Iterator[None]:
    """Validators are sent whether or not what they came with is published."""

    def validators(self: Any, key: str, url: str) -> dict[str, str]:
        record = self.ledger.pages.get(key)
        if record is None or record.validator_url != url:
            return {}
        headers = {"If-None-Match": record.etag, "If-Modified-Since": record.last_modified}
        return {name: value for name, value in headers.items() if value}

    with patch.object(Run, "validators", validators):
        yield


@contextmanager
def absence_in_a_run_that_read_no_list() -> Iterator[None]:
    """A sitemap that this run did not read, as it was cut off before, lists nothing."""
    start, reached, count = Discovery.start, Listings.reached, absence.count_absent

    def _start(self: Any) -> Any:
        self._run.ledger.listings.begun = self._run.report.started_at
        return start(self)

    def read_now(self: Any) -> set[str]:
        unread = {
            key
            for source in self.sources.values()
            if source.read_at < self.begun and source.id.startswith("sitemap:")
            for key in source.keys
        }
        return reached(self) - unread

    def always(run: Run, *, whole: bool) -> None:
        count(run, whole=True)

    with (
        patch.object(Listings, "begun", 0.0, create=True),
        patch.object(Listings, "reached", read_now),
        patch.object(Discovery, "start", _start),
        patch.object(absence, "_sources_read", lambda run, record: True),
        patch.object(extensions, "count_absent", always),
    ):
        yield


@contextmanager
def half_a_sitemap_believed() -> Iterator[None]:
    """What a sitemap that was cut off does not list is not listed."""
    note = Discovery._note

    def _note(self: Any, url: str, kind: str, keys: list[str], whole: bool) -> None:
        note(self, url, kind, keys, True)

    with patch.object(Discovery, "_note", _note):
        yield


@contextmanager
def vectors_dropped_on_hide() -> Iterator[None]:
    """Vectors that no page in the answers has are dropped at once."""
    retain = SqliteCorpus.retain

    def _retain(self: Any, *given: Any, **named: Any) -> Any:
        kept = retain(self, *given, **named)
        with self._writing() as conn:
            conn.execute(
                "DELETE FROM vectors WHERE embed_digest NOT IN"
                " (SELECT embed_digest FROM open_chunks)"
            )
        return kept

    with patch.object(SqliteCorpus, "retain", _retain):
        yield


@contextmanager
def rows_dropped_under_readers() -> Iterator[None]:
    """Passages that are not current are dropped at once, whoever reads an earlier generation."""
    retain = SqliteCorpus.retain

    def _retain(self: Any, retention: Retention) -> Any:
        kept = retain(self, retention)
        with self._writing() as conn:
            conn.execute("DELETE FROM chunks WHERE to_gen IS NOT NULL")
        return kept

    with patch.object(SqliteCorpus, "retain", _retain):
        yield


@contextmanager
def one_generation_kept() -> Iterator[None]:
    """Only the newest generation is kept, whatever the setting says."""
    retain = SqliteCorpus.retain

    def _retain(self: Any, retention: Retention) -> Any:
        return retain(self, replace(retention, generations=1))

    with patch.object(SqliteCorpus, "retain", _retain):
        yield


@contextmanager
def storms_believed() -> Iterator[None]:
    """No guard holds removals."""
    tripped = guards.tripped

    def _tripped(kind: str, *given: Any) -> Any:
        return None if kind == guards.REMOVALS else tripped(kind, *given)

    with patch.object(guards, "tripped", _tripped):
        yield


@contextmanager
def staged_work_dropped_on_failure() -> Iterator[None]:
    """A publish that fails takes what was staged with it."""
    publish = RunPublishing._publish

    def _publish(self: Any, rows: Any, worth: Any) -> None:
        try:
            publish(self, rows, worth)
        except Exception:
            for row in rows:
                self._run.ledger.unstage(row.key)
            raise

    with patch.object(RunPublishing, "_publish", _publish):
        yield


@contextmanager
def pages_and_chunks_apart() -> Iterator[None]:
    """The rows of pages are committed before those of their chunks."""
    replace = Publication._replace_chunks

    def _replace(self: Any, key: str, chunks: Any) -> None:
        self._conn.execute("COMMIT")
        self._conn.execute("BEGIN IMMEDIATE")
        replace(self, key, chunks)

    with patch.object(Publication, "_replace_chunks", _replace):
        yield


@contextmanager
def errors_mean_gone() -> Iterator[None]:
    """A server's error is taken for the end of its page."""
    more = {500: Outcome.GONE, 503: Outcome.GONE}
    with patch.dict(page_answers.OUTCOMES, more):
        yield
