"""An OpenAI-compatible embeddings endpoint on loopback, which fails in the ways it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Self

from tests.support.embed_faults import BROKEN, CHANGED, KEY_SHOWN, RIGHT, Wire, send
from tests.support.embedder import HashEmbedder
from tests.support.origin import Server

if TYPE_CHECKING:
    import ssl

PATH = "/v1/embeddings"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that reached the endpoint."""

    texts: list[str]
    body: dict[str, Any]
    headers: dict[str, str]
    """Names in lower case."""


Fault = str | int | tuple[int, dict[str, str]]
"""A name in ``CHANGED`` or ``BROKEN``, a status, or a status with headers; "" is no fault."""
How = Fault | Callable[[Asked], Fault]


@cache
def hash_embedder(model: str, dimension: int) -> HashEmbedder:
    """Return the embedder whose vectors the endpoint gives for a model's name."""
    return HashEmbedder(model, "", dimension)


@dataclass
class EmbedServer:
    """Gives the vectors of HashEmbedder, but first does what ``script`` says, one a request.

    ``always`` is for all requests that no entry of ``script`` is for; both may also have
    functions of the request. With a ``key``, requests without it get 401.
    """

    script: list[How] = field(default_factory=list)
    always: How = ""
    key: str = ""
    most_texts: int = 0
    """More in one request are answered with 413; 0: as many as are sent."""
    tls: ssl.SSLContext | None = None
    dimension: int = 64
    """Length of the vectors, unless the request has ``dimensions``."""
    asked: list[Asked] = field(default_factory=list)
    """All requests, answered or not."""
    embedded: list[str] = field(default_factory=list)
    """The texts of all requests that were answered with their vectors."""
    strayed: int = 0
    """Requests to another path than that of embeddings."""

    def __post_init__(self) -> None:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server.answer(self)

            def do_GET(self) -> None:
                server.strayed += 1
                self.send_error(404)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so there
                """Keep quiet."""

        self._server = Server(("127.0.0.1", 0), Handler)
        if self.tls:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._let_go = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        """Host and port, as errors name them."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Base URL of the endpoint."""
        return f"http{'s' if self.tls else ''}://{self.host}/v1"

    @property
    def settings(self) -> dict[str, str]:
        """Settings that name it, with which identity and vectors are ``HashEmbedder``'s."""
        return {
            "FRESHCRAWL_EMBED_URL": self.url,
            "FRESHCRAWL_EMBED_MODEL": f"hash-{self.dimension}",
        }

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that it needs."""
        return {"FRESHCRAWL_EMBED_API_KEY": self.key} if self.key else {}

    @property
    def texts(self) -> list[str]:
        """All texts that it was asked for, in order, as often as it was."""
        return [text for asked in self.asked for text in asked.texts]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Take one request, and answer as the script says."""
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = Asked(body["input"], body, headers)
        with self._lock:
            self.asked.append(asked)
            how = self.script.pop(0) if self.script else self.always
        how = how(asked) if callable(how) else how
        if handler.path != PATH:
            self.strayed += 1
            how = 404
        elif self.key and headers.get("authorization") != f"Bearer {self.key}":
            how = how if how in KEY_SHOWN else 401
        elif not how and self.most_texts and len(asked.texts) > self.most_texts:
            how = 413
        if isinstance(how, str):
            self._give(handler, asked, how)
        else:
            status, more = how if isinstance(how, tuple) else (how, {})
            said = {"error": {"message": f"this is a {status}"}}
            send(handler, json.dumps(said).encode(), status, more)

    def _give(self, handler: BaseHTTPRequestHandler, asked: Asked, how: str) -> None:
        reply = json.dumps(self._reply(asked, how)).encode()
        if how in BROKEN:
            key = asked.headers.get("authorization", "").removeprefix("Bearer ")
            BROKEN[how](Wire(handler, reply, key, self._let_go))
            return
        if how in RIGHT:
            with self._lock:
                self.embedded += asked.texts
        send(handler, reply)

    def _reply(self, asked: Asked, how: str) -> dict[str, Any]:
        model = asked.body["model"].removesuffix(f"-{self.dimension}")
        embedder = hash_embedder(model, asked.body.get("dimensions", self.dimension))
        rows = embedder.encode(asked.texts).tolist()
        items = [
            {"object": "embedding", "index": index, "embedding": row}
            for index, row in enumerate(rows)
        ]
        changed = items if not how or how in BROKEN else CHANGED[how](items)
        return {"object": "list", "model": asked.body["model"], "data": changed}
