"""An embeddings endpoint that fails: what is an error, what it says, and what is asked again."""

from __future__ import annotations

import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from freshcrawl.config import Config
from freshcrawl.posting import THREAD
from freshcrawl.state import make_embedder
from freshcrawl.stores.base import EmbeddingError
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.http_embedding import HttpEmbedder
from tests.support.embed_faults import BROKEN, CHANGED, RIGHT
from tests.support.embed_server import EmbedServer
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "sk-test-0123456789abcdef"
TEXTS = ["one text", "another", "a third one"]
SHORT_SECS = 0.4


@pytest.fixture
def server() -> Iterator[EmbedServer]:
    with EmbedServer(key=KEY) as server:
        yield server
        assert server.strayed == 0, "a request to another path"


def client(server: EmbedServer, model: str = "hash-64", **options: Any) -> HttpEmbedder:
    return HttpEmbedder(model, "", EmbedOptions(url=server.url, api_key=server.key, **options))


def failure(embedder: HttpEmbedder, texts: list[str] = TEXTS) -> tuple[str, bool, float]:
    """Return the message, without its beginning, and the two facts of the error."""
    with pytest.raises(EmbeddingError) as caught:
        embedder.encode(texts)
    message = str(caught.value)
    assert message.isprintable()
    start = f"embeddings endpoint {embedder.host}: "
    assert message.startswith(start)
    return message.removeprefix(start), caught.value.again, caught.value.retry_after


# -- what is asked, and what is made of it -----------------------------------------


@pytest.mark.parametrize("how", ["", "base64", "reordered"])
def test_vectors_are_those_of_the_endpoint(server: EmbedServer, how: str) -> None:
    server.always = how
    vectors = client(server).encode(TEXTS)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, HashEmbedder().encode(TEXTS))


def test_one_request_asks_for_all(server: EmbedServer) -> None:
    embedder = client(server)
    assert embedder.dimension == 0
    assert embedder.encode([]).shape == (0, 0)
    assert server.asked == []
    assert embedder.encode(TEXTS).shape == (3, 64)
    [asked] = server.asked
    assert asked.body == {"model": "hash-64", "input": TEXTS, "encoding_format": "float"}
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert embedder.dimension == 64
    assert embedder.encode([]).shape == (0, 64)


def test_no_key_no_header() -> None:
    with EmbedServer() as server:
        client(server).encode(TEXTS)
        assert "authorization" not in server.asked[0].headers


def test_prompts_and_dimensions(server: EmbedServer) -> None:
    prompts = {"document_prompt": "passage: ", "query_prompt": "query: "}
    embedder = client(server, "hash", dimension=32, **prompts)
    assert embedder.dimension == 32
    assert embedder.encode(["a"]).shape == (1, 32)
    assert embedder.encode_query("b").shape == (32,)
    assert server.texts == ["passage: a", "query: b"]
    assert {asked.body["dimensions"] for asked in server.asked} == {32}


@pytest.mark.parametrize("end", ["", "/", "/embeddings", "/embeddings/"])
def test_url_with_more_than_the_base(server: EmbedServer, end: str) -> None:
    options = EmbedOptions(url=server.url + end, api_key=f"{KEY}\n")
    assert HttpEmbedder("hash-64", "", options).encode(TEXTS).shape == (3, 64)


def test_vectors_are_made_as_long_as_1(server: EmbedServer) -> None:
    server.always = "longer"
    assert np.allclose(client(server).encode(TEXTS), HashEmbedder().encode(TEXTS), atol=1e-7)


def test_many_threads_get_their_own(server: EmbedServer) -> None:
    embedder = client(server)
    server.script = ["reordered", ""] * 8
    batches = [[f"text {number} {part}" for part in "ab"] for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(embedder.encode, batches))
    for batch, vectors in zip(batches, found, strict=True):
        assert np.array_equal(vectors, HashEmbedder().encode(batch))


# -- fewer texts in a request ------------------------------------------------------


def test_413_halves_what_is_asked_for_at_once(server: EmbedServer) -> None:
    server.most_texts = 3
    texts = [f"text {number}" for number in range(10)]
    embedder = client(server)
    assert np.array_equal(embedder.encode(texts), HashEmbedder().encode(texts))
    assert [len(asked.texts) for asked in server.asked] == [10, 5, 3, 2, 3, 2]
    server.asked.clear()
    assert np.array_equal(embedder.encode(texts), HashEmbedder().encode(texts))
    assert [len(asked.texts) for asked in server.asked] == [3, 3, 3, 1], "it was told before"


@pytest.mark.parametrize("status", [400, 413, 422])
def test_one_text_that_is_refused_is_named(server: EmbedServer, status: int) -> None:
    server.always = lambda asked: status if "x" * 1_200 in asked.texts else ""
    message, again, _ = failure(client(server), ["a", "b", "c", "x" * 1_200])
    assert message.startswith(f"answered {status} (this is a {status}) to one text of 1,200 charac")
    assert "look at FRESHCRAWL_CHUNK_TOKENS" in message
    assert not again
    assert server.embedded == ["a", "b", "c"]


def test_400_does_not_make_later_requests_smaller(server: EmbedServer) -> None:
    server.script = [400]
    embedder = client(server)
    assert embedder.encode(TEXTS).shape == (3, 64)
    assert embedder.encode(TEXTS).shape == (3, 64)
    assert [len(asked.texts) for asked in server.asked] == [3, 2, 1, 3]


# -- faults ------------------------------------------------------------------------

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


# -- questions -----------------------------------------------------------------------


def test_a_question_is_asked_twice_at_most(
    server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    embedder = client(server)
    server.script = ["cut json"]
    assert np.array_equal(embedder.encode_query("q"), HashEmbedder().encode_query("q"))
    server.script = [500, (503, {"Retry-After": "1"}), ""]
    with pytest.raises(EmbeddingError, match="answered 503"):
        embedder.encode_query("q")
    assert server.script == [""]
    for lasting in (401, (429, {"Retry-After": "60"})):
        server.script = [lasting, ""]
        with pytest.raises(EmbeddingError, match=r"answered (401|429)"):
            embedder.encode_query("q")
        assert server.script == [""], "asked in vain"
    server.script = [(429, {"Retry-After": "2"})]
    assert embedder.encode_query("q").shape == (64,)
    assert waits == [0.5, 0.5, 2.0]


# -- the key ---------------------------------------------------------------------------


def test_the_key_is_nowhere_to_be_seen(
    server: EmbedServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    config = Config(embed_url=server.url, embed_model="hash-64", embed_api_key=KEY)
    embedder = make_embedder(config)
    assert isinstance(embedder, HttpEmbedder)
    shown = [repr(config), repr(embedder), repr(embedder._options), embedder.model, embedder.host]
    for how in ("echo of the key", "part of the key", "hang", "reset", 403, 500, "html"):
        server.script = [how]
        hasty = client(server, timeout_secs=SHORT_SECS)
        with pytest.raises(EmbeddingError) as caught:
            hasty.encode(TEXTS)
        error: BaseException | None = caught.value
        while error is not None:
            shown.append(repr(error))
            error = error.__cause__ or error.__context__
    assert server.embedded == []
    assert not [text for text in [*shown, caplog.text] if KEY in text or KEY[8:20] in text]
