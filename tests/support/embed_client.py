"""A client of ``EmbedServer``, and what its errors say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.stores.base import EmbeddingError
from freshcrawl.stores.embedding_options import EmbedOptions
from freshcrawl.stores.http_embedding import HttpEmbedder

if TYPE_CHECKING:
    from tests.support.embed_server import EmbedServer


KEY = "sk-test-0123456789abcdef"
TEXTS = ["one text", "another", "a third one"]
SHORT_SECS = 0.4


def client(server: EmbedServer, model: str = "hash-64", **options: Any) -> HttpEmbedder:
    """Return an embedder that asks the server."""
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
