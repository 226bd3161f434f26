"""A site whose stored table cannot be used any more is named, and stops no other."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl import cli
from freshcrawl.config import Config
from freshcrawl.sites import SiteConfig
from freshcrawl.state import open_for_reading, open_for_writing
from freshcrawl.stored_sites import StoredTableError, stored_site
from tests.support.origin import Origin, page
from tests.support.project import scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

URL = "https://old.example.com/"
UNKNOWN_KEY = {"url": URL, "name": "old", "colour": "red"}
LONG_INTERVAL = {"url": URL, "name": "old", "min_interval_secs": 250_000}
SHORT = {"FRESHCRAWL_START_INTERVAL_SECS": 100_000}
"""Settings of the project that LONG_INTERVAL contradicts."""


def store(config: Config, name: str, table: Any) -> None:
    """Leave a table as a run has left it."""
    state = open_for_writing(config, name, "test", 0.0)
    state.records.put("meta:site", table)
    state.records.commit()
    state.close()


@pytest.mark.parametrize(
    ("table", "settings", "problem"),
    [
        (UNKNOWN_KEY, {}, "state of old: unknown key 'colour'"),
        ({"name": "old"}, {}, "state of old: key 'url' is missing"),
        (
            LONG_INTERVAL,
            {"start_interval_secs": 100_000.0},
            "state of old: min_interval_secs (250000) must not be longer than "
            "start_interval_secs (100000, from FRESHCRAWL_START_INTERVAL_SECS)",
        ),
    ],
)
def test_the_error_names_the_site_and_what_to_do(
    table: Any, settings: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    config = Config(state_dir=str(tmp_path), **settings)
    store(config, "old", table)
    state = open_for_reading(config, "old")
    with pytest.raises(StoredTableError) as caught:
        stored_site(config, state)
    state.close()
    assert caught.value.problem.startswith(problem)
    assert str(caught.value).endswith(
        f"; name the site in sites.toml as [sites.old], or delete {tmp_path / 'old'}"
    )
    assert len(str(caught.value).splitlines()) == 1


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Origin, Path]]:
    """Return a site that was crawled, and the state folder in which another one is of no use."""
    state = tmp_path_factory.mktemp("stored") / "state"
    with Origin() as origin:
        origin["/a"] = page("A", "the text of a")
        origin.serve_sitemap("/a")
        done = scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state)
        assert done.returncode == 0, done.stderr[-2000:]
        store(Config(state_dir=str(state)), "old", UNKNOWN_KEY)
        yield origin, state


def one_line(stderr: str) -> str:
    """Return the only line of our own on stderr."""
    assert "Traceback" not in stderr
    [line] = [line for line in stderr.splitlines() if line.startswith("freshcrawl: ")]
    return line


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("status",), "1 live"),
        (("status", "--json"), '"live": 1'),
        (("due", "--all"), "/a"),
        (("export",), "the text of a"),
        (("query", "text"), "the text of a"),
        (("explain", "{url}a"), "the answers"),
    ],
)
def test_commands_that_read_go_on_with_the_rest(
    args: tuple[str, ...], words: str, two: tuple[Origin, Path]
) -> None:
    origin, state = two
    result = scrapy(*(arg.format(url=origin.url) for arg in args), state=state)
    assert (result.returncode, words in result.stdout) == (1, True), result.stdout
    assert one_line(result.stderr).startswith("freshcrawl: state of old: unknown key 'colour'")
    assert str(state / "old") in result.stderr


def test_a_crawl_of_all_refreshes_the_others(two: tuple[Origin, Path]) -> None:
    origin, state = two
    origin.paths()
    result = scrapy("crawl", "docs", state=state, clock_offset_s=5 * 86_400)
    assert result.returncode == 1
    assert "state of old: unknown key" in one_line(result.stderr)
    assert "/a" in origin.paths()


def test_named_alone_it_is_one_line(two: tuple[Origin, Path]) -> None:
    _, state = two
    for args in (("status", "--site", "old"), ("crawl", "docs", "-a", "site=old")):
        result = scrapy(*args, state=state)
        assert (result.returncode, result.stdout) == (1, "")
        assert "state of old: unknown key" in one_line(result.stderr)


def test_a_project_setting_that_contradicts_it(two: tuple[Origin, Path]) -> None:
    _, state = two
    config = Config(state_dir=str(state))
    store(config, "old", LONG_INTERVAL)
    try:
        assert scrapy("status", "--site", "old", state=state).returncode == 0
        result = scrapy("status", state=state, settings=SHORT)
    finally:
        store(config, "old", UNKNOWN_KEY)
    assert (result.returncode, "1 live" in result.stdout) == (1, True)
    assert "state of old: min_interval_secs (250000) must not be" in one_line(result.stderr)


def test_doctor_checks_it(two: tuple[Origin, Path]) -> None:
    _, state = two
    result = scrapy("doctor", "--no-model", "--json", state=state)
    checks = json.loads(result.stdout)["checks"]
    [failed] = [check for check in checks if check["level"] == "fail"]
    assert (result.returncode, failed["site"], failed["name"]) == (1, "old", "files")
    assert failed["what"].startswith("state of old: unknown key 'colour'")
    assert failed["advice"].startswith("name the site in sites.toml as [sites.old], or delete ")


def test_named_in_sites_toml_it_works_again(two: tuple[Origin, Path], tmp_path: Path) -> None:
    _, state = two
    sites = tmp_path / "sites.toml"
    sites.write_text(f'[sites.old]\nurl = "{URL}"\n')
    result = scrapy("status", state=state, settings={"FRESHCRAWL_SITES": sites})
    assert (result.returncode, result.stderr) == (0, "")
    assert "old  " in result.stdout


def test_sites_toml_is_read_once_for_many_sites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sites.toml").write_text(
        "".join(f"[sites.s{n}]\nurl = '{URL}{n}/'\nmax_age_secs = {n + 5}\n" for n in range(9))
    )
    config = Config(sites=str(tmp_path / "sites.toml"), state_dir=str(tmp_path / "state"))
    for number in range(9):
        site = SiteConfig(name=f"s{number}", url=f"{URL}{number}/")
        store(config, site.name, site.to_json())
    calls = 0
    real = tomllib.loads

    def counted(text: str) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        return real(text)

    monkeypatch.setattr(tomllib, "loads", counted)
    found, code = cli.each_state(config, "", lambda state, own: own.max_age_secs)
    assert (found, code, calls) == ([float(n + 5) for n in range(9)], cli.OK, 1)
