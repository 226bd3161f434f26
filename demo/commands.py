"""Runs the project's commands as an operator would, and shows what they say."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

from tests.support.project import REPO, command, environment, scrapy

if TYPE_CHECKING:
    from pathlib import Path

_STAMP = re.compile(r"\d{4}-\d\d-\d\d [\d:]+ ")
_TAIL_LINES = 40


class DemoError(Exception):
    """Something did not go as the demonstration says it does."""


def crawl(url: str, *args: str, state: Path) -> dict[str, Any]:
    """Run ``scrapy crawl docs``, print what it says, return the site's status.

    Raises:
        DemoError: the command did not end with exit code 0.
    """
    full = ("crawl", "docs", "-a", f"url={url}", *args)
    print(f"$ scrapy {shlex.join(full)}", flush=True)
    with subprocess.Popen(
        command(full, state, "real", 0, None),
        cwd=REPO,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        lines = _show(process)
    if process.returncode:
        tail = "".join(lines[-_TAIL_LINES:])
        raise DemoError(f"scrapy crawl ended with exit code {process.returncode}:\n{tail}")
    return status(state)


def _show(process: subprocess.Popen[str]) -> list[str]:
    """Print lines without their time stamps while they come; return all lines."""
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line)
        start = _STAMP.match(line)
        print(f"  {line[start.end() if start else 0 :].rstrip()}", flush=True)
    return lines


def status(state: Path) -> dict[str, Any]:
    """Return the status of the only site of a state folder."""
    [site] = json.loads(_stdout("status", "--json", state=state))["sites"]
    return dict(site)


def query(question: str, *, state: Path) -> dict[str, Any]:
    """Return the best passage for a question.

    Raises:
        DemoError: there is none.
    """
    print(f"$ scrapy {shlex.join(('query', question, '-k', '1'))}", flush=True)
    hits = json.loads(_stdout("query", question, "-k", "1", "--json", state=state))
    if not hits:
        raise DemoError("the question has no answer")
    return dict(hits[0])


def page_texts(state: Path) -> dict[str, str]:
    """Return the text in the answers by URL of the page."""
    texts: dict[str, list[str]] = {}
    for line in _stdout("export", "--format", "jsonl", state=state).splitlines():
        chunk = json.loads(line)
        texts.setdefault(chunk["url"], []).append(chunk["text"])
    return {url: "\n".join(parts) for url, parts in texts.items()}


def _stdout(*args: str, state: Path) -> str:
    result = scrapy(*args, state=state, embedder="real")
    if result.returncode:
        raise DemoError(f"scrapy {args[0]} ended with {result.returncode}: {result.stderr}")
    return result.stdout
