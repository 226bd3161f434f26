"""One writer per site, whatever becomes of its process."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores import locks
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import LockedError, SiteLock
from freshcrawl.stores.locks import holder as told_holder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SINCE = 1_700_000_000.0
PATIENT_S = 30.0
"""Where a lock must be had in the end, on a machine that is busy, too."""

HOLDER = """
import pathlib, sys, time
from freshcrawl.stores.locks import SiteLock
lock = SiteLock(pathlib.Path(sys.argv[1])).acquire("crawl docs", 1_700_000_000.0)
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that holds the lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


def test_second_is_refused_with_the_holder_named(tmp_path: Path) -> None:
    with holder(tmp_path) as process, pytest.raises(LockedError) as refused:
        SiteLock(tmp_path).acquire("status", SINCE)
    message = str(refused.value)
    for part in (str(tmp_path), "crawl docs", str(process.pid), "2023-11-14T22:13:20+00:00"):
        assert part in message
    assert "\n" not in message
    assert isinstance(refused.value, StoreError)


def test_released_when_the_holder_is_killed(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait(10)
        SiteLock(tmp_path).acquire("crawl", SINCE).release()


def test_kept_while_the_holder_is_stopped(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        with pytest.raises(LockedError, match="crawl docs"):
            SiteLock(tmp_path).acquire("crawl", SINCE)


def test_released_at_the_end_of_the_block(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "site"
    with SiteLock(folder).acquire("crawl", SINCE) as lock:
        told = json.loads((folder / ".lock").read_bytes())
        assert (told["command"], told["pid"]) == ("crawl", os.getpid())
        with pytest.raises(LockedError):
            lock.acquire("crawl", SINCE)
        with pytest.raises(LockedError):
            SiteLock(folder).acquire("embed", SINCE)
    with SiteLock(folder).acquire("embed", SINCE):
        assert json.loads((folder / ".lock").read_bytes())["command"] == "embed"
    assert (folder / ".lock").read_bytes() == b""
    lock.release()


def test_sites_are_apart(tmp_path: Path) -> None:
    with (
        SiteLock(tmp_path / "a").acquire("crawl", SINCE),
        SiteLock(tmp_path / "b").acquire("crawl", SINCE),
        pytest.raises(LockedError),
    ):
        SiteLock(tmp_path / "a").acquire("crawl", SINCE)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff\xfe"])
def test_what_the_file_says_does_not_matter(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".lock").write_bytes(content)
    with SiteLock(tmp_path).acquire("crawl", SINCE):
        (tmp_path / ".lock").write_bytes(content)
        with pytest.raises(LockedError, match="in use by another process"):
            SiteLock(tmp_path).acquire("crawl", SINCE)


def test_started_programs_do_not_hold_it_on(tmp_path: Path) -> None:
    lock = SiteLock(tmp_path).acquire("crawl", SINCE)
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        lock._fd, fd = None, lock._fd
        assert fd is not None
        os.close(fd)  # as when the process ends, without a release
        SiteLock(tmp_path).acquire("crawl", SINCE).release()
        child.kill()


def test_forked_children_do_not_hold_it_on(tmp_path: Path) -> None:
    lock = SiteLock(tmp_path).acquire("crawl", SINCE)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            lock.release()  # it is the parent's: nothing happens
            os.read(reading, 1)
        finally:
            os._exit(0)
    try:
        with pytest.raises(LockedError):
            SiteLock(tmp_path).acquire("crawl", SINCE)
        assert "`crawl`" in told_holder(tmp_path)
        assert lock._fd is not None
        os.close(lock._fd)  # as when the process ends, without a release
        lock._fd = None
        SiteLock(tmp_path).acquire("crawl", SINCE).release()
    finally:
        os.write(writing, b"!")
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


def test_worker_processes_do_not_hold_it_on(tmp_path: Path) -> None:
    lock = SiteLock(tmp_path).acquire("crawl", SINCE)
    workers = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    workers.start()
    try:
        fd, lock._fd = lock._fd, None
        assert fd is not None
        os.close(fd)
        SiteLock(tmp_path).acquire("crawl", SINCE).release()
    finally:
        workers.kill()
        workers.join()


def test_lock_of_a_folder_that_is_made_anew_is_another(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    with SiteLock(folder).acquire("crawl", SINCE) as robbed:
        robbed.check()
        shutil.rmtree(folder)
        with pytest.raises(StoreError, match="was deleted or replaced") as told:
            robbed.check()
        assert "\n" not in str(told.value)
        with SiteLock(folder).acquire("reindex", SINCE) as owner:
            owner.check()
            with pytest.raises(StoreError, match="was deleted or replaced"):
                robbed.check()
            robbed.release()
            with pytest.raises(LockedError, match="in use by `reindex`"):
                SiteLock(folder).acquire("crawl", SINCE)
    robbed.check()  # what is not held guards nothing


def test_file_that_is_replaced_while_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder goes between the opening of its lock and the locking."""
    path, flock, deleted = tmp_path / ".lock", fcntl.flock, 0

    def late(fd: int, how: int) -> None:
        nonlocal deleted
        if deleted < 2:
            path.unlink()
            deleted += 1
        flock(fd, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with monkeypatch.context() as patient:
        patient.setattr(locks, "WAIT_SECS", PATIENT_S)
        lock = SiteLock(tmp_path).acquire("crawl", SINCE)
    with lock:
        lock.check()
        assert deleted == 2
        with pytest.raises(LockedError):
            SiteLock(tmp_path).acquire("crawl", SINCE)


def test_lock_that_comes_free_meanwhile_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who only looks at a lock has it for a moment, which is waited for."""
    tmp_path.joinpath(".lock").touch()
    looks = threading.Event()

    def look() -> None:
        with (tmp_path / ".lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            looks.set()
            time.sleep(0.1)

    thread = threading.Thread(target=look)
    thread.start()
    assert looks.wait(10)
    monkeypatch.setattr(locks, "WAIT_SECS", PATIENT_S)
    SiteLock(tmp_path).acquire("crawl", SINCE).release()
    thread.join()


def test_name_of_one_that_was_killed_is_not_told_for_the_next(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text(json.dumps({"command": "a" * 500, "pid": 1}))
    with (
        SiteLock(tmp_path).acquire("reindex", SINCE),
        pytest.raises(LockedError, match="in use by `reindex`"),
    ):
        SiteLock(tmp_path).acquire("crawl", SINCE)


def test_who_holds_it_is_told_even_without_a_name(tmp_path: Path) -> None:
    with SiteLock(tmp_path).acquire("crawl", SINCE):
        (tmp_path / ".lock").write_bytes(b"")  # on a full disk
        assert told_holder(tmp_path) == "another process"
    assert told_holder(tmp_path) == ""


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("")
    with pytest.raises(StoreError, match="cannot be locked"):
        SiteLock(tmp_path / "site").acquire("crawl", SINCE)
