"""Readers that stay open while a site is published, tidied, damaged, deleted and made anew."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from freshcrawl.answers import search
from freshcrawl.reader import SiteReader
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.faiss_index import FaissIndex, FaissIndexStore
from freshcrawl.stores.memory import MemoryIndex
from freshcrawl.verify.repair import Repair
from tests.support.crowd import assert_flat, descriptors, mapped, publish_among_readers
from tests.support.embedder import HashEmbedder
from tests.support.site_writer import NAME, SiteWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.stores.base import VectorIndex

EMBEDDER = HashEmbedder()
OLD = {"a": "Turn the handle.", "b": "Wait for the bell."}
NEW = {"a": "Pull the lever.", "c": "Leave by the gate."}
BOTH = OLD | NEW


@pytest.fixture
def writer(state: Path) -> Iterator[SiteWriter]:
    with SiteWriter(state, generations_kept=1) as writer:
        yield writer


@pytest.fixture
def reader(writer: SiteWriter) -> Iterator[SiteReader]:
    with closing(SiteReader(writer.config, NAME)) as reader:
        yield reader


def told(reader: SiteReader, question: str = "handle") -> dict[str, str]:
    """Return all texts by the name of their page."""
    hits = search([reader], EMBEDDER, question, 1_000, now=0.0, max_ages={NAME: 1.0})
    assert len({hit.url for hit in hits}) == len(hits)
    return {hit.title: hit.text.split("\n\n")[-1] for hit in hits}


def index_file(state: Path, name: str) -> Path:
    return state / NAME / "index" / name


def test_a_publish_is_seen_at_the_next_search(writer: SiteWriter, reader: SiteReader) -> None:
    assert told(reader) == {}
    assert not reader.has_answers()
    for texts, all_texts in ((OLD, OLD), (NEW, BOTH)):
        writer.publish(texts)
        assert told(reader) == all_texts
        writer.tidy()
        assert told(reader) == all_texts
    assert reader.has_answers()


def test_the_index_is_opened_once_a_generation(
    writer: SiteWriter, reader: SiteReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    real = FaissIndexStore.open

    def counted(self: FaissIndexStore, generation: int) -> VectorIndex:
        opened.append(generation)
        return real(self, generation)

    monkeypatch.setattr(FaissIndexStore, "open", counted)
    for texts in (OLD, NEW):
        writer.publish(texts)
        for _ in range(3):
            told(reader)
    assert opened == [1, 2]


def test_a_site_that_appears_later(state: Path) -> None:
    with SiteWriter(state) as other:
        reader = SiteReader(other.config, NAME)
    shutil.rmtree(state / NAME)
    for _ in range(2):
        with pytest.raises(StoreError, match="no state of a site 'docs'"):
            told(reader)
    with SiteWriter(state) as writer:
        writer.publish(OLD)
        assert told(reader) == OLD
    reader.close()


def test_a_site_that_is_deleted_and_made_anew(state: Path) -> None:
    """The same number of a generation, and not the same generation."""
    for texts in (OLD, NEW, OLD):
        with SiteWriter(state) as writer:
            assert writer.publish(texts) == 1
            if texts is OLD:
                reader = SiteReader(writer.config, NAME)
            assert told(reader) == texts
        shutil.rmtree(state / NAME)
        with pytest.raises(StoreError, match="no state"):
            told(reader)
        if texts is NEW:
            reader.close()
    reader.close()


def test_a_database_that_is_taken_away(state: Path, writer: SiteWriter, reader: SiteReader) -> None:
    """Only the corpus is made anew, the records stay as they are."""
    writer.publish(OLD)
    assert told(reader) == OLD
    writer.state.close()
    for name in ("corpus.sqlite", "corpus.sqlite-wal", "corpus.sqlite-shm"):
        (state / NAME / name).unlink(missing_ok=True)
    assert told(reader) == {}
    with SiteWriter(state) as again:
        again.publish(NEW)
        assert told(reader) == NEW


@pytest.mark.parametrize("name", ["1.faiss", "1.json"])
def test_without_its_index_file_the_corpus_is_searched(
    name: str, state: Path, writer: SiteWriter, reader: SiteReader
) -> None:
    writer.publish(OLD)
    index_file(state, name).unlink()
    assert told(reader) == OLD
    with reader.current() as view:
        assert isinstance(view.index, MemoryIndex)
    writer.publish(NEW)
    assert told(reader) == BOTH
    with reader.current() as view:
        assert isinstance(view.index, FaissIndex)


def test_a_damaged_index_file_is_told_once(
    state: Path, writer: SiteWriter, reader: SiteReader, caplog: pytest.LogCaptureFixture
) -> None:
    writer.publish(OLD)
    index_file(state, "1.faiss").write_bytes(b"nothing of it")
    for _ in range(3):
        assert told(reader) == OLD
    assert caplog.text.count("the file is damaged") == 1


def test_an_index_of_another_generation_is_not_searched(
    state: Path, writer: SiteWriter, reader: SiteReader, caplog: pytest.LogCaptureFixture
) -> None:
    writer.publish(OLD)
    writer.publish({"a": "Pull the lever."})
    for kind in ("faiss", "json"):
        shutil.copy(index_file(state, f"1.{kind}"), index_file(state, f"2.{kind}"))
    assert told(reader) == OLD | {"a": "Pull the lever."}
    assert "made for other rows" in caplog.text


def test_an_index_of_another_generation_that_is_repaired(
    state: Path, writer: SiteWriter, reader: SiteReader, caplog: pytest.LogCaptureFixture
) -> None:
    """The generation is the same as before; its file is another."""
    writer.publish(OLD)
    writer.publish(NEW)
    for kind in ("faiss", "json"):
        shutil.copy(index_file(state, f"1.{kind}"), index_file(state, f"2.{kind}"))
    assert searched(reader) is MemoryIndex
    repair(writer)
    assert told(reader) == BOTH
    assert searched(reader) is FaissIndex
    assert caplog.text.count("made for other rows") == 1


@pytest.mark.parametrize("names", [["1.faiss", "1.json"], ["1.faiss"], ["1.json"]])
def test_a_missing_index_that_is_repaired(
    names: list[str], state: Path, writer: SiteWriter, reader: SiteReader
) -> None:
    writer.publish(OLD)
    for name in names:
        index_file(state, name).unlink()
    assert searched(reader) is MemoryIndex
    repair(writer)
    assert told(reader) == OLD
    assert searched(reader) is FaissIndex


def test_an_index_that_is_written_again_is_opened_again(
    state: Path, writer: SiteWriter, reader: SiteReader
) -> None:
    """Also if the open one was as good; what was searched of a file that is gone is let go."""
    writer.publish(OLD)
    told(reader)
    before = mapped(os.getpid())
    for _ in range(2):
        index_file(state, "1.faiss").write_bytes(b"nothing of it")
        assert searched(reader) is MemoryIndex
        repair(writer)
        assert searched(reader) is FaissIndex
        assert mapped(os.getpid()) == before


def searched(reader: SiteReader) -> type[VectorIndex]:
    with reader.current() as view:
        return type(view.index)


def repair(writer: SiteWriter) -> None:
    Repair(writer.state, writer.config, EMBEDDER, time.time).heal()


def test_no_transaction_is_open_between_searches(
    state: Path, writer: SiteWriter, reader: SiteReader
) -> None:
    """Else SQLite could never write its log back."""
    writer.publish(OLD)
    told(reader)
    writer.publish(NEW)
    for name in ("corpus", "records"):
        path = state / NAME / f"{name}.sqlite"
        with closing(sqlite3.connect(path)) as conn:
            busy, _, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert (busy, path.with_name(f"{path.name}-wal").stat().st_size) == (0, 0)


def test_tidying_empties_the_log_of_a_site_with_a_reader(
    state: Path, writer: SiteWriter, reader: SiteReader
) -> None:
    log = state / NAME / "corpus.sqlite-wal"
    writer.publish(OLD)
    told(reader)
    assert log.stat().st_size > 0
    writer.tidy()
    assert log.stat().st_size == 0


def test_what_a_reader_holds_outlives_publishes_that_drop_it(
    state: Path, writer: SiteWriter, reader: SiteReader
) -> None:
    writer.publish(OLD)
    with reader.current() as view:
        for number in range(4):
            writer.publish({"a": f"Pull lever {number}.", "b": f"Ring bell {number}."})
            writer.tidy()
        assert [path.stem for path in (state / NAME / "index").iterdir()] == ["5", "5"]
        assert view.snapshot.generation == 1
        chunks = {chunk.id: chunk for chunk in view.snapshot.chunks()}
        assert {chunk.text.split("\n\n")[-1] for chunk in chunks.values()} == set(OLD.values())
        assert [page.title for page in view.snapshot.pages()] == ["a", "b"]
        vectors = dict(view.snapshot.vectors())
        assert vectors.keys() == chunks.keys()
        assert isinstance(view.index, FaissIndex)
        for number, vector in vectors.items():
            assert view.index.search(vector, 1)[0][0] == number
    assert told(reader) == {"a": "Pull lever 3.", "b": "Ring bell 3."}


def test_a_file_that_goes_between_the_rows_and_the_index(
    writer: SiteWriter, reader: SiteReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A publish and its tidying come just then: the newer generation is read, whole."""
    writer.publish(OLD)
    real = FaissIndexStore.open
    asked = []

    def late(self: FaissIndexStore, generation: int) -> VectorIndex:
        asked.append(generation)
        if generation == 1:
            writer.publish(NEW)
            writer.tidy()
        return real(self, generation)

    monkeypatch.setattr(FaissIndexStore, "open", late)
    assert told(reader) == BOTH
    assert asked == [1, 2]


def test_replaced_indexes_and_files_are_closed(state: Path) -> None:
    counts = []
    with SiteWriter(state) as first:
        reader = SiteReader(first.config, NAME)
    for _ in range(4):
        shutil.rmtree(state / NAME)
        with SiteWriter(state, generations_kept=1) as writer:
            for number in range(4):
                writer.publish({"a": f"Turn handle {number}."})
                writer.tidy()
                assert told(reader) == {"a": f"Turn handle {number}."}
            counts.append((descriptors(os.getpid()), mapped(os.getpid())))
    reader.close()
    assert counts[1:] == counts[:1] * 3
    assert mapped(os.getpid()) <= 1


def test_closing_waits_for_those_who_read(writer: SiteWriter, reader: SiteReader) -> None:
    writer.publish(OLD)
    with reader.current() as view:
        reader.close()
        assert len(list(view.snapshot.pages())) == 2
        assert view.state.pages_of(["docs.example.com/a", "nowhere"]).keys() == {
            "docs.example.com/a"
        }
    with pytest.raises(StoreError, match="closed"):
        view.state.pages()
    assert told(reader) == OLD  # opened again


def test_20_publishes_under_3_readers(state: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    crowd = publish_among_readers(state, log, 20, [8, 20], processes=1, threads=2, pause_s=0.1)
    assert_flat(crowd, 8, 20)
    assert log.read_text() == ""
