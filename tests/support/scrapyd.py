"""A real Scrapyd on loopback that keeps all its files in one folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from configparser import ConfigParser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode
from urllib.request import urlopen

from tests.support.project import REPO, environment

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = "freshcrawl"
REQUEST_TIMEOUT_S = 30
START_TIMEOUT_S = 30.0
START_TRIES = 3
STOP_TIMEOUT_S = 10.0
DEPLOY_TIMEOUT_S = 60.0
JOB_TIMEOUT_S = 60.0
NOT_DEPLOYED = (".*", "__pycache__", "*.egg-info", "build", "dist", "state", "tests", "benchmarks")

CONFIG = """\
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
eggs_dir = {folder}/eggs
logs_dir = {folder}/logs
dbs_dir = {folder}/dbs
items_dir =
jobs_dir =
max_proc = 2
poll_interval = 0.2
"""
LISTENS = "Site starting on"


@dataclass(frozen=True, slots=True)
class Job:
    """How a scheduled job ended."""

    id: str
    exit_code: int
    log: str
    """What Scrapyd shows of the job: its log file."""


class Scrapyd:
    """A Scrapyd that runs in ``folder``, with the modules of ``folder/lib`` importable.

    Neither the repository nor its ``scrapy.cfg`` is in reach: jobs have only the egg.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lib = folder / "lib"
        self.lib.mkdir(parents=True)
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Root URL, with a slash at its end."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def log(self) -> str:
        """What Scrapyd itself has logged."""
        return (self.folder / "scrapyd.log").read_text()

    def __enter__(self) -> Self:
        """Start Scrapyd and wait until it listens.

        Raises:
            RuntimeError: it does not start.
        """
        for _ in range(START_TRIES):
            # A port that was free may be taken by the time that Scrapyd binds it.
            self.port = _free_port()
            self._spawn()
            if self._listens():
                return self
            self.__exit__()
        raise RuntimeError(f"Scrapyd does not start: {self.log[-2000:]}")

    def __exit__(self, *_: object) -> None:
        """Stop Scrapyd and the jobs that still run."""
        assert self._process is not None
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=STOP_TIMEOUT_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=STOP_TIMEOUT_S)

    def deploy(self) -> None:
        """Deploy a copy of the repository with ``scrapyd-deploy``, which builds an egg of it.

        Raises:
            RuntimeError: it fails.
        """
        project = self.folder.with_name("deployed-from")
        shutil.copytree(REPO, project, ignore=shutil.ignore_patterns(*NOT_DEPLOYED))
        _point_at(project / "scrapy.cfg", self.url)
        done = subprocess.run(
            [_script("scrapyd-deploy")],
            cwd=project,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=DEPLOY_TIMEOUT_S,
            check=False,
        )
        # An egg that Scrapyd refuses is an answer like any other to it.
        if done.returncode or json.loads(done.stdout)["status"] != "ok":
            raise RuntimeError(f"scrapyd-deploy failed: {done.stdout}{done.stderr}")

    def spiders(self) -> list[str]:
        """Return the spiders of the project, as Scrapyd finds them."""
        found: list[str] = self._call(f"listspiders.json?project={PROJECT}")["spiders"]
        return found

    def run(self, settings: Mapping[str, object], **arguments: str) -> Job:
        """Schedule the spider ``docs`` and wait until it has ended.

        Raises:
            TimeoutError: it did not end in time.
        """
        return self.first_of(self.schedule(settings, **arguments))

    def schedule(self, settings: Mapping[str, object], **arguments: str) -> str:
        """Schedule the spider ``docs``; return the job's id."""
        fields = [("project", PROJECT), ("spider", "docs"), *arguments.items()]
        fields += [("setting", f"{name}={value}") for name, value in settings.items()]
        job: str = self._call("schedule.json", urlencode(fields).encode())["jobid"]
        return job

    def first_of(self, *jobs: str) -> Job:
        """Wait until one of these jobs has ended.

        Raises:
            TimeoutError: none ended in time.
        """
        deadline = time.monotonic() + JOB_TIMEOUT_S
        while time.monotonic() < deadline:
            finished = self._call(f"listjobs.json?project={PROJECT}")["finished"]
            for job in jobs:
                if any(entry["id"] == job for entry in finished):
                    return Job(job, self._exit_code(job), self._job_log(job))
            time.sleep(0.2)
        raise TimeoutError(f"no job of {jobs} ended: {self._job_log(jobs[0])[-2000:]}")

    def _environment(self) -> dict[str, str]:
        return {**environment(), "PYTHONPATH": str(self.lib)}

    def _spawn(self) -> None:
        config = CONFIG.format(folder=self.folder, port=self.port)
        (self.folder / "scrapyd.conf").write_text(config)
        with (self.folder / "scrapyd.log").open("wb") as log:
            # A group of its own, so that no job outlives it.
            self._process = subprocess.Popen(
                [_script("scrapyd")],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _listens(self) -> bool:
        """Wait until Scrapyd listens; False if it ended or is too slow."""
        assert self._process is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self._process.poll() is None:
            if LISTENS in self.log:
                return True
            time.sleep(0.05)
        return False

    def _call(self, path: str, data: bytes | None = None) -> dict[str, Any]:
        with urlopen(self.url + path, data, timeout=REQUEST_TIMEOUT_S) as answer:
            result: dict[str, Any] = json.load(answer)
        if result["status"] != "ok":
            raise RuntimeError(f"{path}: {result}")
        return result

    def _exit_code(self, job: str) -> int:
        """Return a job's exit code; no web service tells it, only Scrapyd's log does."""
        pattern = rf"Process (?:finished|died: exitstatus=(\d+))[^\n]* job='{job}'"
        found = re.search(pattern, self.log)
        assert found is not None, self.log[-2000:]
        return int(found[1] or 0)

    def _job_log(self, job: str) -> str:
        path = self.folder / "logs" / PROJECT / "docs" / f"{job}.log"
        return path.read_text() if path.exists() else ""


def _free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _script(name: str) -> str:
    """Return the path of a console script of this environment."""
    return str(Path(sys.executable).with_name(name))


def _point_at(cfg: Path, url: str) -> None:
    """Make ``url`` the target that a ``scrapy.cfg`` deploys to."""
    parser = ConfigParser()
    parser.read(cfg)
    parser["deploy"]["url"] = url
    with cfg.open("w") as file:
        parser.write(file)
