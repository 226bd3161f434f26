"""What the commands answer when something is wrong: one line, the right code, nothing lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.locks import SiteLock
from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["crawl", "docs", "-a", "colour=red"], "unknown argument -a colour"),
        (["crawl", "docs", "-a", "url=docs.example.com"], "something like https://"),
        (["crawl", "docs", "-a", "url=ftp://docs.example.com/"], "something like https://"),
        (["crawl", "docs", "-a", "url=http://a.test/", "-a", "site=a"], "not both"),
        (["crawl", "docs", "-a", "site=nowhere"], "unknown site 'nowhere'"),
        (
            ["crawl", "docs", "-a", "url=http://a.test/", "-a", "full=maybe"],
            "expected true or false",
        ),
        (["crawl", "docs"], "no site is known yet"),
        (["crawl", "docs", "-s", "FRESHCRAWL_COLOUR=red"], "unknown setting FRESHCRAWL_COLOUR"),
        (["status", "-s", "FRESHCRAWL_MISSING_RUNS=many"], "expected a whole number"),
        (["query"], "give a question"),
        (["query", "-k", "0", "why"], "-k must be at least 1"),
        (["explain"], "give one URL"),
        (["status", "--sites", "x"], "unknown argument '--sites'"),
        (["query", "what", "--kk", "3"], "unknown argument '--kk'"),
        (["due", "all"], "unknown argument 'all'"),
        (["crawl", "doc"], "no spider 'doc'; known: docs"),
        (["crawl", "docs", "-a", "url"], "use -a NAME=VALUE"),
        (["crawl"], "no spider is named"),
        (["crawl", "docs", "http://a.test/"], "unknown argument 'http://a.test/'"),
        (["query", "-k", "some", "why"], "invalid int value: 'some'"),
        (["export", "--format", "csv"], "invalid choice: 'csv'"),
    ],
)
def test_usage_errors(args: list[str], words: str, state: Path) -> None:
    result = scrapy(*args, state=state)
    assert result.returncode == 2
    assert words in result.stderr
    assert result.stderr.startswith("freshcrawl: ")
    assert result.stderr.count("\n") == 1
    assert not state.exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["query", "why"], "nothing is indexed yet"),
        (["export", "--site", "nowhere"], "no state of a site 'nowhere'"),
        (["explain", "http://a.test/"], "not known to any site"),
    ],
)
def test_errors_of_state(args: list[str], words: str, state: Path) -> None:
    result = scrapy(*args, state=state)
    assert (result.returncode, result.stdout) == (1, "")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_status_of_nothing_is_no_error(state: Path) -> None:
    assert scrapy("status", state=state).returncode == 0


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


def test_state_that_cannot_be_written_is_one_line(state: Path) -> None:
    state.write_text("a file where a folder should be")
    with Origin() as origin:
        result = scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state)
        assert origin.paths() == []
    assert (result.returncode, result.stdout) == (1, "")
    assert "the state folder cannot be made" in result.stderr
    assert result.stderr.count("\n") == 1


def test_wrong_scheme_does_not_stick(state: Path) -> None:
    with Origin() as origin:
        origin["/a"] = page("A", "text")
        origin.serve_sitemap("/a")
        wrong = origin.url.replace("http:", "https:")
        assert scrapy("crawl", "docs", "-a", f"url={wrong}", state=state).returncode == 4
        assert scrapy("query", "why", state=state).returncode == 1
        assert scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state).returncode == 0
    assert len(export(state)) == 1


def test_robots_that_forbid_everything_are_named(state: Path) -> None:
    with Origin() as origin:
        origin["/robots.txt"] = Answer("User-agent: *\nDisallow: /", content_type="text/plain")
        assert scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state).returncode == 4
        assert set(origin.paths()) == {"/robots.txt"}
    assert "robots.txt disallows it" in str(report(state)["incomplete_reasons"])


def test_folder_that_no_sitemap_entry_is_below(state: Path) -> None:
    with Origin() as origin:
        origin["/a"] = page("A", "text")
        origin.serve_sitemap("/a")
        url = f"{origin.url}nothere/"
        assert scrapy("crawl", "docs", "-a", f"url={url}", state=state).returncode == 4
    assert "list 1 pages, but none of them is below" in str(report(state)["incomplete_reasons"])


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
        why = "10 of 30 live pages would leave the answers (removals)"
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
