"""Runs the project's commands as an operator would, and shows what they say as it is."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.project import REPO, Embedder, command, environment, scrapy

if TYPE_CHECKING:
    from pathlib import Path


class DemoError(Exception):
    """Something did not go as the demonstration says it does."""


@dataclass(frozen=True, slots=True)
class Project:
    """The project's command line over one state folder."""

    state: Path
    embedder: Embedder

    def crawl(self, url: str, *args: str) -> dict[str, Any]:
        """Run ``scrapy crawl docs``, which says on stderr what it does; return the site's status.

        Raises:
            DemoError: a command did not end with exit code 0.
        """
        full = ("crawl", "docs", "-a", f"url={url}", *args)
        _announce(full)
        done = subprocess.run(
            command(full, self.state, self.embedder, 0, None),
            cwd=REPO,
            env=environment(),
            check=False,
        )
        if done.returncode:
            raise DemoError(f"scrapy crawl ended with exit code {done.returncode}")
        [site] = json.loads(self._stdout("status", "--json"))["sites"]
        return dict(site)

    def show(self, *args: str) -> str:
        """Run a command that only reads, print what it prints, and return that.

        Raises:
            DemoError: it did not end with exit code 0.
        """
        _announce(args)
        text = self._stdout(*args)
        print(text, end="", flush=True)
        return text

    def page_texts(self) -> dict[str, str]:
        """Return the text in the answers by URL of the page."""
        texts: dict[str, list[str]] = {}
        for line in self._stdout("export", "--format", "jsonl").splitlines():
            chunk = json.loads(line)
            texts.setdefault(chunk["url"], []).append(chunk["text"])
        return {url: "\n".join(parts) for url, parts in texts.items()}

    def _stdout(self, *args: str) -> str:
        result = scrapy(*args, state=self.state, embedder=self.embedder)
        sys.stderr.write(result.stderr)
        if result.returncode:
            raise DemoError(f"scrapy {args[0]} ended with exit code {result.returncode}")
        return result.stdout


def _announce(args: tuple[str, ...]) -> None:
    print(f"$ scrapy {shlex.join(args)}", flush=True)
