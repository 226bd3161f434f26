"""Outages as the command meets them, over real sockets: for ten runs no page leaves the answers."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl import cli
from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.nightly
PATHS = tuple(f"/guide/p{number}.html" for number in range(8))
RUNS, DAY = 10, 86_400.0
IMPATIENT = {"DOWNLOAD_TIMEOUT": 1, "RETRY_TIMES": 0}


@contextmanager
def refused(port: int) -> Iterator[None]:
    """Nobody listens."""
    yield


@contextmanager
def listening(port: int, serve: Callable[[socket.socket], None]) -> Iterator[None]:
    """Take connections, and have each served in a thread of its own."""
    with socket.create_server(("127.0.0.1", port), reuse_port=False) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)


def silent(port: int) -> AbstractContextManager[None]:
    """Take the request, and never answer."""

    def serve(connection: socket.socket) -> None:
        with connection, suppress(ConnectionError):
            while connection.recv(65_536):
                pass

    return listening(port, serve)


def cut_off(port: int) -> AbstractContextManager[None]:
    """End the connection in the middle of the body."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 90000\r\n\r\n<html><p>Soon"
    )

    def serve(connection: socket.socket) -> None:
        with connection, suppress(ConnectionError):
            connection.recv(65_536)
            connection.sendall(head)

    return listening(port, serve)


@contextmanager
def unavailable(port: int) -> Iterator[None]:
    """Answer 503, also for robots.txt."""
    with Origin(port) as origin:
        origin.unknown = Answer("busy", 503)
        yield


def crawl(url: str, state: Path, day: float, code: int, **settings: Any) -> None:
    done = scrapy(
        *("crawl", "docs", "-a", f"url={url}"),
        state=state,
        settings=settings,
        clock_offset_s=day * DAY,
    )
    assert done.returncode == code, done.stderr[-3000:]
    assert "Traceback" not in done.stderr


def status(state: Path, day: float) -> dict[str, Any]:
    done = scrapy("status", "--json", state=state, clock_offset_s=day * DAY)
    [site] = json.loads(done.stdout)["sites"]
    return dict(site)


@contextmanager
def serving(port: int = 0) -> Iterator[Origin]:
    with Origin(port) as origin:
        origin.serve_sitemap(*PATHS)
        for path in PATHS:
            origin[path] = page(path, f"The text of {path}, which no other page has.")
        yield origin


@pytest.mark.parametrize("outage", [refused, silent, cut_off, unavailable])
def test_no_page_leaves(tmp_path: Path, outage: Callable[[int], Any]) -> None:
    state = tmp_path / "state"
    with serving() as origin:
        crawl(origin.url, state, 0, cli.OK)
        port, url, before = origin.port, origin.url, texts(state)
    assert len(before) == len(PATHS)
    for run in range(1, RUNS + 1):
        with outage(port):
            crawl(url, state, run * 7, cli.INCOMPLETE, **IMPATIENT)
        assert texts(state) == before, f"run {run}"
    found = status(state, RUNS * 7)
    assert found["pages"] == {"live": len(PATHS)}
    assert found["stale"] == len(PATHS)
    assert found["stale_decided"] == {}
    with serving(port):
        crawl(url, state, RUNS * 7 + 7, cli.OK)
    assert texts(state) == before
    assert report(state)["chunks_embedded"] == 0
    assert status(state, RUNS * 7 + 7)["stale"] == 0


def texts(state: Path) -> dict[str, str]:
    return {row["key"]: row["text"] for row in export(state)}
