"""Readers where nothing can be written beside the files: they stay, and let writers in."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from freshcrawl.answers import search
from freshcrawl.config import Config
from freshcrawl.reader import SiteReader
from freshcrawl.state import SiteState, open_for_reading, open_for_writing
from freshcrawl.stores import locks, sqlite_reader
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.faiss_index import FaissIndexStore
from freshcrawl.stores.locks import LockedError, SiteLock, holder
from tests.support.crowd import QueryProcess
from tests.support.embedder import HashEmbedder
from tests.support.project import REPO, environment, scrapy
from tests.support.site_writer import NAME, SiteWriter
from tests.support.small_disk import SmallDisk, read_only_view

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.stores.base import VectorIndex

OLD = {"a": "Turn the handle.", "b": "Wait for the bell."}
NEW = {"a": "Pull the lever.", "c": "Leave by the gate."}
BOTH = OLD | NEW
EMBEDDER = HashEmbedder()
PATIENT_S = 30.0
A_READER = "in use by a reader that cannot write beside the files; try again"

KILLED_WRITER = """
import os, pathlib, signal, sys
from tests.support.site_writer import SiteWriter
SiteWriter(pathlib.Path(sys.argv[1])).publish({"a": "Turn the handle."})
os.kill(os.getpid(), signal.SIGKILL)
"""
STAYING_READER = """
import pathlib, sys
from tests.test_reader_without_room import reader_of, told
reader = reader_of(pathlib.Path(sys.argv[1]))
for line in sys.stdin:
    print(len(told(reader)), flush=True)
"""
IMPATIENT_READER = """
import pathlib, sys
from freshcrawl.stores import sqlitefile
from freshcrawl.stores.base import StoreError
from tests.test_reader_without_room import state_of
sqlitefile._OPTIONS["timeout"] = 0.1
try:
    state_of(pathlib.Path(sys.argv[1]))
except StoreError as error:
    print(error)
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with SmallDisk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def state(disk: SmallDisk) -> Path:
    """Return the state folder of a site that is published, on a disk that has room."""
    state = disk.folder / "state"
    with SiteWriter(state) as writer:
        writer.publish(OLD)
    return state


@pytest.fixture
def killed(disk: SmallDisk) -> Path:
    """Return a state folder whose writer was killed, and whose -shm files are gone."""
    state = disk.folder / "killed"
    run = [sys.executable, "-c", KILLED_WRITER, str(state)]
    assert subprocess.run(run, cwd=REPO, env=environment(), check=False).returncode == -9
    for path in (state / NAME).glob("*-shm"):
        path.unlink()
    assert (state / NAME / "corpus.sqlite-wal").stat().st_size
    disk.fill()
    return state


def config_of(state: Path) -> Config:
    return Config(state_dir=str(state))


def reader_of(state: Path) -> SiteReader:
    return SiteReader(config_of(state), NAME)


def state_of(state: Path) -> SiteState:
    return open_for_reading(config_of(state), NAME)


def write(state: Path) -> SiteState:
    return open_for_writing(config_of(state), NAME, "test", 0.0)


def told(reader: SiteReader) -> dict[str, str]:
    """Return all texts by the name of their page."""
    hits = search([reader], EMBEDDER, "handle", 100, now=0.0, max_ages={NAME: 1.0})
    return {hit.title: hit.text.split("\n\n")[-1] for hit in hits}


def test_reader_on_a_disk_that_was_full_keeps_no_writer_out(disk: SmallDisk, state: Path) -> None:
    disk.fill()
    with closing(reader_of(state)) as reader:
        assert told(reader) == OLD
        assert reader.has_answers()
        disk.make_room()
        with SiteWriter(state) as writer:
            assert told(reader) == OLD
            writer.publish(NEW)
            assert told(reader) == BOTH


def test_reader_on_a_read_only_mount_keeps_no_writer_out(state: Path, tmp_path: Path) -> None:
    with (
        read_only_view(state, tmp_path / "view"),
        closing(reader_of(tmp_path / "view")) as reader,
    ):
        assert told(reader) == OLD
        assert reader.has_answers()
        for texts, all_texts in ((NEW, BOTH), (OLD, BOTH | OLD)):
            with SiteWriter(state) as writer:
                writer.publish(texts)
                assert told(reader) == all_texts
            assert told(reader) == all_texts


@pytest.mark.nightly
def test_query_that_stays_open_on_a_read_only_mount(state: Path, tmp_path: Path) -> None:
    view = tmp_path / "view"
    with read_only_view(state, view), QueryProcess(view, tmp_path / "log") as asker:
        assert len(asker.ask("handle")) == 2
        done = scrapy("compact", state=state)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(asker.ask("handle")) == 2
        assert (asker.end(), asker.stderr) == (0, "")


def test_index_is_opened_once_all_the_same(
    disk: SmallDisk, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    real = FaissIndexStore.open

    def counted(self: FaissIndexStore, generation: int) -> VectorIndex:
        opened.append(generation)
        return real(self, generation)

    monkeypatch.setattr(FaissIndexStore, "open", counted)
    disk.fill()
    with closing(reader_of(state)) as reader:
        for _ in range(3):
            assert told(reader) == OLD
            with reader.state() as found:
                assert found.keeps_writers_out
    assert opened == [1]


@pytest.mark.parametrize("left", ["", json.dumps({"command": "crawl", "pid": 1})])
def test_refused_writer_is_told_of_the_reader(disk: SmallDisk, state: Path, left: str) -> None:
    """Not of one that was killed, whose name is still in the file."""
    (state / NAME / ".lock").write_text(left)
    disk.fill()
    with closing(reader_of(state)) as reader, reader.current():
        disk.make_room()
        with pytest.raises(LockedError, match=A_READER):
            write(state)
        assert holder(state / NAME) == ""  # nobody writes
    write(state).close()


def test_writer_waits_for_a_question_to_be_answered(
    disk: SmallDisk, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.fill()
    answering, reader = threading.Event(), reader_of(state)

    def answer() -> None:
        with reader.current():
            answering.set()
            time.sleep(0.1)

    thread = threading.Thread(target=answer)
    thread.start()
    assert answering.wait(10)
    disk.make_room()
    monkeypatch.setattr(locks, "WAIT_SECS", PATIENT_S)
    write(state).close()
    thread.join()
    reader.close()


def test_reader_waits_for_a_writer_that_begins(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the lock, and what it shares is not there yet."""
    monkeypatch.setattr(sqlite_reader, "WRITER_SECS", PATIENT_S)
    lock = SiteLock(state / NAME).acquire("test", 0.0)
    ends = threading.Timer(0.2, lock.release)
    with read_only_view(state, tmp_path / "view"), closing(reader_of(tmp_path / "view")) as reader:
        ends.start()
        assert told(reader) == OLD
    ends.join()
    monkeypatch.setattr(sqlite_reader, "WRITER_SECS", 0.1)
    with (
        SiteLock(state / NAME).acquire("test", 0.0),
        read_only_view(state, tmp_path / "again"),
        pytest.raises(StoreError, match="mounted for reading only"),
    ):
        state_of(tmp_path / "again")


# -- changes in -wal that are read with the knowledge of them in memory ------------------------


@contextmanager
def staying(state: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a reader that stays open in another process."""
    with subprocess.Popen(
        [sys.executable, "-c", STAYING_READER, str(state)],
        cwd=REPO,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def asked(process: subprocess.Popen[str]) -> str:
    assert process.stdin
    assert process.stdout
    print("question", file=process.stdin, flush=True)
    return process.stdout.readline()


def test_readers_of_two_processes_take_turns(disk: SmallDisk, killed: Path) -> None:
    with staying(killed) as other, closing(reader_of(killed)) as reader:
        for _ in range(3):
            assert asked(other) == "1\n"
            disk.fill()
            assert told(reader) == {"a": "Turn the handle."}
            disk.fill()
        disk.make_room()
        write(killed).close()
        assert asked(other) == "1\n"


def test_reader_that_has_a_file_for_itself_is_told_to_others(killed: Path) -> None:
    with closing(reader_of(killed)) as reader, reader.current():
        done = subprocess.run(
            [sys.executable, "-c", IMPATIENT_READER, str(killed)],
            cwd=REPO, env=environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "records.sqlite: database is locked; another reader" in done.stdout, done.stderr
        assert done.stdout.count("\n") == 1
        with pytest.raises(LockedError, match=A_READER):
            write(killed)


def test_readers_of_one_process_share_what_is_in_memory(disk: SmallDisk, killed: Path) -> None:
    """Each keeps writers out, and leaves the file to others when all are closed."""
    with closing(state_of(killed)) as second:
        with closing(state_of(killed)):
            pass
        assert second.keeps_writers_out
    with closing(state_of(killed)) as first:
        second = state_of(killed)
        assert first.keeps_writers_out
    assert second.keeps_writers_out
    disk.make_room()
    with pytest.raises(LockedError, match=A_READER):
        write(killed)
    second.close()
    write(killed).close()


# -- folders without a lock file ---------------------------------------------------------------


def test_lock_file_that_is_missing_is_made_on_a_full_disk(disk: SmallDisk, state: Path) -> None:
    lock = state / NAME / ".lock"
    lock.unlink()
    disk.fill()
    with closing(reader_of(state)) as reader, reader.current():
        assert lock.read_bytes() == b""
        disk.make_room()
        with pytest.raises(LockedError, match=A_READER):
            write(state)
    write(state).close()


def test_folder_without_lock_file_is_read_on_a_read_only_mount(state: Path, tmp_path: Path) -> None:
    (state / NAME / ".lock").unlink()
    with read_only_view(state, tmp_path / "view"), closing(reader_of(tmp_path / "view")) as reader:
        assert told(reader) == OLD
        with SiteWriter(state) as writer:
            writer.publish(NEW)
        assert told(reader) == BOTH
