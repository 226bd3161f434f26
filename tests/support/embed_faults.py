"""Ways in which an embeddings endpoint fails, by name."""

from __future__ import annotations

import base64
import json
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from http.server import BaseHTTPRequestHandler

Items = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Wire:
    """What a fault of the answer itself works with."""

    handler: BaseHTTPRequestHandler
    reply: bytes
    """The right answer."""
    key: str
    """What the request has for a key."""
    let_go: threading.Event
    """Set when the server ends."""


def _each(value: Any) -> Callable[[Items], Items]:
    """Return a change of the last item: its vector's first number is another."""

    def changed(items: Items) -> Items:
        items[-1]["embedding"][0] = value
        return items

    return changed


def _without_index(items: Items) -> Items:
    return [{"object": "embedding", "embedding": item["embedding"]} for item in items]


def _shorter(items: Items) -> Items:
    return [{**item, "embedding": item["embedding"][:-1]} for item in items]


def _as_base64(items: Items) -> Items:
    def packed(vector: list[float]) -> str:
        return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()

    return [{**item, "embedding": packed(item["embedding"])} for item in items]


CHANGED: dict[str, Callable[[Items], Items]] = {
    "base64": _as_base64,
    "longer": lambda items: [
        {**item, "embedding": [number * 3 for number in item["embedding"]]} for item in items
    ],
    "reordered": lambda items: items[::-1],
    "no index": _without_index,
    "duplicate index": lambda items: [*items[:-1], {**items[-1], "index": 0}],
    "index out of range": lambda items: [*items[:-1], {**items[-1], "index": len(items)}],
    "one too few": lambda items: items[:-1],
    "one too many": lambda items: [*items, {**items[-1], "index": len(items)}],
    "one shorter": lambda items: [*items[:-1], *_shorter(items[-1:])],
    "all shorter": _shorter,
    "empty": lambda items: [{**item, "embedding": []} for item in items],
    "nan": _each(float("nan")),
    "infinite": _each(float("inf")),
    "null": _each(None),
    "number as text": _each("0.5"),
    "zeros": lambda items: [
        *items[:-1],
        {**items[-1], "embedding": [0] * len(items[-1]["embedding"])},
    ],
    "vector as text": lambda items: [{**item, "embedding": "nothing"} for item in items],
    "vector is null": lambda items: [{**item, "embedding": None} for item in items],
}
"""Changes of what is answered, with 200 and as JSON."""
RIGHT = ("", "base64", "longer", "reordered")
"""Ways to answer that are no faults."""


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    status: int = 200,
    more: dict[str, str] | None = None,
    kind: str = "application/json",
) -> None:
    handler.send_response(status)
    headers = {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def _drop(wire: Wire) -> None:
    """Close the connection without a word."""
    wire.handler.close_connection = True


def _reset(wire: Wire) -> None:
    """Reset the connection in the middle of the answer's head."""
    wire.handler.wfile.write(b"HTTP/1.1 200 O")
    wire.handler.wfile.flush()
    linger = struct.pack("ii", 1, 0)
    wire.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    wire.handler.connection.close()
    wire.handler.close_connection = True


def _hang(wire: Wire) -> None:
    """Never answer."""
    wire.let_go.wait(60)
    wire.handler.close_connection = True


def _drip(wire: Wire) -> None:
    """Answer a byte now and then, and never come to the end."""
    wire.handler.close_connection = True
    wire.handler.wfile.write(HEAD)
    while not wire.let_go.wait(0.02):
        wire.handler.wfile.write(b" ")


def _flood(wire: Wire) -> None:
    """Answer without an end."""
    wire.handler.close_connection = True
    wire.handler.wfile.write(HEAD)
    while not wire.let_go.is_set():
        wire.handler.wfile.write(b" " * 65_536)


def _cut_off(wire: Wire) -> None:
    """Close the connection before all that was announced is sent."""
    send(wire.handler, wire.reply[:-20], more={"Content-Length": str(len(wire.reply))})
    wire.handler.close_connection = True


def _echo(wire: Wire, shown: str) -> None:
    said = {"error": {"message": f"Incorrect API key provided: {shown}. Try another"}}
    send(wire.handler, json.dumps(said).encode(), 401)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
BROKEN: dict[str, Callable[[Wire], None]] = {
    "drop": _drop,
    "reset": _reset,
    "hang": _hang,
    "drip": _drip,
    "huge": _flood,
    "cut off": _cut_off,
    "cut json": lambda wire: send(wire.handler, wire.reply[:-20]),
    "html": lambda wire: send(wire.handler, b"<!doctype html><p>Sign in", kind="text/html"),
    "no list": lambda wire: send(wire.handler, b'{"object": "list"}'),
    "error": lambda wire: send(wire.handler, b'{"error": {"message": "no\\u0007\\nmodel"}}'),
    "redirect": lambda wire: send(wire.handler, b"", 308, {"Location": "/elsewhere"}),
    "echo of the key": lambda wire: _echo(wire, wire.key),
    "part of the key": lambda wire: _echo(wire, f"{wire.key[:9]}...{wire.key[-4:]}"),
}
"""Faults of the answer itself."""
KEY_SHOWN = ("echo of the key", "part of the key")
"""Faults of which the answer is 401."""
