"""Runs the project's command line in a subprocess, as an operator would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

REPO = Path(__file__).resolve().parents[2]
CLOCKS = ("last_checked", "last_changed", "indexed_at")
HASH_EMBEDDER = "tests.support.embedder.HashEmbedder"
POLITENESS = {
    "AUTOTHROTTLE_ENABLED": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_DELAY": 0,
}
"""Settings that let a crawl of loopback go as fast as it can."""
TIMEOUT_S = 180.0

Embedder = Literal["hash", "real"]


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def scrapy(
    *args: str,
    state: Path,
    cwd: Path = REPO,
    embedder: Embedder = "hash",
    clock_offset_s: float = 0,
    settings: Mapping[str, object] | None = None,
    timeout: float = TIMEOUT_S,
) -> Result:
    """Run ``scrapy *args`` to its end.

    ``settings`` come last, so they win over those of the rig.

    Raises:
        subprocess.TimeoutExpired: it did not end within ``timeout`` seconds.
    """
    done = subprocess.run(
        command(args, state, embedder, clock_offset_s, settings),
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def start_scrapy(
    *args: str,
    state: Path,
    log: Path,
    cwd: Path = REPO,
    embedder: Embedder = "hash",
    clock_offset_s: float = 0,
    settings: Mapping[str, object] | None = None,
) -> subprocess.Popen[bytes]:
    """Start ``scrapy *args`` and return at once; all that it writes is added to ``log``.

    A file, since a pipe that nobody reads stops the process when it is full. The process leads a
    group of its own, so that ``os.killpg(process.pid, ...)`` ends its children too.
    """
    with log.open("ab") as out:
        return subprocess.Popen(
            command(args, state, embedder, clock_offset_s, settings),
            cwd=cwd,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def command(
    args: tuple[str, ...],
    state: Path,
    embedder: Embedder,
    clock_offset_s: float,
    settings: Mapping[str, object] | None,
) -> list[str]:
    """Return the full command line of ``scrapy *args``."""
    values: dict[str, object] = {**POLITENESS, "FRESHCRAWL_STATE_DIR": state}
    if embedder == "hash":
        values["FRESHCRAWL_EMBEDDER_CLASS"] = HASH_EMBEDDER
    if clock_offset_s:
        values["FRESHCRAWL_CLOCK_OFFSET_SECS"] = clock_offset_s
    values |= settings or {}
    options = [part for name, value in values.items() for part in ("-s", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", *args, *options]


def environment() -> dict[str, str]:
    """Return the environment of a command: the repository importable, no settings, no model hub."""
    ours = {name: text for name, text in os.environ.items() if not name.startswith("FRESHCRAWL_")}
    path = os.pathsep.join(filter(None, [str(REPO), os.environ.get("PYTHONPATH")]))
    return {**ours, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1"}


def report(state: Path, site: str | None = None) -> dict[str, Any]:
    """Return the report of the last run of a site, or of the only site there is."""
    sites = json.loads(_stdout(scrapy("status", "--json", state=state)))["sites"]
    [found] = [entry for entry in sites if site in (None, entry["site"])]
    last_run: dict[str, Any] = found["last_run"]
    return last_run


def export(state: Path) -> list[dict[str, Any]]:
    """Return all chunks of the published pages, as ``scrapy export`` gives them."""
    lines = _stdout(scrapy("export", "--format", "jsonl", state=state)).splitlines()
    return [json.loads(line) for line in lines]


def export_without_clocks(state: Path) -> list[dict[str, Any]]:
    """Return the exported chunks without what tells when they were fetched and indexed."""
    return [
        {name: value for name, value in chunk.items() if name not in CLOCKS}
        for chunk in export(state)
    ]


def _stdout(result: Result) -> str:
    """Return what a command wrote to stdout; fails the test if it could not run."""
    # 3 and 4 say what state the sites are in, not that the command failed.
    assert result.returncode in (0, 3, 4), result.stderr[-2000:]
    return result.stdout
