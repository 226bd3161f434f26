"""A web server on loopback whose answers a test sets path by path."""

from __future__ import annotations

import hashlib
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Answer:
    """What a path answers. With ``validators`` an ETag of the body is sent and honoured."""

    body: str | bytes = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/html; charset=utf-8"
    validators: bool = True

    @property
    def content(self) -> bytes:
        """The body as bytes."""
        return self.body.encode() if isinstance(self.body, str) else self.body

    @property
    def etag(self) -> str:
        """A strong ETag of the body."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that reached the server."""

    path: str
    headers: dict[str, str]
    status: int


class Server(ThreadingHTTPServer):
    """Ends with the test, and takes a client that hangs up as it comes."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a connection that the client has closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Origin:
    """A site that a test changes between runs: ``origin["/a.html"] = page("A", "text")``."""

    def __init__(self, port: int = 0) -> None:
        self.answers: dict[str, Answer | Callable[[], Answer]] = {}
        self.unknown: Answer | Callable[[], Answer] = Answer("not here", 404)
        """What all other paths answer."""
        self.asked: list[Asked] = []
        self._request = threading.local()
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                origin._request.headers = dict(self.headers)
                origin._request.path = self.path
                answer = origin.answers.get(self.path, origin.unknown)
                answer = answer() if callable(answer) else answer
                same = answer.validators and self.headers.get("If-None-Match") == answer.etag
                status = 304 if same and answer.status == 200 else answer.status
                origin.asked.append(Asked(self.path, dict(self.headers), status))
                self.send_response(status)
                if answer.validators and answer.status == 200:
                    self.send_header("ETag", answer.etag)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                content = b"" if status == 304 else answer.content
                if status != 304:
                    self.send_header("Content-Type", answer.content_type)
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so there
                """Keep quiet."""

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Root URL, with a slash."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def current(self) -> dict[str, str]:
        """Headers of the request that is being answered, for answers that look at them."""
        headers: dict[str, str] = self._request.headers
        return headers

    @property
    def current_path(self) -> str:
        """Path of the request that is being answered."""
        path: str = self._request.path
        return path

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __setitem__(self, path: str, answer: Answer | str | Callable[[], Answer]) -> None:
        self.answers[path] = Answer(answer) if isinstance(answer, str) else answer

    def serve_sitemap(self, *paths: str, sitemap: str = "/sitemap.xml") -> None:
        """Serve a sitemap of these paths, named by robots.txt."""
        locations = "".join(f"<url><loc>{escape(self.url + p[1:])}</loc></url>" for p in paths)
        self[sitemap] = Answer(urlset(locations), content_type="application/xml")
        self["/robots.txt"] = Answer(
            f"User-agent: *\nDisallow:\nSitemap: {self.url}{sitemap[1:]}\n",
            content_type="text/plain",
        )

    def paths(self) -> list[str]:
        """Return the paths that were asked for since the last call, and forget them."""
        paths = [asked.path for asked in self.asked]
        self.asked.clear()
        return paths


def urlset(entries: str) -> str:
    """Return a sitemap document."""
    return (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"{entries}</urlset>"
    )


def page(title: str, *paragraphs: str, head: str = "", links: str = "") -> str:
    """Return an HTML page with a main element."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head><body>"
        f"<nav>menu {links}</nav><main><h1>{title}</h1>{text}</main></body></html>"
    )
