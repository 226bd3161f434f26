"""A crawl of which a component cannot be built: its run failed, the lock is free, others go on."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.locks import holder
from tests.support.held_site import Gate, wait_for
from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy, start_scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FAILING = json.dumps({"tests.support.failing.Failing": 999})
WHERE = ("EXTENSIONS", "ITEM_PIPELINES")


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as found:
        yield serving(found)


def serving(origin: Origin) -> Origin:
    origin["/a"] = page("A", "the text of a")
    origin.serve_sitemap("/a")
    return origin


def name_of(origin: Origin) -> str:
    return f"127.0.0.1-{origin.port}"


@pytest.mark.parametrize("where", WHERE)
def test_the_run_is_recorded_as_failed_with_the_error(
    where: str, origin: Origin, state: Path
) -> None:
    settings = {where: FAILING, "FAILS_FOR_PORT": origin.port}
    crawl = ("crawl", "docs", "-a", f"url={origin.url}")
    result = scrapy(*crawl, state=state, settings=settings)
    assert result.returncode == 1
    assert "this component cannot be built" in result.stderr
    assert "kept" not in result.stderr
    run = report(state)
    assert (run["status"], run["error"]) == ("failed", "this component cannot be built")
    assert scrapy("status", "--check", state=state).returncode == 1
    assert scrapy(*crawl, state=state).returncode == 0
    assert [row["text"] for row in export(state)] == ["the text of a"]


@pytest.mark.parametrize("where", WHERE)
def test_others_go_on_and_can_be_stopped_in_order(
    where: str, origin: Origin, state: Path, tmp_path: Path
) -> None:
    """The lock of the failed one is free while the others are still at it."""
    log, sites = tmp_path / "log", tmp_path / "sites.toml"
    with Origin() as broken:
        sites.write_text(
            f'[sites.good]\nurl = "{origin.url}"\n[sites.bad]\nurl = "{serving(broken).url}"\n'
        )
        gate, answer = Gate(0), origin.answers["/a"]
        assert isinstance(answer, Answer)
        origin["/a"] = gate.holds(answer)
        settings = {
            where: FAILING,
            "FAILS_FOR_PORT": broken.port,
            "FRESHCRAWL_SITES": sites,
        }
        process = start_scrapy("crawl", "docs", state=state, log=log, settings=settings)
        assert gate.reached.wait(30)
        assert holder(state / "good")
        assert not holder(state / "bad")
        process.send_signal(signal.SIGINT)
        wait_for(log, "stopping: finishing 1 request under way")
        gate.opened.set()
        assert process.wait(20) == 1
        assert broken.paths() == []
    text = log.read_text()
    assert "stopping at once" not in text
    assert text.count("Traceback") == text.count("RuntimeError: this component") == 1
    assert report(state, "good")["finish_reason"] == "shutdown"
    assert report(state, "bad")["error"] == "this component cannot be built"
