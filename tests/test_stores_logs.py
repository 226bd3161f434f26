"""SQLite's write-ahead logs stay small beside readers that stay open."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.sqlite import SqliteRecordStore
from freshcrawl.stores.sqlitefile import LOG_BYTES

if TYPE_CHECKING:
    from pathlib import Path

MUCH, LITTLE = 2 * LOG_BYTES, 1_000


def fill_records(store: SqliteRecordStore, size: int) -> None:
    store.put("page:a", {"text": "x" * size})
    store.commit()


def fill_corpus(corpus: SqliteCorpus, size: int) -> None:
    data = random.Random(size).randbytes(size)  # which cannot be compressed
    corpus.put_content({f"{size} {data[:9].hex()}": data})


@pytest.mark.parametrize(
    ("store", "fill"), [(SqliteRecordStore, fill_records), (SqliteCorpus, fill_corpus)]
)
def test_a_large_commit_does_not_stay_in_the_log(store: type, fill, tmp_path: Path) -> None:
    path = tmp_path / "some.sqlite"
    log = tmp_path / "some.sqlite-wal"
    with closing(store(path)) as writer, closing(store(path, read_only=True)) as reader:
        read = reader.get if store is SqliteRecordStore else reader.get_content
        fill(writer, MUCH)
        assert log.stat().st_size > LOG_BYTES
        for number in range(3):
            read("page:a")
            fill(writer, LITTLE + number)
        assert log.stat().st_size <= LOG_BYTES
        assert log.stat().st_size > 0


def test_many_commits_are_written_back(tmp_path: Path) -> None:
    path, log = tmp_path / "some.sqlite", tmp_path / "some.sqlite-wal"
    with (
        closing(SqliteRecordStore(path)) as writer,
        closing(SqliteRecordStore(path, read_only=True)) as reader,
    ):
        largest = 0
        for number in range(200):
            fill_records(writer, 50_000 + number)
            assert len(str(reader.get("page:a"))) > 50_000
            largest = max(largest, log.stat().st_size)
    assert 1_000_000 < largest < 2 * 1_000 * 4_096
