"""A real nginx on loopback that serves a web root and tells what it was asked."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.request import urlopen

from tests.support.webroot import WebRoot

if TYPE_CHECKING:
    from pathlib import Path

START_TIMEOUT_S = 10.0
START_TRIES = 5
SYNC_PATH = "/.rig-sync"

# One process without a master: it runs as who started it, so it can read what a test wrote.
CONFIG = """\
daemon off;
master_process off;
pid {prefix}/nginx.pid;
error_log {prefix}/error.log;
events {{ worker_connections 256; }}
http {{
  types {{
    text/html html; text/css css; text/plain txt; application/xml xml;
    application/javascript js; application/json json; image/png png; image/svg+xml svg;
  }}
  default_type application/octet-stream;
  client_body_temp_path {prefix}/body;
  proxy_temp_path {prefix}/proxy;
  fastcgi_temp_path {prefix}/fastcgi;
  uwsgi_temp_path {prefix}/uwsgi;
  scgi_temp_path {prefix}/scgi;
  log_format records escape=json '{{"method":"$request_method","path":"$request_uri",'
    '"status":"$status","body_bytes":"$body_bytes_sent","if_none_match":"$http_if_none_match",'
    '"if_modified_since":"$http_if_modified_since","user_agent":"$http_user_agent"}}';
  access_log {prefix}/access.log records;
  server {{
    listen 127.0.0.1:{port};
    root {web_root};
    {validators}
    {server_config}
    location = {sync_path} {{ access_log off; return 204; }}
  }}
}}
"""
NO_VALIDATORS = 'etag off; if_modified_since off; add_header Last-Modified "";'


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One line of the access log. Headers that were not sent are ``""``."""

    method: str
    path: str
    """Path and query as sent."""
    status: int
    body_bytes: int
    """Bytes of the answer's body."""
    if_none_match: str
    if_modified_since: str
    user_agent: str


def nginx_path() -> str | None:
    """Return the path of nginx, None if it is not installed."""
    # The folder that holds it is missing from the PATH of ordinary users.
    return shutil.which("nginx", path=os.environ.get("PATH", os.defpath) + ":/usr/sbin")


class NginxSite:
    """A site served by an nginx of its own, with its files under ``root``.

    ``validators=False`` sends neither ETag nor Last-Modified and answers no conditional request.
    ``sitemap=False`` leaves out ``sitemap.xml``. ``server_config`` is added to the server block.
    """

    def __init__(
        self, root: Path, *, validators: bool = True, sitemap: bool = True, server_config: str = ""
    ) -> None:
        self.root = root
        self.validators = validators
        self.sitemap = sitemap
        self.server_config = server_config
        self.port = 0
        self.web = WebRoot(root / "html")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Root URL, with a slash at its end."""
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> Self:
        """Start nginx and wait until it answers.

        Raises:
            RuntimeError: it is not installed, or does not start.
        """
        for _ in range(START_TRIES):
            # A port that was free may be taken by the time that nginx binds it; a site that
            # was stopped comes back at its own.
            self.port = self.port or _free_port()
            self._spawn()
            if self._answers():
                return self
            self.stop()
            self.port = 0
        raise RuntimeError(f"nginx does not start: {self._error_log()}")

    def stop(self) -> None:
        """Stop nginx; nothing happens if it does not run."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=START_TIMEOUT_S)
            self._process = None
            (self.root / "nginx.pid").unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def deploy(self, tree: Path) -> None:
        """Lay a version of the site into the web root; see ``WebRoot.deploy``.

        The site must have been started, since the sitemap names its port.
        """
        self.web.deploy(tree, self.url, sitemap=self.sitemap)

    def requests(self) -> list[LoggedRequest]:
        """Return what was asked since the start or the last ``clear``, oldest first."""
        self._sync()
        log = self.root / "access.log"
        return [_parse(line) for line in log.read_text().splitlines()] if log.exists() else []

    def clear(self) -> None:
        """Forget the requests so far."""
        self._sync()
        # nginx appends, so it goes on at the start of the emptied file.
        os.truncate(self.root / "access.log", 0)

    def _spawn(self) -> None:
        program = nginx_path()
        if program is None:
            raise RuntimeError("nginx is not installed")
        config = self.root / "nginx.conf"
        config.write_text(self._config())
        arguments = ["-p", str(self.root), "-c", str(config), "-e", str(self.root / "error.log")]
        self._process = subprocess.Popen([program, *arguments], stderr=subprocess.DEVNULL)

    def _config(self) -> str:
        return CONFIG.format(
            prefix=self.root,
            port=self.port,
            web_root=self.web.folder,
            validators="" if self.validators else NO_VALIDATORS,
            server_config=self.server_config,
            sync_path=SYNC_PATH,
        )

    def _answers(self) -> bool:
        """Wait until our nginx accepts connections; False if it ended or is too slow."""
        assert self._process is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self._process.poll() is None:
            # It writes its pid once it has bound the port.
            if (self.root / "nginx.pid").exists() and _accepts(self.port):
                return True
            time.sleep(0.02)
        return False

    def _sync(self) -> None:
        """Wait until all that was answered is logged: one process logs before it reads on."""
        if self._process is not None:
            with urlopen(self.url.rstrip("/") + SYNC_PATH, timeout=START_TIMEOUT_S):
                pass

    def _error_log(self) -> str:
        log = self.root / "error.log"
        return log.read_text()[-2000:] if log.exists() else "no error log"


def _parse(line: str) -> LoggedRequest:
    """Return the record of one line of the access log."""
    fields: dict[str, Any] = json.loads(line)
    for name in ("status", "body_bytes"):
        fields[name] = int(fields[name])
    return LoggedRequest(**fields)


def _free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _accepts(port: int) -> bool:
    """Return whether something accepts connections at ``port``."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
