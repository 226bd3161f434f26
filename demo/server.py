"""A small web server on loopback that answers 304 when a file is as old as the client knows it."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST = "127.0.0.1"


class PortError(Exception):
    """The port cannot be had; the message is one line that says what to do."""


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the run report counts the answers."""


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a folder while the block runs; gives the URL of its root.

    The folder may be made later. Port 0 is any that is free.

    Raises:
        PortError: the port is in use, or may not be used by this user.
    """
    try:
        server = ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        raise PortError(
            f"port {port} of {HOST} cannot be used ({error.strerror}): name another one, such as "
            "make demo PORT=8001, or none to take any that is free"
        ) from None
    with server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://{HOST}:{server.server_port}/"
        finally:
            server.shutdown()
