"""A webhook's receiver on loopback that checks signatures, and fails in the ways it is told."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import struct
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Self

from tests.support.origin import Server

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

KEY = b"a key of more than 24 bytes, for tests"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
TOLERANCE_SECS = 300


@dataclass(frozen=True, slots=True)
class Got:
    """One POST that reached the receiver."""

    id: str
    body: dict[str, Any]
    headers: dict[str, str]
    raw: bytes


@dataclass
class Receiver:
    """Answers 204, but first what ``script`` says, one entry a POST; ``always`` for all.

    An entry is a status, a pair (status, headers), or a function that gets the request's handler.
    """

    script: list[Any] = field(default_factory=list)
    always: Any = None
    tls: ssl.SSLContext | None = None
    got: list[Got] = field(default_factory=list)
    """All that arrived whole and signed, taken or not."""
    taken: list[Got] = field(default_factory=list)
    """What was answered with 2xx."""
    forged: int = 0
    posts: int = 0
    moved: int = 0
    """Requests to another path than that of the webhook."""
    on_taken: Callable[[], None] = lambda: None
    """Called after a POST was taken, before it is answered."""

    def __post_init__(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                receiver.answer(self)

            def do_GET(self) -> None:
                receiver.moved += 1
                self.send_error(404)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Keep quiet."""

        self._server = Server(("127.0.0.1", 0), Handler)
        if self.tls:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._let_go = threading.Event()

    @property
    def url(self) -> str:
        """Where it takes events; the path is not to be told to anyone."""
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/hooks/path-of-the-receiver"

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that name it."""
        return {"FRESHCRAWL_WEBHOOK_URL": self.url, "FRESHCRAWL_WEBHOOK_SECRET": SECRET}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Take a POST, and answer as the script says."""
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.posts += 1
        if not verified(headers, body):
            self.forged += 1
        got = Got(headers["webhook-id"], json.loads(body), headers, body)
        self.got.append(got)
        self.moved += handler.path != "/hooks/path-of-the-receiver"
        how = self.script.pop(0) if self.script else (self.always or 204)
        if callable(how):
            how(handler)
            return
        status, more = how if isinstance(how, tuple) else (how, {})
        if 200 <= status < 300:
            self.taken.append(got)
            self.on_taken()
        handler.send_response(status)
        for name, value in {"Content-Length": "0", **more}.items():
            handler.send_header(name, value)
        handler.end_headers()

    # -- ways to fail, for ``script`` and ``always`` --------------------------

    def silent(self, handler: BaseHTTPRequestHandler) -> None:
        """Never answer."""
        self._let_go.wait(60)
        handler.close_connection = True

    def reset(self, handler: BaseHTTPRequestHandler) -> None:
        """Reset the connection in the middle of the answer's head."""
        handler.wfile.write(b"HTTP/1.1 200 O")
        handler.wfile.flush()
        linger = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        handler.connection.close()
        handler.close_connection = True

    def dripping(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a byte now and then, and never come to the end of the head."""
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not self._let_go.wait(0.02):
            handler.wfile.write(b"a")
            handler.wfile.flush()

    def endless(self, handler: BaseHTTPRequestHandler) -> None:
        """Take it, with an answer that has no end."""
        self.taken.append(self.got[-1])
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not self._let_go.is_set():
            handler.wfile.write(b"a" * 65_536)

    # -- what arrived ---------------------------------------------------------

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """Return the events that were taken, in order, each once; of a type, or of all."""
        found = {e["id"]: e for got in self.taken for e in got.body["events"]}
        return [event for event in found.values() if event["type"].startswith(kind)]

    def told(self) -> Counter[str]:
        """Return how many different events of each type were taken."""
        return Counter(event["type"] for event in self.events())

    def check(self) -> None:
        """Check what holds whatever happened: signed, to the right place, repeats the same."""
        assert self.forged == 0
        assert self.moved == 0
        first: dict[str, dict[str, Any]] = {}
        for got in self.got:
            assert first.setdefault(got.id, got.body) == got.body
            assert got.id == got.body["id"]


def verified(headers: dict[str, str], body: bytes) -> bool:
    """Tell whether a POST is signed, as Standard Webhooks has it, and was sent just now."""
    timestamp = headers["webhook-timestamp"]
    signed = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    signatures = headers["webhook-signature"].split(" ")
    fresh = abs(time.time() - int(timestamp)) < TOLERANCE_SECS
    return fresh and f"v1,{expected}" in signatures
