"""One writer per site, whatever becomes of its process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import LockedError, SiteLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SINCE = 1_700_000_000.0

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


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("")
    with pytest.raises(StoreError, match="cannot be locked"):
        SiteLock(tmp_path / "site").acquire("crawl", SINCE)
