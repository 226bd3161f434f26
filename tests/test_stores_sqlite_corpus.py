"""What is peculiar to the corpus in SQLite: files, processes, failures, speed."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from freshcrawl.core.published import Chunk, Edit, Published
from freshcrawl.core.versions import Retention
from freshcrawl.stores import corpus_retention
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.corpus_tables import CHUNK_FIELDS, PAGE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from freshcrawl.stores.base import Snapshot

KILLED_PUBLISH = """
import os, pathlib, signal, sys
from freshcrawl.stores.corpus import SqliteCorpus
from tests.test_stores_sqlite_corpus import publish
corpus = SqliteCorpus(pathlib.Path(sys.argv[1]))
publish(corpus, "one")
publish(corpus, "two", build=lambda snapshot: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "site" / "corpus.sqlite"


def edit(text: str, key: str = "page", chunks: int = 1) -> Edit:
    base = int.from_bytes(hashlib.sha256(f"{key} {text}".encode()).digest()[:7])
    return Edit(
        Published(key, f"https://{key}", digest=text),
        [Chunk(base + n, key, n, ["Top"], "", text, f"{key} {text} {n}") for n in range(chunks)],
    )


def publish(
    corpus: SqliteCorpus, text: str, build: Callable[[Snapshot], None] = lambda snapshot: None
) -> int:
    changed = edit(text)
    corpus.put_vectors("m", {changed.chunks[0].embed_digest: np.ones(2, dtype=np.float32)})
    return corpus.publish(
        [changed], run_id="r", model="m", dimension=2, published_at=1.0, build=build
    )


def text_in(corpus: SqliteCorpus) -> str:
    with closing(corpus.snapshot()) as snapshot:
        return " ".join(chunk.text for chunk in snapshot.chunks())


def test_all_fields_are_stored() -> None:
    assert [field.name for field in fields(Published)] == list(PAGE_FIELDS)
    assert {*CHUNK_FIELDS, "embed_text"} == {field.name for field in fields(Chunk)}


def test_kill_before_the_switch_leaves_the_old_generation(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_PUBLISH, str(path)], check=False)
    assert done.returncode == -9
    with closing(SqliteCorpus(path, read_only=True)) as reader:
        assert text_in(reader) == "one"
        assert reader.missing_vectors("m", ["page two 0"]) == set()
    with closing(SqliteCorpus(path)) as corpus:
        assert publish(corpus, "two") == 2
        assert text_in(corpus) == "two"


@pytest.mark.parametrize("read_only", [False, True])
def test_newer_schema_is_refused(path: Path, read_only: bool) -> None:
    SqliteCorpus(path).close()
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE meta SET value = 9 WHERE name = 'schema'")
    with pytest.raises(StoreError, match=r"corpus\.sqlite: written in layout 9, .* update fresh"):
        SqliteCorpus(path, read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_damaged_file_is_named_and_left(path: Path, read_only: bool) -> None:
    path.parent.mkdir()
    path.write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreError, match=r"corpus\.sqlite: .*damaged"):
        SqliteCorpus(path, read_only=read_only)
    assert path.read_bytes() == b"garbage" * 1000


def test_reader_creates_nothing_and_sees_the_file_once_it_is_there(path: Path) -> None:
    with closing(SqliteCorpus(path, read_only=True)) as reader:
        assert text_in(reader) == ""
        assert reader.get_content("x") is None
        assert reader.missing_vectors("m", ["x"]) == {"x"}
        assert not path.parent.exists()
        with closing(SqliteCorpus(path)) as corpus:
            corpus.put_content({"x": b"1"})
            publish(corpus, "one")
        assert text_in(reader) == "one"
        assert reader.get_content("x") == b"1"
    assert [file.name for file in path.parent.iterdir()] == ["corpus.sqlite"]


def test_reader_does_not_write(path: Path) -> None:
    SqliteCorpus(path).close()
    with closing(SqliteCorpus(path, read_only=True)) as reader:
        with pytest.raises(StoreError, match="reading only"):
            publish(reader, "one")
        with pytest.raises(StoreError, match="reading only"):
            reader.retain(Retention(1))


def test_opening_reading_and_closing_changes_no_byte(path: Path) -> None:
    with closing(SqliteCorpus(path)) as corpus:
        publish(corpus, "one")
    before = hashlib.sha256(path.read_bytes()).digest()
    with closing(SqliteCorpus(path)) as corpus:
        assert text_in(corpus) == "one"
        assert publish(corpus, "one", build=lambda snapshot: pytest.fail("built")) == 1
        assert corpus.retain(Retention(3)) == [1]
    assert hashlib.sha256(path.read_bytes()).digest() == before


def test_reads_do_not_wait_for_a_publish_in_another_thread(path: Path) -> None:
    with closing(SqliteCorpus(path)) as corpus:
        corpus.put_content({"x": b"1"})
        publish(corpus, "one")
        inside, go_on = threading.Event(), threading.Event()

        def build(snapshot: Snapshot) -> None:
            inside.set()
            assert go_on.wait(10)

        thread = threading.Thread(target=publish, args=(corpus, "two", build))
        thread.start()
        assert inside.wait(10)
        try:
            assert text_in(corpus) == "one"
            assert corpus.get_content("x") == b"1"
            assert corpus.missing_vectors("m", ["page two 0"]) == set()
        finally:
            go_on.set()
            thread.join()
        assert text_in(corpus) == "two"


def test_write_inside_build_is_refused_and_undone(path: Path) -> None:
    with closing(SqliteCorpus(path)) as corpus:
        publish(corpus, "one")
        with pytest.raises(StoreError, match="transaction"):
            publish(corpus, "two", build=lambda snapshot: corpus.put_content({"x": b""}))
        assert text_in(corpus) == "one"
        assert publish(corpus, "two") == 2


def test_foreign_writer_ends_in_an_error(path: Path) -> None:
    with (
        closing(SqliteCorpus(path)) as corpus,
        closing(sqlite3.connect(path, isolation_level=None)) as foreign,
    ):
        publish(corpus, "one")
        assert corpus._writer is not None
        corpus._writer.execute("PRAGMA busy_timeout=100")
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process is writing"):
            publish(corpus, "two")
        foreign.execute("ROLLBACK")
        assert publish(corpus, "two") == 2


def test_closed_corpus_is_refused(path: Path) -> None:
    corpus = SqliteCorpus(path)
    corpus.close()
    corpus.close()
    with pytest.raises(StoreError, match="closed"):
        corpus.put_content({"x": b""})
    with pytest.raises(StoreError, match="closed"):
        corpus.get_content("x")


def test_stored_forms(path: Path) -> None:
    with closing(SqliteCorpus(path)) as corpus:
        corpus.put_content({"x": b"word " * 1000})
        corpus.put_vectors("m", {"d": np.array([1.0, -2.0], dtype=np.float64)})
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert conn.execute("SELECT vector FROM vectors").fetchone() == (
            bytes.fromhex("0000803f000000c0"),
        )
        assert conn.execute("SELECT length(data) < 100 FROM content").fetchone() == (1,)


def test_retention_goes_on_after_a_kill_between_its_transactions(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_retention, "BATCH", 5)
    with closing(SqliteCorpus(path)) as corpus:
        for number in range(30):
            publish(corpus, f"text {number}")
        whole, steps = corpus_retention.drop_some, []

        def cut_off(*args: Any) -> bool:
            steps.append(args)
            if len(steps) == 3:
                raise OSError("killed")
            return whole(*args)

        monkeypatch.setattr(corpus_retention, "drop_some", cut_off)
        with pytest.raises(OSError, match="killed"):
            corpus.retain(Retention(1, 9.0, versions=2))
        monkeypatch.setattr(corpus_retention, "drop_some", whole)
        assert text_in(corpus) == "text 29"
        assert corpus.retain(Retention(1, 9.0, versions=2)) == [30]
        with closing(corpus.snapshot()) as snapshot:
            assert [v.page.digest for v in snapshot.versions("page")] == ["text 29", "text 28"]
    with closing(sqlite3.connect(path)) as conn:
        for table, rows in (("chunks", 1), ("published", 2), ("vectors", 1), ("generations", 2)):
            assert conn.execute(f"SELECT count(*) FROM {table}").fetchone() == (rows,)


def test_file_of_an_earlier_release_gets_its_indexes_when_it_is_written_to(path: Path) -> None:
    with closing(SqliteCorpus(path)) as corpus:
        publish(corpus, "one")
    names = "SELECT name FROM sqlite_master WHERE name LIKE 'published%' ORDER BY name"
    with closing(sqlite3.connect(path)) as conn:
        whole = conn.execute(names).fetchall()
        for name in ("published_of_page", "published_from", "published_content"):
            conn.execute(f"DROP INDEX {name}")
        conn.commit()
    with closing(SqliteCorpus(path, read_only=True)) as reader:
        assert text_in(reader) == "one"
    with closing(SqliteCorpus(path)) as corpus:
        assert publish(corpus, "two") == 2
        assert corpus.retain(Retention(2)) == [1, 2]
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute(names).fetchall() == whole


def test_deleted_text_is_not_left_in_the_file(path: Path) -> None:
    with closing(SqliteCorpus(path)) as corpus:
        publish(corpus, "SECRET-" * 40)
        publish(corpus, "two")
        corpus.retain(Retention(1, 9.0, versions=1))
    assert b"SECRET-SECRET-" not in path.read_bytes()


def test_one_page_of_many_is_published_fast(path: Path) -> None:
    pages = [edit("text", f"page {number:04}", chunks=20) for number in range(1000)]
    digests = [chunk.embed_digest for page in pages for chunk in page.chunks]
    with closing(SqliteCorpus(path)) as corpus:
        corpus.put_vectors("m", dict.fromkeys(digests, np.ones(2, dtype=np.float32)))
        number = corpus.publish(
            pages,
            run_id="r",
            model="m",
            dimension=2,
            published_at=1.0,
            build=lambda snapshot: None,
        )
        assert number == 1
        started = time.perf_counter()
        assert publish(corpus, "one more") == 2
        assert corpus.retain(Retention(1, 2.0)) == [2]
        assert time.perf_counter() - started < 0.5
        with closing(corpus.snapshot()) as snapshot:
            assert snapshot.info()["chunks"] == 20_001
