"""sqlitedict's traps: errors that come late or never, endless waits, commits behind failures."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.core.pages import Status
from freshcrawl.core.published import Chunk, Edit, Published
from freshcrawl.stores import bounded_sqlitedict, guarded_sqlitedict
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.sqlite import SqliteRecordStore
from tests.support.open_files import open_below
from tests.support.project import REPO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from freshcrawl.stores.bounded_sqlitedict import BoundedSqliteDict

BUSY = "another process is writing"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "site" / "records.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteRecordStore]:
    with closing(SqliteRecordStore(path)) as opened:
        opened.put("page:old", {"n": 1})
        opened.commit()
        yield opened


def writer(store: SqliteRecordStore) -> BoundedSqliteDict:
    assert store._writer is not None
    return store._writer


def rows(path: Path) -> dict[str, dict[str, Any]]:
    with closing(SqliteRecordStore(path, read_only=True)) as reader:
        return dict(reader.items("page:"))


CALLS: dict[str, Callable[[SqliteRecordStore], object]] = {
    "get": lambda store: store.get("page:old"),
    "items": lambda store: list(store.items("page:")),
    "put": lambda store: store.put("page:new", {}),
    "delete": lambda store: store.delete("page:old"),
    "commit": lambda store: store.commit(),
}


def held_up(store: SqliteRecordStore, milliseconds: int) -> None:
    """Set how long a write waits for a lock."""
    writer(store).select(f"PRAGMA busy_timeout={milliseconds}")


@pytest.fixture
def held(path: Path, store: SqliteRecordStore) -> Iterator[sqlite3.Connection]:
    """Another connection that holds the file's write lock."""
    with closing(sqlite3.connect(path, isolation_level=None)) as foreign:
        foreign.execute("BEGIN EXCLUSIVE")
        yield foreign


@pytest.mark.parametrize("call", CALLS)
def test_failed_write_surfaces_at_the_next_call_and_stays(
    call: str, store: SqliteRecordStore, held: sqlite3.Connection, path: Path
) -> None:
    held_up(store, 50)
    store.put("page:lost", {"n": 2})
    time.sleep(0.5)
    for _ in range(2):
        with pytest.raises(StoreError, match=BUSY):
            CALLS[call](store)
    held.execute("ROLLBACK")
    with pytest.raises(StoreError, match=BUSY):
        store.commit()
    assert rows(path) == {"page:old": {"n": 1}}


def test_many_writes_behind_a_lock_wait_for_it_once(
    store: SqliteRecordStore, held: sqlite3.Connection, path: Path
) -> None:
    """Each on its own would be a wait of its own: 200 times as long."""
    held_up(store, 300)
    for number in range(200):
        store.put(f"page:{number}", {})
    with pytest.raises(StoreError, match=BUSY):
        store.commit()
    store.close()
    held.execute("ROLLBACK")
    assert rows(path) == {"page:old": {"n": 1}}


def test_commit_that_waits_for_a_lock_succeeds_when_it_is_free(
    store: SqliteRecordStore, held: sqlite3.Connection, path: Path
) -> None:
    store.put("page:new", {"n": 2})
    timer = threading.Timer(0.5, held.interrupt)
    timer.start()
    timer.join()
    held.execute("ROLLBACK")
    store.commit()
    assert rows(path) == {"page:old": {"n": 1}, "page:new": {"n": 2}}


def test_stuck_thread_is_an_error_after_a_bound(
    store: SqliteRecordStore, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    """As with a disk that hangs: the thread is alive and does nothing."""
    monkeypatch.setattr(guarded_sqlitedict, "POLL_SECS", 0.05)
    monkeypatch.setattr(guarded_sqlitedict, "STUCK_SECS", 0.3)
    monkeypatch.setattr(bounded_sqlitedict, "CLOSE_SECS", 0.2)
    hangs, goes_on = threading.Event(), threading.Event()

    def hang() -> int:
        hangs.set()
        goes_on.wait(20)
        return 1

    guard = writer(store)._dict.conn._guard
    guard._conn.create_function("hang", 0, hang)
    store.put("page:new", {"n": 2})
    writer(store)._dict.conn.execute("SELECT hang()")
    assert hangs.wait(5)
    with pytest.raises(StoreError, match=r"no answer for 0\.3 s"):
        store.commit()
    store.close()  # does not wait for it either
    goes_on.set()
    assert rows(path) == {"page:old": {"n": 1}}


def test_slow_statements_are_not_taken_for_a_hang(
    store: SqliteRecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue that takes longer than the bound, but of which each statement is done in time."""
    monkeypatch.setattr(guarded_sqlitedict, "POLL_SECS", 0.05)
    monkeypatch.setattr(guarded_sqlitedict, "STUCK_SECS", 1.0)
    thread = writer(store)._dict.conn
    thread._guard._conn.create_function("nap", 0, lambda: time.sleep(0.2))
    for _ in range(10):
        thread.execute("SELECT nap()")
    assert store.get("page:old") == {"n": 1}


def test_close_drops_what_is_queued(store: SqliteRecordStore, path: Path) -> None:
    thread = writer(store)._dict.conn
    started = threading.Event()

    def nap() -> None:
        started.set()
        time.sleep(0.2)

    thread._guard._conn.create_function("nap", 0, nap)
    for _ in range(500):
        thread.execute("SELECT nap()")
    store.put("page:new", {"n": 2})
    assert started.wait(5)
    store.close()
    assert not thread.is_alive()
    assert rows(path) == {"page:old": {"n": 1}}


def test_commit_of_sqlitedict_itself_does_not_commit_behind_a_failure(
    store: SqliteRecordStore, path: Path
) -> None:
    inner = writer(store)._dict
    inner.conn.execute("REPLACE INTO records VALUES ('page:new', '{}')")
    inner.conn.execute("INSERT INTO nowhere VALUES (1)")
    inner.conn.reqs.put((guarded_commit(), (), None, None))
    with pytest.raises(StoreError, match="nowhere"):
        store.get("page:old")
    store.close()
    assert rows(path) == {"page:old": {"n": 1}}


def guarded_commit() -> str:
    from sqlitedict import _REQUEST_COMMIT

    return str(_REQUEST_COMMIT)


@pytest.mark.parametrize("error", [MemoryError(), OverflowError("too large"), sqlite3.Error("x")])
def test_any_error_of_the_thread_is_final(
    error: Exception, store: SqliteRecordStore, path: Path
) -> None:
    """Not only SQLite's own: sqlitedict raises each once, then goes on as if nothing was."""
    guard = writer(store)._dict.conn._guard

    class Failing:
        def execute(self, sql: str, args: object) -> None:
            raise error

    usual, guard._cursor = guard._cursor, Failing()
    writer(store)._dict.conn.execute("REPLACE INTO records VALUES ('page:lost', '{}')")
    with pytest.raises(StoreError, match=r"records\.sqlite: "):
        store.get("page:old")
    guard._cursor = usual
    for call in CALLS.values():
        with pytest.raises(StoreError, match=r"records\.sqlite: "):
            call(store)
    store.close()
    assert rows(path) == {"page:old": {"n": 1}}


@pytest.mark.parametrize(
    "value",
    [{"a": b"x"}, {"a": {1, 2}}, {"a": object()}, {(1, 2): 1}],
    ids=["bytes", "set", "object", "key"],
)
def test_value_that_is_no_json_is_refused_at_the_put(
    value: dict[Any, Any], store: SqliteRecordStore, path: Path
) -> None:
    with pytest.raises(TypeError):
        store.put("page:bad", value)
    store.put("page:good", {"n": 2})
    store.commit()
    assert rows(path) == {"page:old": {"n": 1}, "page:good": {"n": 2}}


@pytest.mark.parametrize(
    "name",
    [
        "page:",
        "page:'\"`;--",
        "page:\0x",
        "page:ü\U0001f600",
        "page:" + "x" * 100_000,
        "page:--close--",
    ],
    ids=range(6),
)
def test_odd_names(name: str, store: SqliteRecordStore, path: Path) -> None:
    store.put(name, {"n": 2})
    assert store.get(name) == {"n": 2}
    store.commit()
    assert rows(path)[name] == {"n": 2}
    store.delete(name)
    store.commit()
    assert name not in rows(path)


def test_name_that_is_no_text_is_refused_at_once(store: SqliteRecordStore, path: Path) -> None:
    for call in (store.put, lambda name, _: store.delete(name), lambda name, _: store.get(name)):
        with pytest.raises(StoreError, match="is no Unicode text"):
            call("page:\ud800", {})
    store.put("page:good", {"n": 2})
    store.commit()
    assert set(rows(path)) == {"page:old", "page:good"}


def test_large_value(store: SqliteRecordStore, path: Path) -> None:
    value = {"text": "ü" * 2_000_000, "other": "x" * 5_000_000}
    store.put("page:large", value)
    store.commit()
    assert store.get("page:large") == value == rows(path)["page:large"]


@pytest.mark.parametrize("folder", ["a?mode=ro", "a#b", "%41 b", "ü 'q' \"q\""])
def test_odd_paths(folder: str, tmp_path: Path) -> None:
    path = tmp_path / folder / "records.sqlite"
    with closing(SqliteRecordStore(path)) as store:
        store.put("page:a", {"n": 1})
        store.commit()
    assert rows(path) == {"page:a": {"n": 1}}
    assert [found.name for found in path.parent.iterdir()] == ["records.sqlite"]


def test_two_writers_of_one_file(store: SqliteRecordStore, path: Path) -> None:
    """The site's lock keeps them apart; without it, one of them fails and loses nothing of ours."""
    with closing(SqliteRecordStore(path)) as other:
        held_up(other, 100)
        store.put("page:ours", {"n": 2})
        assert store.get("page:ours")
        other.put("page:theirs", {"n": 3})
        with pytest.raises(StoreError, match=BUSY):
            other.commit()
        store.commit()
    assert rows(path) == {"page:old": {"n": 1}, "page:ours": {"n": 2}}


def in_child(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run code that has a store of ``path`` open as ``store``."""
    head = (
        "import os, pathlib, sys, threading\n"
        "from freshcrawl.stores.sqlite import SqliteRecordStore\n"
        "from freshcrawl.stores.base import StoreError\n"
        "store = SqliteRecordStore(pathlib.Path(sys.argv[1]))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(code), str(path)],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


ENDS = {
    "open": "store.put('page:new', {})",
    "failed": "store._writer._dict.conn.execute('INSERT INTO nowhere VALUES (1)')",
    "dead": "store._writer._dict.conn.reqs.put(None)",
    "busy": """
        conn = store._writer._dict.conn
        conn._guard._conn.create_function('hang', 0, lambda: threading.Event().wait(50))
        conn.execute('SELECT hang()')
    """,
    "in a global": "keep = store\nimport atexit\natexit.register(lambda: keep.put('page:new', {}))",
}


@pytest.mark.parametrize("end", ENDS)
def test_process_ends_with_an_open_store(end: str, path: Path) -> None:
    done = in_child(ENDS[end], path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert rows(path) == {}


def test_forked_process_does_not_use_the_store_of_its_parent(path: Path) -> None:
    """There is no thread in it to do the work, and the queue may be locked for ever."""
    done = in_child(
        """
        store.put('page:a', {})
        store._writer._dict.conn.reqs.mutex.acquire()  # as another thread may have it
        child = os.fork()
        if not child:
            try:
                store.get('page:a')
            except StoreError as error:
                print(error, flush=True)
            store.close()
            del store
            sys.exit(7)
        store._writer._dict.conn.reqs.mutex.release()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        store.commit()
        store.close()
        """,
        path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "was opened before this process was forked" in done.stdout
    assert rows(path) == {"page:a": {}}


STORES: dict[str, Callable[..., Any]] = {
    "records": SqliteRecordStore,
    "corpus": SqliteCorpus,
}


def use(store: Any) -> None:
    """Write to a store of either kind and read all of it."""
    if isinstance(store, SqliteCorpus):
        store.put_content({f"d{number}": os.urandom(400) for number in range(40)})
        for number in range(40):
            store.get_content(f"d{number}")
    else:
        for number in range(40):
            store.put(f"page:{number}", {"n": "x" * 400})
        store.commit()
        assert list(store.items("page:"))


def open_and_use(kind: str, path: Path, *, read_only: bool) -> None:
    with closing(STORES[kind](path, read_only=read_only)) as store:
        if not read_only:
            use(store)
        elif kind == "records":
            list(store.items(""))
        else:
            store.missing_vectors("m", ["d"])
            store.get_content("d1")


def header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\xff" * 100)


def page_bytes(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("CREATE TABLE cookies (host, value)")


DAMAGES = {
    "header": (header, "damaged"),
    "page": (page_bytes, "damaged"),
    "truncated": (truncated, "damaged"),
    "folder": (folder, "a folder is in its place"),
    "foreign": (foreign, "not a file of freshcrawl"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("read_only", [False, True])
def test_damaged_file_is_told_in_one_line_and_left(
    kind: str, damage: str, read_only: bool, tmp_path: Path
) -> None:
    path = tmp_path / f"{kind}.sqlite"
    with closing(STORES[kind](path)) as store:
        use(store)
    do, words = DAMAGES[damage]
    do(path)
    before = path.is_dir() or path.read_bytes()
    with pytest.raises(StoreError, match=words) as told:
        open_and_use(kind, path, read_only=read_only)
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)
    assert (path.is_dir() or path.read_bytes()) == before


def test_damage_that_a_snapshot_meets_names_the_file(tmp_path: Path) -> None:
    """Also while its rows are read, long after it was opened."""
    path = tmp_path / "corpus.sqlite"
    chunk = Chunk(0, "a", 0, [], "", "text" * 500, "d", "")
    chunks = [replace(chunk, id=number, ordinal=number) for number in range(1, 200)]
    with closing(SqliteCorpus(path)) as corpus:
        corpus.put_vectors("m", {"d": [1.0]})
        corpus.publish(
            [Edit(Published("a", "http://a.test/", Status.LIVE, "d"), chunks)],
            run_id="r", model="m", dimension=1, published_at=1.0, build=lambda snapshot: None,
        )  # fmt: skip
        size = path.with_name("corpus.sqlite-wal").stat().st_size
    assert size
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * (path.stat().st_size // 4))
    with closing(SqliteCorpus(path, read_only=True)) as corpus:
        snapshot = corpus.snapshot()
        with pytest.raises(StoreError, match=r"corpus\.sqlite: .*damaged"):
            list(snapshot.chunks())
        snapshot.close()


@pytest.mark.parametrize("kind", STORES)
def test_store_that_cannot_be_opened_leaves_no_descriptor(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"{kind}.sqlite"
    with closing(STORES[kind](path)) as store:
        use(store)
    page_bytes(path)
    for read_only in (True, False):
        with pytest.raises(StoreError, match="damaged") as told:
            open_and_use(kind, path, read_only=read_only)
        # While the error is still there, which keeps all that it passed from being freed.
        assert told.value.__traceback__ is not None
        assert open_below(str(tmp_path)) == []


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("how", ["taken away", "replaced"])
def test_file_that_goes_while_it_is_written_to(kind: str, how: str, tmp_path: Path) -> None:
    """SQLite goes on with the old one, to which no name leads: all would be lost."""
    path = tmp_path / f"{kind}.sqlite"
    with closing(STORES[kind](path)) as store:
        use(store)
        if how == "replaced":
            shutil.copyfile(path, tmp_path / "copy")
            (tmp_path / "copy").replace(path)
        else:
            path.unlink()
        with pytest.raises(StoreError, match="was taken away or replaced"):
            use(store)


@pytest.mark.parametrize("kind", STORES)
def test_wal_of_another_database(kind: str, tmp_path: Path) -> None:
    path, other = tmp_path / f"{kind}.sqlite", tmp_path / "other.sqlite"
    with closing(STORES[kind](path)) as store:
        use(store)
    conn = sqlite3.connect(other, isolation_level=None)
    conn.execute("PRAGMA journal_mode=WAL")
    conn.execute("CREATE TABLE cookies (host, value)")
    shutil.copyfile(tmp_path / "other.sqlite-wal", tmp_path / f"{kind}.sqlite-wal")
    conn.close()
    with pytest.raises(StoreError, match=r"not a file of freshcrawl|damaged") as told:
        STORES[kind](path)
    assert "\n" not in str(told.value)


def test_error_line_is_all_that_is_said(path: Path) -> None:
    """No traceback of the thread on stderr."""
    with closing(SqliteRecordStore(path)) as store:
        for number in range(2_000):
            store.put(f"page:{number:04}", {"n": number})
        store.commit()
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * (path.stat().st_size // 2))
    done = in_child(
        "try:\n    list(store.items(''))\nexcept StoreError as error:\n    print(error)", path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "damaged" in done.stdout
