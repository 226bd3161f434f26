"""One POST, within its time whatever the receiver does."""

from __future__ import annotations

import http.client
import os
import queue
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
READ_BYTES = 4_096
"""What is read of an answer's body at most, out of courtesy: only the status counts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered."""

    status: int = 0
    """0: no answer; ``problem`` says why."""
    problem: str = ""
    retry_after: float = 0.0
    """Seconds that it asks to be left alone, 0 for nothing said."""


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Answer:
    """POST a body; return the answer's status after ``timeout`` seconds at most.

    Redirects are not followed. The proxies of the environment are used (``https_proxy``,
    ``no_proxy``), and the certificate authorities of the system (``SSL_CERT_FILE``).
    """
    request = urllib.request.Request(url, body, dict(headers), method="POST")  # noqa: S310 - checked
    call = _Call(request, timeout)
    threading.Thread(target=call.run, daemon=True, name="freshcrawl-webhook").start()
    try:
        return call.answer.get(timeout=timeout)
    except queue.Empty:
        call.abort()
        return Answer(problem=_too_late(timeout))


class _Call(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    """A request, in a thread of its own, as names are looked up and headers are read unbounded."""

    def __init__(self, request: urllib.request.Request, timeout: float) -> None:
        super().__init__(context=_trusted(*map(os.environ.get, CERTIFICATES)))
        self._request, self._timeout = request, timeout
        self._connection: http.client.HTTPConnection | None = None
        self.answer: queue.SimpleQueue[Answer] = queue.SimpleQueue()

    def run(self) -> None:
        """Send it and hand over what is answered."""
        opener = urllib.request.OpenerDirector()  # bare: no redirects, and any status is an answer
        opener.add_handler(urllib.request.ProxyHandler())
        opener.add_handler(self)
        try:
            with opener.open(self._request, timeout=self._timeout) as response:
                waits = retry_after(response.headers.get("Retry-After"))
                self.answer.put(Answer(response.status, retry_after=waits))
                with suppress(OSError, http.client.HTTPException, ValueError):
                    response.read1(READ_BYTES)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.answer.put(Answer(problem=_words(error, self._timeout)))

    def do_open(self, http_class: Any, req: Any, **connection: Any) -> Any:
        """Open the connection as the base class does, and note it."""

        def noted(*args: Any, **kwargs: Any) -> http.client.HTTPConnection:
            self._connection = http_class(*args, **kwargs)
            return self._connection

        return super().do_open(noted, req, **connection)

    def abort(self) -> None:
        """End a thread that waits for an answer."""
        sock = self._connection.sock if self._connection else None
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _too_late(timeout: float) -> str:
    return f"no answer within {timeout:.3g} s"


def _words(error: Exception, timeout: float) -> str:
    """Return what went wrong, without the URL."""
    if isinstance(error, urllib.error.URLError):
        error = error.reason if isinstance(error.reason, Exception) else error
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    if isinstance(error, TimeoutError):
        return _too_late(timeout)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "the answer is not HTTP" if isinstance(error, http.client.HTTPException) else str(error)


@cache
def _trusted(*_: str | None) -> ssl.SSLContext:
    """Return the system's certificate authorities; to read them takes longer than most POSTs."""
    return ssl.create_default_context()


def retry_after(value: str | None) -> float:
    """Return the seconds that a Retry-After header means, 0 for none or nonsense."""
    text = (value or "").strip()
    if text.isascii() and text.isdecimal():
        return float(min(int(text[:12]), 10**9))
    with suppress(ValueError, TypeError, OverflowError):
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    return 0.0
