"""An embeddings endpoint that fails: what is an error, what it says, whether it passes."""

from __future__ import annotations

import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest

from freshcrawl.posting import THREAD
from freshcrawl.stores.base import EmbeddingError
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.http_embedding import HttpEmbedder
from tests.support.embed_client import KEY, SHORT_SECS, TEXTS, client, failure
from tests.support.embed_faults import BROKEN, CHANGED, RIGHT
from tests.support.embed_server import EmbedServer
from tests.support.embedder import HashEmbedder
from tests.test_alerts_delivery import certificate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def server() -> Iterator[EmbedServer]:
    with EmbedServer(key=KEY) as server:
        yield server
        assert server.strayed == 0, "a request to another path"


CUT = "the connection was closed before the answer was whole"
NO_JSON = "the answer is no JSON, or cut off"
LOOK = "look at FRESHCRAWL_EMBED_MODEL and FRESHCRAWL_EMBED_DIMENSION"
PASSING = {
    "drop": CUT,
    "reset": "connection reset by peer",
    "hang": "no answer within 0.4 s",
    "drip": "no answer within 0.4 s",
    "cut off": CUT,
    "cut json": NO_JSON,
    "html": NO_JSON,
    "no list": "the answer has no list of embeddings",
    "error": "the answer has no list of embeddings (no model)",
    "huge": "the answer is over 1,638,400 bytes long",
    "no index": "a vector without the index of its text",
    "duplicate index": "two vectors of text 0",
    "index out of range": "a vector of text 3, of 3 texts from 0",
    "one too few": "2 vectors for 3 texts",
    "one too many": "4 vectors for 3 texts",
    "one shorter": "vectors of 63 and 64 numbers",
    "empty": "vectors of 0 numbers",
    "nan": "a vector with numbers that are none, or infinite",
    "infinite": "a vector with numbers that are none, or infinite",
    "null": "a vector that is no list of numbers",
    "number as text": "a vector that is no list of numbers",
    "zeros": "a vector of zeros",
    "vector as text": "a vector that is text, and no base64 of float32",
    "vector is null": "a vector that is no list of numbers",
}
LASTING = {
    "redirect": "answered 308, a redirect, which is not followed: look at FRESHCRAWL_EMBED_URL",
    "all shorter": f"vectors of 63 numbers, not 64: {LOOK}",
    "echo of the key": "answered 401 (Incorrect API key provided: ***. Try another): "
    "look at FRESHCRAWL_EMBED_API_KEY",
    "part of the key": "answered 401 (Incorrect API key provided: *** Try another): "
    "look at FRESHCRAWL_EMBED_API_KEY",
}


def test_each_fault_is_in_a_table() -> None:
    faults = {*BROKEN, *CHANGED} - {*RIGHT}
    assert faults == {*PASSING, *LASTING}


@pytest.mark.parametrize(
    ("how", "message", "again"),
    [
        *((how, message, True) for how, message in PASSING.items()),
        *((how, message, False) for how, message in LASTING.items()),
    ],
)
def test_fault(server: EmbedServer, how: str, message: str, again: bool) -> None:
    embedder = client(server, timeout_secs=SHORT_SECS if how in {"hang", "drip"} else 20)
    embedder.encode(TEXTS)
    server.script = [how]
    assert failure(embedder) == (message, again, 0)
    assert np.array_equal(embedder.encode(TEXTS), HashEmbedder().encode(TEXTS))
    assert len(server.asked) == 3, "tried again by itself"
    no_thread_is_left()


def no_thread_is_left() -> None:
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(5)
            assert not thread.is_alive(), "a thread is left waiting"


@pytest.mark.parametrize(
    ("status", "message", "again"),
    [
        *((status, "", True) for status in (408, 425, 429, 500, 502, 503, 504, 529)),
        *((status, "", False) for status in (402, 405, 410, 418, 451)),
        (401, ": look at FRESHCRAWL_EMBED_API_KEY", False),
        (403, ": look at FRESHCRAWL_EMBED_API_KEY", False),
        (404, ": look at FRESHCRAWL_EMBED_URL and FRESHCRAWL_EMBED_MODEL", False),
    ],
)
def test_status(server: EmbedServer, status: int, message: str, again: bool) -> None:
    server.script = [status]
    said = f"answered {status} (this is a {status}){message}"
    assert failure(client(server)) == (said, again, 0)


def test_wait_that_is_asked_for(server: EmbedServer) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    waits = ["7", later, "soon", "-1"]
    server.script = [(429 + 74 * (n % 2), {"Retry-After": wait}) for n, wait in enumerate(waits)]
    found = [failure(client(server))[2] for _ in waits]
    assert found[0] == 7
    assert 60 < found[1] <= 100
    assert found[2:] == [0, 0]


def test_status_counts_also_where_its_text_is_cut_off(server: EmbedServer) -> None:
    headers = {"Content-Length": "5000", "Connection": "close", "Retry-After": "3"}
    server.script = [(503, headers)]
    assert failure(client(server)) == ("answered 503", True, 3)


def test_https_with_a_certificate_that_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    file = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with EmbedServer(tls=context) as server:
        embedder = client(server, timeout_secs=20)
        said = "certificate: self-signed certificate: look at SSL_CERT_FILE"
        assert failure(embedder) == (said, False, 0)
        assert server.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        assert embedder.encode(TEXTS).shape == (3, 64)
        server.script = ["drip", "hang"]
        for _ in range(2):
            hasty = client(server, timeout_secs=SHORT_SECS)
            assert failure(hasty) == ("no answer within 0.4 s", True, 0)
            no_thread_is_left()


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    embedder = HttpEmbedder("m", "", EmbedOptions(url=f"http://127.0.0.1:{port}/v1"))
    assert failure(embedder) == ("connection refused", True, 0)


def test_name_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    embedder = HttpEmbedder("m", "", EmbedOptions(url="http://nowhere.internal/secret-path"))
    assert failure(embedder) == ("name or service not known", True, 0)


def test_what_is_near_is_asked_without_a_proxy(
    server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    monkeypatch.delenv("no_proxy", raising=False)
    assert client(server).encode(TEXTS).shape == (3, 64)


def test_length_that_the_index_has(server: EmbedServer) -> None:
    embedder = client(server)
    embedder.expect(32)
    assert embedder.dimension == 32
    assert failure(embedder) == (f"vectors of 64 numbers, not 32: {LOOK}", False, 0)
    with pytest.raises(EmbeddingError, match="vectors of 32 numbers, not 64"):
        embedder.expect(64)
    embedder.expect(0)
    assert embedder.dimension == 32
