"""The line of the README for cron, by sh, with the real command: what it mails of a real site."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.origin import Answer, Origin, page
from tests.support.project import HASH_EMBEDDER, REPO, environment, scrapy
from tests.support.receiver import Receiver

if TYPE_CHECKING:
    from pathlib import Path

LINE = re.compile(r"^17 \* \* \* \*  (.*)$", re.MULTILINE)


def mailed(folder: Path, settings: dict[str, object]) -> str:
    """Return what cron would mail; the project stands where the line has it, by a link."""
    program = folder / ".venv/bin/scrapy"
    if not program.exists():
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\ncd {REPO} && exec {sys.executable} -m scrapy "$@"\n')
        program.chmod(0o755)
    [line] = LINE.findall((REPO / "README.md").read_text("utf-8"))
    done = subprocess.run(
        ["sh", "-c", line.replace("/srv/freshcrawl", str(folder))],
        env={**environment(), **{name: str(value) for name, value in settings.items()}},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


def test_stale_pages_and_a_failing_webhook_are_mailed(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with Origin() as origin, Receiver() as receiver:
        origin.serve_sitemap("/a", "/b")
        origin["/a"], origin["/b"] = page("A", "text of a"), page("B", "text of b")
        first = scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state)
        assert first.returncode == 0, first.stderr[-2000:]
        settings: dict[str, object] = {
            **receiver.settings,
            "FRESHCRAWL_STATE_DIR": state,
            "FRESHCRAWL_EMBEDDER_CLASS": HASH_EMBEDDER,
            "FRESHCRAWL_WEBHOOK_RUN_SECS": 1,
            "FRESHCRAWL_CLOCK_OFFSET_SECS": 4 * 86_400,
        }
        origin["/a"], receiver.always = Answer("", 503), 500
        [name] = [folder.name for folder in state.iterdir()]
        stale, failing = sorted(mailed(tmp_path, settings).splitlines())
        assert stale.startswith(f"{name}: 1 page stale (1 HTTP 503); look: scrapy status ")
        assert failing.startswith(f"{name}: the webhook fails (answered 500): ")
