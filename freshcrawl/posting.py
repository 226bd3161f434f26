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
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
COURTESY_BYTES = 4_096
"""What is read of an answer's body where only the status counts."""
PIECE_BYTES = 65_536
FAILURES = (OSError, http.client.HTTPException, ValueError)
"""What a request raises that is not answered as it should be."""
CUT_OFF = "the connection was closed before the answer was whole"
THREAD = "freshcrawl-post"
"""Name of the threads that wait for answers."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered."""

    status: int = 0
    """0: no answer."""
    problem: str = ""
    """Why there is no answer, or none that is whole."""
    retry_after: float = 0.0
    """Seconds that it asks to be left alone, 0 for nothing said."""
    body: bytes = field(default=b"", repr=False)
    """What was answered, if that was asked for."""
    untrusted: bool = False
    """Whether the certificate is the problem, which a person has to mend."""


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    timeout: float,
    *,
    most: int = 0,
    proxies: bool = True,
) -> Answer:
    """POST a body; return the answer after ``timeout`` seconds at most.

    Redirects are not followed. The certificate authorities of the system are used
    (``SSL_CERT_FILE``), and with ``proxies`` those of the environment (``https_proxy``,
    ``no_proxy``).

    Args:
        url: where to; http or https, without user and password.
        body: what is sent.
        headers: headers of the request.
        timeout: seconds for all of it: looking up the name, sending, and the whole answer.
        most: bytes of the answer's body that are read; a longer one is a problem. 0: the answer
            is its status, as soon as that is there.
        proxies: whether the environment's proxies are used.
    """
    request = urllib.request.Request(url, body, dict(headers), method="POST")  # noqa: S310 - checked
    call = _Call(request, timeout, most=most, proxies=proxies)
    threading.Thread(target=call.run, daemon=True, name=THREAD).start()
    try:
        return call.answer.get(timeout=timeout)
    except queue.Empty:
        call.abort()
        return Answer(problem=_too_late(timeout))


class _Call(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    """A request, in a thread of its own, as names are looked up and headers are read unbounded."""

    def __init__(
        self, request: urllib.request.Request, timeout: float, *, most: int, proxies: bool
    ) -> None:
        super().__init__(context=_trusted(*map(os.environ.get, CERTIFICATES)))
        self._request, self._timeout, self._most, self._proxies = request, timeout, most, proxies
        self._connection: http.client.HTTPConnection | None = None
        self._sock: socket.socket | None = None
        self._over = threading.Event()
        self.answer: queue.SimpleQueue[Answer] = queue.SimpleQueue()

    def run(self) -> None:
        """Send it and hand over what is answered."""
        opener = urllib.request.OpenerDirector()  # bare: no redirects, and any status is an answer
        if self._proxies:
            opener.add_handler(urllib.request.ProxyHandler())
        opener.add_handler(self)
        try:
            with opener.open(self._request, timeout=self._timeout) as response:
                waits = retry_after(response.headers.get("Retry-After"))
                answer = Answer(response.status, retry_after=waits)
                if self._most:
                    self.answer.put(self._whole(answer, response))
                    return
                self.answer.put(answer)
                with suppress(*FAILURES):
                    response.read1(COURTESY_BYTES)
        except FAILURES as error:
            untrusted = isinstance(_cause(error), ssl.SSLCertVerificationError)
            self.answer.put(Answer(problem=_words(error, self._timeout), untrusted=untrusted))

    def _whole(self, answer: Answer, response: http.client.HTTPResponse) -> Answer:
        """Return the answer with its body, or with what keeps that from being whole."""
        body = bytearray()
        try:
            while not self._over.is_set() and (piece := response.read1(PIECE_BYTES)):
                body += piece
                if len(body) > self._most:
                    return replace(answer, problem=f"the answer is over {self._most:,} bytes long")
        except FAILURES as error:
            return replace(answer, problem=_words(error, self._timeout))
        if response.length:  # what was announced and did not come
            return replace(answer, problem=CUT_OFF)
        return replace(answer, body=bytes(body))

    def do_open(self, http_class: Any, req: Any, **connection: Any) -> Any:
        """Open the connection as the base class does, and note it."""

        def noted(*args: Any, **kwargs: Any) -> Any:
            made: Any = http_class(*args, **kwargs)
            self._connection = made
            connect = made.connect

            def noted_connect() -> None:
                connect()
                # The connection drops its socket once the head is there, while the body comes.
                self._sock = made.sock

            made.connect = noted_connect
            return made

        return super().do_open(noted, req, **connection)

    def abort(self) -> None:
        """End a thread that waits for an answer."""
        self._over.set()
        sock = self._connection.sock if self._connection else None
        if (sock := sock or self._sock) is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _too_late(timeout: float) -> str:
    return f"no answer within {timeout:.3g} s"


def _cause(error: Exception) -> Exception:
    reason = error.reason if isinstance(error, urllib.error.URLError) else None
    return reason if isinstance(reason, Exception) else error


def _words(error: Exception, timeout: float) -> str:
    """Return what went wrong, without the URL."""
    error = _cause(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    if isinstance(error, TimeoutError):
        return _too_late(timeout)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    if isinstance(error, (http.client.IncompleteRead, http.client.RemoteDisconnected)):
        return CUT_OFF
    if isinstance(error, ValueError):  # its words would show the header that cannot be sent
        return "the request cannot be sent"
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
