"""What is peculiar to records in SQLite: files, processes, failures."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.sqlite import SqliteRecordStore

if TYPE_CHECKING:
    from pathlib import Path

KILLED_WRITER = """
import os, pathlib, signal, sys
from freshcrawl.stores.sqlite import SqliteRecordStore
store = SqliteRecordStore(pathlib.Path(sys.argv[1]))
for number in range(100):
    store.put(f"page:{number}", {"n": number})
store.commit()
for number in range(50, 5000):
    store.put(f"page:{number}", {"n": -1})
store.delete("page:0")
assert store.get("page:4999")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "site" / "records.sqlite"


def write(path: Path, **records: int) -> None:
    with closing(SqliteRecordStore(path)) as store:
        for name, number in records.items():
            store.put(name, {"n": number})
        store.commit()


def read(path: Path) -> dict[str, int]:
    with closing(SqliteRecordStore(path, read_only=True)) as store:
        return {name: value["n"] for name, value in store.items("p")}


def test_kill_in_a_transaction_leaves_the_last_commit(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_WRITER, str(path)], check=False)
    assert done.returncode == -9
    expected = {f"page:{number}": number for number in range(100)}
    assert read(path) == expected
    write(path, more=1)
    assert read(path) == expected


def test_stored_as_json_in_one_table(path: Path) -> None:
    write(path, a=1)
    with closing(sqlite3.connect(path)) as conn:
        tables = conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = dict(conn.execute("SELECT key, value FROM records"))
        mode = conn.execute("PRAGMA journal_mode").fetchone()
    assert tables == [("records",)]
    assert {name: json.loads(value) for name, value in rows.items()} == {
        "a": {"n": 1},
        "meta:schema": {"version": 1},
    }
    assert mode == ("wal",)


def test_commits_are_synced_to_disk(path: Path) -> None:
    with closing(SqliteRecordStore(path)) as store:
        assert store._writer is not None
        assert store._writer.select("PRAGMA synchronous") == [(2,)]


@pytest.mark.parametrize("read_only", [False, True])
def test_newer_schema_is_refused(path: Path, read_only: bool) -> None:
    write(path)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE records SET value = ?", ('{"version": 7}',))
    before = path.read_bytes()
    with pytest.raises(StoreError) as refused:
        SqliteRecordStore(path, read_only=read_only)
    assert str(refused.value) == (
        f"{path}: written in layout 7, this version understands up to 1; update freshcrawl"
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("damage", [b"not a database, but long enough" * 40, b"SQLite format 3\0"])
def test_damaged_file_is_named_and_left(path: Path, read_only: bool, damage: bytes) -> None:
    write(path, a=1)
    path.write_bytes(damage)
    with pytest.raises(StoreError, match=r"records\.sqlite: .*damaged") as refused:
        SqliteRecordStore(path, read_only=read_only)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == damage


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("read_only", "message"), [(True, "malformed.*damaged"), (False, "damaged|check the file")]
)
def test_damage_that_is_met_while_reading(path: Path, read_only: bool, message: str) -> None:
    write(path, **{f"page{number:05}": number for number in range(5000)})
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    path.write_bytes(content)
    with closing(SqliteRecordStore(path, read_only=read_only)) as store:
        with pytest.raises(StoreError, match=message) as error:
            list(store.items("page"))
        assert str(path) in str(error.value)


def test_file_of_another_program_is_refused(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("CREATE TABLE cookies (a)")
    with pytest.raises(StoreError, match="not a file of freshcrawl"):
        SqliteRecordStore(path)


def test_creation_that_was_cut_short_is_done_again(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert read(path) == {}
    write(path, page=1)
    assert read(path) == {"page": 1}


def test_reader_creates_nothing_and_sees_the_file_once_it_is_there(path: Path) -> None:
    with closing(SqliteRecordStore(path, read_only=True)) as reader:
        assert reader.get("page") is None
        assert list(reader.items("")) == []
        assert not path.parent.exists()
        write(path, page=1)
        assert reader.get("page") == {"n": 1}
    assert [file.name for file in path.parent.iterdir()] == ["records.sqlite"]


@pytest.mark.parametrize("call", ["put", "delete", "commit"])
def test_reader_does_not_write(path: Path, call: str) -> None:
    write(path)
    with (
        closing(SqliteRecordStore(path, read_only=True)) as reader,
        pytest.raises(StoreError, match="reading only"),
    ):
        getattr(reader, call)(*{"put": ("a", {}), "delete": ("a",), "commit": ()}[call])


def test_reader_beside_a_writer(path: Path) -> None:
    write(path, page=1)
    with (
        closing(SqliteRecordStore(path)) as writer,
        closing(SqliteRecordStore(path, read_only=True)) as reader,
    ):
        writer.put("page", {"n": 2})
        assert writer.get("page") == {"n": 2}
        started = time.monotonic()
        assert reader.get("page") == {"n": 1}
        rows = reader.items("p")
        assert next(rows) == ("page", {"n": 1})
        writer.commit()
        assert list(rows) == []
        assert time.monotonic() - started < 1
        assert reader.get("page") == {"n": 2}


def test_opening_and_closing_changes_no_byte(path: Path) -> None:
    write(path, page=1)
    before = hashlib.sha256(path.read_bytes()).digest()
    write(path)
    read(path)
    assert hashlib.sha256(path.read_bytes()).digest() == before


def test_foreign_writer_ends_in_an_error_and_no_partial_commit(
    path: Path,
) -> None:
    write(path, page=1)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as foreign,
        closing(SqliteRecordStore(path)) as store,
    ):
        assert store._writer is not None
        store._writer.select("PRAGMA busy_timeout=200")
        foreign.execute("BEGIN IMMEDIATE")
        store.put("page", {"n": 2})
        time.sleep(0.5)  # the queued write gives up waiting
        foreign.execute("ROLLBACK")
        with pytest.raises(StoreError, match="another process is writing"):
            store.put("page2", {"n": 2})
        with pytest.raises(StoreError, match="another process is writing"):
            store.commit()
    assert read(path) == {"page": 1}


def test_write_that_fails_before_the_commit_takes_the_others_with_it(path: Path) -> None:
    write(path, page=1)
    with closing(SqliteRecordStore(path)) as store:
        assert store._writer is not None
        store._writer._dict.conn.execute("INSERT INTO records VALUES ('page', 'x')")
        store._writer.put("page2", {"n": 2})
        with pytest.raises(StoreError, match="UNIQUE"):
            store.commit()
        with pytest.raises(StoreError, match="UNIQUE"):
            store.get("page")
    assert read(path) == {"page": 1}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("call", ["commit", "items", "get"])
def test_dead_writer_thread_is_an_error_not_a_wait(path: Path, call: str) -> None:
    store = SqliteRecordStore(path)
    store.put("page", {"n": 1})
    assert store._writer is not None
    thread = store._writer._dict.conn
    thread.reqs.put(None)  # what it cannot unpack ends it
    thread.join(5)
    with pytest.raises(StoreError, match="thread died"):
        {
            "commit": store.commit,
            "items": lambda: list(store.items("p")),
            "get": lambda: store.get("p"),
        }[call]()
    store.close()


@pytest.mark.parametrize("text", ["{", "[]", "null", ""])
def test_row_that_is_no_object_is_named(path: Path, text: str) -> None:
    with closing(SqliteRecordStore(path)) as store:
        store.put("page:a", {"key": "a"})
        store.commit()
    with closing(sqlite3.connect(path)) as conn, conn:
        [table] = [
            name
            for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith("sqlite_")
        ]
        conn.execute(f"UPDATE {table} SET value = ? WHERE key = 'page:a'", (text,))
    for read_only in (True, False):
        with closing(SqliteRecordStore(path, read_only=read_only)) as store:
            with pytest.raises(StoreError, match="the row 'page:a' is no JSON object"):
                store.get("page:a")
            with pytest.raises(StoreError, match="the row 'page:a' is no JSON object"):
                list(store.items("page:"))
