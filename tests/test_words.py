"""What the commands tell an operator: what changed, what is held, stale, saved, not there yet."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.config import Config
from freshcrawl.core.report import RunReport
from freshcrawl.site_status import KINDS
from freshcrawl.state import open_for_writing
from tests.support.origin import Answer, Origin, page
from tests.support.project import Result, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86_400


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as origin:
        yield origin


def crawl(origin: Origin, state: Path, day: float, *args: str, **settings: object) -> Result:
    return scrapy(
        "crawl", "docs", "-a", f"url={origin.url}", "-a", "full=1", *args,
        state=state, clock_offset_s=day * DAY, settings={"RETRY_ENABLED": 0, **settings},
    )  # fmt: skip


def status(state: Path, *args: str, day: float = 0, **settings: object) -> dict[str, Any]:
    """Return the status of the only site."""
    done = scrapy(
        "status", "--json", *args, state=state, clock_offset_s=day * DAY, settings=settings
    )
    [site] = json.loads(done.stdout)["sites"]
    return dict(site)


def serve_a_day(origin: Origin, day: int) -> None:
    """Serve a calm page, a build at the end, words that are always new, and some that settle."""
    word = ["alpha", "beta", "gamma", "delta", "epsilon"][day]
    settled = f"version {min(day, 3)}"
    build = f"<span class='stamp'>Made by build 12.3{day}.07 of robots</span>"
    origin["/build"] = page("Build", "A calm text.", build)
    origin["/news"] = page("News", "The news of today:", f"{word} happened.")
    origin["/settles"] = page("Settles", settled)
    origin["/calm"] = page("Calm", "Nothing happens here.")


def test_a_run_that_was_killed_is_told_before_the_next_one_notes_it(
    origin: Origin, state: Path
) -> None:
    origin["/a"] = page("A", "text")
    origin.serve_sitemap("/a")
    assert crawl(origin, state, 0).returncode == 0
    [folder] = state.iterdir()
    opened = open_for_writing(Config(state_dir=str(state)), folder.name, "crawl", 0.0)
    run = RunReport("29991231T000000.000000Z-0000", 1.0, generation=1)
    opened.records.put(f"run:{run.run_id}", run.to_json())
    opened.records.commit()
    # A process is at it.
    assert status(state)["last_run"]["status"] == "running"
    assert scrapy("status", "--check", state=state).returncode == 0
    opened.close()
    before = {path: path.read_bytes() for path in folder.glob("*.sqlite")}
    assert status(state)["last_run"]["status"] == "killed"
    done = scrapy("status", "--check", state=state)
    assert (done.returncode, "the last run was killed; nothing is lost" in done.stdout) == (1, True)
    assert {path: path.read_bytes() for path in before} == before


def test_pages_that_change_on_every_run_and_the_words_that_do_it(
    origin: Origin, state: Path
) -> None:
    origin.serve_sitemap("/build", "/news", "/settles", "/calm")
    found = []
    for day in range(5):
        serve_a_day(origin, day)
        done = crawl(origin, state, day * 10)
        assert done.returncode == 0, done.stderr[-2000:]
        run = report(state)
        found.append(
            {p["url"].removeprefix(origin.url): (p["runs"], p["tokens"]) for p in run["changing"]}
        )
    assert found[:3] == [{}, {}, {}]
    assert found[3] == {
        "build": (3, [["12.32.07", "12.33.07"]]),
        "news": (3, [["gamma", "delta"]]),
        "settles": (3, [["2", "3"]]),
    }
    assert found[4].keys() == {"build", "news"}
    assert f'{origin.url}build (4 checks in a row): "12.33.07" -> "12.34.07"' in done.stderr
    listed = scrapy("status", "--pages", "changing", state=state).stdout.splitlines()[1:]
    assert listed[0] == f'  {origin.url}build  live  "12.33.07" -> "12.34.07"'
    assert listed[1].startswith(f"  {origin.url}news  ")
    assert "drop or volatile_patterns" in scrapy("status", state=state).stdout
    explained = scrapy("explain", f"{origin.url}news", state=state).stdout
    assert "changes on every run: " in explained
    assert '"delta" -> "epsilon"' in explained


def test_savings_and_pages_of_a_recrawl(origin: Origin, state: Path) -> None:
    paths = [f"/p{number}" for number in range(10)]
    for path in paths:
        origin[path] = page(path, "words " * 100, f"of {path}")
    origin.serve_sitemap(*paths)
    first = crawl(origin, state, 0)
    assert "saved against" not in first.stderr
    run = report(state)
    assert run["first_crawl"]
    assert run["recrawl_requests"] == run["new"] == 10
    assert run["recrawl_bytes"] == run["page_bytes"] > 6_000
    origin["/p3"] = page("/p3", "something else " * 40)
    origin["/p4"] = Answer(status=503)
    done = crawl(origin, state, 10)
    run = report(state)
    names = ("asked", "saved_requests", "saved_downloads", "recrawl_chunks", "saved_chunks")
    assert {name: run[name] for name in names} == {
        "asked": 10, "saved_requests": 0, "saved_downloads": 8, "recrawl_chunks": 10,
        "saved_chunks": 9,
    }  # fmt: skip
    assert 0.7 < run["saved_bytes"] / run["recrawl_bytes"] < 0.95
    assert run["urls"] == {"changed": [f"{origin.url}p3"], "failed": [f"{origin.url}p4"]}
    assert (run["stale"], run["stale_reasons"]) == (1, {"HTTP 503": 1})
    assert "8 of 10 page downloads" in done.stderr
    shown = scrapy("status", state=state, clock_offset_s=10 * DAY).stdout
    assert f"changed: {origin.url}p3" in shown
    assert "stale: 1 page (HTTP 503): it answers with its last text" in shown
    [stale] = status(state, "--pages", "stale", day=10)["listed"]
    assert (stale["url"], stale["reason"]) == (f"{origin.url}p4", "HTTP 503")
    hits = scrapy("query", "words", state=state, clock_offset_s=12 * DAY).stdout
    assert re.search(
        r"checked (2|12) d ago \(20\S+:\d\dZ\), changed 12 d ago \(20\S+:\d\dZ\), indexed", hits
    )


@pytest.mark.parametrize("kind", ["removals", "changes"])
def test_the_command_that_is_told_publishes_what_a_guard_of_the_site_holds(
    kind: str, origin: Origin, tmp_path: Path
) -> None:
    state, paths = tmp_path / "state", [f"/p{number}" for number in range(6)]
    table = tmp_path / "sites.toml"
    table.write_text(
        f'[sites.own]\nurl = "{origin.url}"\nguard_removed_ratio = 0.2\nguard_removed_min = 1\n'
        "guard_changed_ratio = 0.2\nguard_changed_min = 1\n"
    )
    rig: dict[str, Any] = {"state": state, "settings": {"FRESHCRAWL_SITES": table}}
    for path in paths:
        origin[path] = page(path, f"The text of {path}.")
    origin.serve_sitemap(*paths)
    assert scrapy("crawl", "docs", "-a", "site=own", **rig).returncode == 0
    for path in paths[:3]:
        gone = Answer(status=410)
        origin[path] = gone if kind == "removals" else page(path, f"Something else of {path}.")
    full = ("crawl", "docs", "-a", "site=own", "-a", "full=1")
    held = scrapy(*full, **rig, clock_offset_s=DAY)
    assert held.returncode == 3
    assert f"held, waits for confirmation: too many {kind} at once (3 of 6 live" in held.stderr
    [release] = re.findall(r"to let them go: scrapy (.*?);", held.stderr)
    done = scrapy(*shlex.split(release), **rig, clock_offset_s=DAY + 60)
    assert done.returncode == 0, done.stderr[-2000:]
    site = status(state)
    assert (site["held"], site["staged"]) == (0, 0)
    assert site["pages"] == ({"gone": 3, "live": 3} if kind == "removals" else {"live": 6})


def test_pages_that_noindex_takes_out_are_named_and_no_others(origin: Origin, state: Path) -> None:
    for path in ("/a", "/b", "/c", "/d"):
        origin[path] = page(path, f"The text of {path}.")
    noindex = '<meta name="robots" content="noindex">'
    origin["/never"] = page("Never", "Not for the index.", head=noindex)
    origin.serve_sitemap("/a", "/b", "/c", "/d", "/never")
    crawl(origin, state, 0)
    first = report(state)
    assert (first["excluded"], first["newly_excluded"]) == (1, 0)
    assert "excluded" not in first["urls"]
    origin["/a"] = page("/a", "The text of /a.", head=noindex)
    done = crawl(origin, state, 1)
    run = report(state)
    assert (run["excluded"], run["newly_excluded"], run["hidden"]) == (1, 0, 1)
    assert run["urls"] == {"hidden": [f"{origin.url}a"]}
    assert f"hidden: {origin.url}a\n" in done.stderr
    crawl(origin, state, 2)
    assert (report(state)["excluded"], report(state)["urls"]) == (2, {})


def test_held_pages_are_listed_and_the_command_that_is_told_lets_them_go(
    origin: Origin, state: Path
) -> None:
    paths = [f"/p{number}" for number in range(12)]
    for path in paths:
        origin[path] = page(path, f"The text of {path}.")
    origin.serve_sitemap(*paths)
    crawl(origin, state, 0)
    for path in paths[:7]:
        origin[path] = Answer(status=410)
    done = crawl(origin, state, 1)
    assert done.returncode == 3
    name = f"127.0.0.1-{origin.port}"
    assert f"{name}: complete, 7 held, " in done.stderr
    shown = scrapy("status", state=state, clock_offset_s=DAY).stdout
    look, release, keep = re.findall(
        r"scrapy ((?:status|approve|discard) .*?)(?=;|$)", shown, re.MULTILINE
    )
    assert (release, keep) == (f"approve --site {name}", f"discard --site {name}")
    held = scrapy(*shlex.split(look), state=state).stdout.splitlines()
    assert len(held) == 1 + 7
    assert held[1].split("  ")[1:] == [
        f"{origin.url}p0",
        "live",
        "would leave the answers (gone: 410); more than half of the site: a person must decide",
    ]
    explained = scrapy("explain", f"{origin.url}p0", state=state).stdout
    assert release in explained
    assert "would leave the answers (gone: 410)" in explained
    again = scrapy(*shlex.split(release), state=state, clock_offset_s=DAY + 60)
    assert again.returncode == 0, again.stderr[-2000:]
    site = status(state, "--pages", "held")
    assert (site["held"], site["pages"]["gone"], site["listed"]) == (0, 7, [])


def test_a_dry_run_says_what_would_happen(origin: Origin, state: Path) -> None:
    for path in ("/a", "/b", "/c"):
        origin[path] = page(path, f"The text of {path}.")
    origin.serve_sitemap("/a", "/b", "/c")
    first = crawl(origin, state, 0, "-a", "dry_run=1")
    assert "dry run, nothing stored: complete" in first.stderr
    assert "3 passages would have to be embedded" in first.stderr
    crawl(origin, state, 0)
    before = report(state)
    origin["/a"] = page("/a", "Another text.")
    origin["/b"] = Answer(status=410)
    origin["/d"] = page("/d", "The text of /c.")
    origin.serve_sitemap("/a", "/b", "/c", "/d")
    done = crawl(origin, state, 1, "-a", "dry_run=1").stderr
    for words in ("changed: {}a", "gone: {}b", "new: {}d", "2 passages would have to be embedded"):
        assert words.format(origin.url) in done
    assert "saved against" not in done
    assert report(state) == before


def test_a_first_crawl_that_finds_nothing_says_what_to_delete(origin: Origin, state: Path) -> None:
    done = crawl(origin, state, 0)
    assert done.returncode == 4
    folder = state / f"127.0.0.1-{origin.port}"
    assert f"if its URL is wrong, delete {folder}" in done.stderr
    shown = scrapy("status", state=state).stdout
    assert "no run has been complete yet" in shown
    assert "nothing published yet" in shown
    assert "ok" not in shown.split()


def test_a_site_that_never_could_be_read_is_plain_to_see(origin: Origin, state: Path) -> None:
    origin["/robots.txt"] = Answer(status=503)
    for day in range(2):
        assert crawl(origin, state, day).returncode == 4
    shown = scrapy("status", state=state).stdout
    assert "incomplete: robots.txt unavailable (HTTP 503)" in shown
    assert "no run has been complete yet" in shown
    assert status(state)["last_complete"] is None


@pytest.fixture
def two_sites(tmp_path: Path) -> dict[str, object]:
    path = tmp_path / "sites.toml"
    path.write_text(
        '[sites.one]\nurl = "https://one.example/docs/"\n[sites.two]\nurl = "https://two.example/"'
    )
    return {"FRESHCRAWL_SITES": path}


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["status"], 0, "not crawled yet: scrapy crawl docs -a site=one"),
        (["status", "--site", "two"], 0, "not crawled yet: scrapy crawl docs -a site=two"),
        (["status", "--check"], 4, "two: it was never crawled; scrapy crawl docs -a site=two"),
        (
            ["status", "--check", "--site", "one"],
            4,
            "one: it was never crawled; scrapy crawl docs -a site=one",
        ),
        (["status", "--pages", "due"], 0, "no page is due"),
        (["due"], 0, "two is not crawled yet: scrapy crawl docs -a site=two"),
        (["due", "--site", "one"], 0, "one is not crawled yet: scrapy crawl docs -a site=one"),
    ],
)
def test_sites_that_were_never_crawled_are_shown(
    args: list[str], code: int, words: str, state: Path, two_sites: dict[str, object]
) -> None:
    done = scrapy(*args, state=state, settings=two_sites)
    assert (done.returncode, done.stderr) == (code, "")
    assert words in done.stdout
    assert "nothing is due" not in done.stdout


def test_sites_that_were_never_crawled_have_the_keys_of_the_others(
    origin: Origin, state: Path, two_sites: dict[str, object]
) -> None:
    origin["/a"] = page("A", "text")
    origin.serve_sitemap("/a")
    crawl(origin, state, 0)
    done = scrapy("status", "--json", state=state, settings=two_sites)
    crawled, one, two = json.loads(done.stdout)["sites"]
    assert list(crawled) == list(one) == list(two)
    assert (one["site"], one["last_run"], one["pages"]) == ("one", None, {})
    assert crawled["last_complete"] == crawled["last_run"]["finished_at"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://one.example/docs/x", "a page of one, but that is not crawled yet: scrapy crawl"),
        ("https://one.example/blog", "below none of one (https://one.example/docs/), two"),
    ],
)
def test_explain_of_a_page_that_is_not_there(
    url: str, words: str, state: Path, two_sites: dict[str, object]
) -> None:
    done = scrapy("explain", url, state=state, settings=two_sites)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert words in done.stderr


def test_kinds_of_pages_are_named_by_a_wrong_one(state: Path) -> None:
    done = scrapy("status", "--pages", "odd", state=state)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert all(kind in done.stderr for kind in KINDS)
