"""An embeddings endpoint: what is asked, what is made of it, and that no key is shown."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from freshcrawl.config import Config
from freshcrawl.state import make_embedder
from freshcrawl.stores.base import EmbeddingError
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.http_embedding import HttpEmbedder
from tests.support.embed_client import KEY, SHORT_SECS, TEXTS, client, failure
from tests.support.embed_server import EmbedServer
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[EmbedServer]:
    with EmbedServer(key=KEY) as server:
        yield server
        assert server.strayed == 0, "a request to another path"


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
