"""How runs end: locked, stopped, held, dry, or over all that is due, each with its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.locks import SiteLock
from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy

if TYPE_CHECKING:
    from pathlib import Path


def test_second_run_of_a_site_ends_at_once(state: Path) -> None:
    with Origin() as origin:
        folder = state / f"127.0.0.1-{origin.port}"
        folder.mkdir(parents=True)
        with SiteLock(folder).acquire("crawl", 1_700_000_000.0):
            result = scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state)
        assert result.returncode == 5
        assert origin.paths() == []
    assert "crawl" in result.stderr
    assert "2023-11-14" in result.stderr
    assert result.stderr.count("\n") == 1


def test_dry_run_leaves_nothing(state: Path) -> None:
    with Origin() as origin:
        origin["/a"] = page("A", "text")
        origin.serve_sitemap("/a")
        done = scrapy("crawl", "docs", "-a", f"url={origin.url}", "-a", "dry_run=1", state=state)
        assert done.returncode == 0, done.stderr[-2000:]
        assert "/a" in origin.paths()
    assert not state.exists()


@pytest.fixture
def site_of_30() -> Origin:
    origin = Origin()
    paths = [f"/p{number}" for number in range(30)]
    for path in paths:
        origin[path] = page(path, f"The text of {path}.")
    origin.serve_sitemap(*paths)
    return origin


def test_mass_removal_is_held_and_released_when_later_runs_find_the_same(
    site_of_30: Origin, state: Path
) -> None:
    def crawl(hours: int) -> int:
        return scrapy(
            "crawl", "docs", "-a", f"url={site_of_30.url}", "-a", "full=1",
            state=state, clock_offset_s=hours * 3_600,
        ).returncode  # fmt: skip

    with site_of_30 as origin:
        assert crawl(0) == 0
        for number in range(10):
            origin[f"/p{number}"] = Answer(status=410)
        origin["/p20"] = page("/p20", "Another text.")
        assert crawl(24) == 3
        run = report(state)
        why = "too many removals at once (10 of 30 live pages would leave the answers)"
        assert (run["held"], run["held_reasons"]) == (10, [why])
        # What the guard is not about went through.
        texts = {row["url"].removeprefix(origin.url): row["text"] for row in export(state)}
        assert len(texts) == 30
        assert texts["p20"] == "Another text."
        assert scrapy("status", "--check", state=state).returncode == 3
        assert crawl(25) == 3  # too soon to confirm anything
        assert crawl(37) == 3
        assert crawl(50) == 0
        assert len(export(state)) == 20


def test_removal_of_more_than_half_waits_for_a_person(site_of_30: Origin, state: Path) -> None:
    with site_of_30 as origin:
        for day in range(5):
            if day == 1:
                for number in range(20):
                    origin[f"/p{number}"] = Answer(status=410)
            code = scrapy(
                "crawl", "docs", "-a", f"url={origin.url}", "-a", "full=1",
                state=state, clock_offset_s=day * 86_400,
            ).returncode  # fmt: skip
            assert code == (3 if day else 0)
    assert len(export(state)) == 30
    assert "a person must decide" in report(state)["held_reasons"][0]


def test_crawl_without_a_site_refreshes_what_is_due(state: Path) -> None:
    with Origin() as one, Origin() as other:
        for origin in (one, other):
            origin["/a"] = page("A", f"text of {origin.port}")
            origin.serve_sitemap("/a")
            assert scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state).returncode == 0
            origin.paths()
        result = scrapy("crawl", "docs", state=state)
        assert (result.returncode, result.stdout.strip()) == (0, "nothing is due")
        assert one.paths() == other.paths() == []
        result = scrapy("crawl", "docs", state=state, clock_offset_s=5 * 86_400)
        assert result.returncode == 0, result.stderr[-2000:]
        assert "/a" in one.paths()
        assert "/a" in other.paths()
        assert len(export(state)) == 2
