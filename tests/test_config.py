"""Settings: what is wrong is said in one line before anything is crawled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from freshcrawl.config import PREFIX, SETTINGS, Config, ConfigError, project_folder


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that no ``scrapy.cfg`` is in or above of."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(**settings: Any) -> Config:
    return Config.from_settings(Settings({PREFIX + name: v for name, v in settings.items()}))


def message_of(**settings: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        read(**settings)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


def test_nothing_set_gives_the_defaults() -> None:
    assert Config.from_settings(Settings()) == Config()
    Config().check()


@pytest.mark.parametrize(
    ("priority", "wins"),
    [("cmdline", True), ("spider", False), ("project", False), ("default", False), (50, True)],
)
def test_the_command_line_wins_over_the_table_of_a_site(priority: str | int, wins: bool) -> None:
    settings = Settings()
    settings.set("FRESHCRAWL_GUARD_REMOVED_RATIO", "1", priority)
    settings.set("FRESHCRAWL_MISSING_RUNS", 9, "project")
    own = Config.from_settings(settings).for_site({"guard_removed_ratio": 0.2, "missing_runs": 4})
    assert (own.guard_removed_ratio, own.missing_runs) == (1.0 if wins else 0.2, 4)


def test_the_table_of_a_site_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHCRAWL_MISSING_RUNS", "9")
    assert read().for_site({"missing_runs": 4}).missing_runs == 4


def test_other_settings_are_not_ours() -> None:
    settings = Settings({"BOT_NAME": "x", "FRESHCRAWLER": 1, "MY_FRESHCRAWL_X": 1})
    assert Config.from_settings(settings) == Config()


def test_every_field_has_a_setting_that_text_can_set() -> None:
    given = {f.name.upper(): str(f.default) for f in SETTINGS.values()}
    assert read(**given) == Config()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        *(("ENABLED", value, True) for value in (True, 1, "1", "true", "True", "YES", " on ")),
        *(("ENABLED", value, False) for value in (False, 0, "0", "false", "no", "OFF", "")),
        ("MAX_PAGES", "100", 100),
        ("MAX_PAGES", 100.0, 100),
        ("MAX_PAGES", "0", 0),
        ("GUARD_REMOVED_RATIO", "0.2", 0.2),
        ("GUARD_REMOVED_RATIO", 1, 1.0),
        ("CLOCK_OFFSET_SECS", "-3600", -3600.0),
        ("MAX_AGE_SECS", "6e5", 600_000.0),
        ("STATE_DIR", Path("/srv/state"), "/srv/state"),
        ("CONTACT", "mailto:docs@example.com", "mailto:docs@example.com"),
        ("CONTACT", "", ""),
    ],
)
def test_values(name: str, value: object, expected: object) -> None:
    config = read(**{name: value})
    found = getattr(config, name.lower())
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("MAX_PAGES", "many", "a whole number"),
        ("MAX_PAGES", "1.5", "a whole number"),
        ("MAX_PAGES", 1.5, "a whole number"),
        ("MAX_PAGES", None, "a whole number"),
        ("MAX_PAGES", True, "a whole number"),
        ("MAX_PAGES", [1], "a whole number"),
        ("MAX_PAGES", float("inf"), "a whole number"),
        ("MAX_PAGES", "", "a whole number"),
        ("MAX_AGE_SECS", "7 d", "a number"),
        ("MAX_AGE_SECS", "nan", "a number"),
        ("MAX_AGE_SECS", "inf", "a number"),
        ("MAX_AGE_SECS", None, "a number"),
        ("MAX_AGE_SECS", True, "a number"),
        ("MAX_AGE_SECS", {}, "a number"),
        ("GUARD_CHANGED_RATIO", "50 %", "a number"),
        ("ENABLED", "maybe", "true or false"),
        ("ENABLED", None, "true or false"),
        ("ENABLED", 2, "true or false"),
        ("CONTACT", None, "text"),
        ("CONTACT", ["a", "b"], "text"),
        ("SITES", {"a": 1}, "text"),
        ("STATE_DIR", 5, "text"),
        ("MAX_PAGES", "1\n2", "a whole number"),
    ],
)
def test_wrong_type(name: str, value: object, expected: str) -> None:
    assert message_of(**{name: value}) == f"{PREFIX}{name} is {value!r}: expected {expected}"


@pytest.mark.parametrize("name", ["MAX_AGE", "STATEDIR", "max_pages", "", "MAX_PAGES "])
def test_unknown_setting(name: str) -> None:
    assert message_of(**{name: 1}).startswith(f"unknown setting {PREFIX}{name}: ")


def test_unknown_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHCRAWL_MAX_PAGE", "5")
    assert "unknown setting FRESHCRAWL_MAX_PAGE:" in message_of()


NUMBERS = [f.name for f in SETTINGS.values() if type(f.default) in {int, float}]


@pytest.mark.parametrize("name", sorted(set(NUMBERS) - {"clock_offset_secs"}))
def test_negative(name: str) -> None:
    text = message_of(**{name.upper(): -1})
    assert text.startswith(f"{PREFIX}{name.upper()} is -1")
    assert text.endswith("it must not be negative")


@pytest.mark.parametrize(
    "name",
    [
        *("COMMIT_EVERY", "EMBED_BATCH", "GENERATIONS_KEPT", "GUARD_CONFIRM_RUNS", "MAX_AGE_SECS"),
        "MISSING_RUNS",
    ],
)
def test_zero_where_it_cannot_work(name: str) -> None:
    assert message_of(**{name: 0}) == f"{PREFIX}{name} must be at least 1"


@pytest.mark.parametrize(
    "name", ["GUARD_CHANGED_RATIO", "GUARD_FAILED_RATIO", "GUARD_REMOVED_RATIO"]
)
def test_percentages_are_no_shares(name: str) -> None:
    expected = "it must be a share that is at most 1: 0.1 is 10 %"
    assert message_of(**{name: 20}) == f"{PREFIX}{name} is 20: {expected}"
    assert read(**{name: 1})


@pytest.mark.parametrize(
    "intervals",
    [
        {"MIN_INTERVAL_SECS": 0},
        {"MIN_INTERVAL_SECS": 400_000},
        {"START_INTERVAL_SECS": 60},
        {"START_INTERVAL_SECS": 1e9},
        {"MAX_INTERVAL_SECS": 60},
        {"MIN_INTERVAL_SECS": 3, "START_INTERVAL_SECS": 2, "MAX_INTERVAL_SECS": 1},
    ],
)
def test_contradicting_intervals(intervals: dict[str, float]) -> None:
    text = message_of(**intervals)
    assert "MIN_INTERVAL_SECS <= FRESHCRAWL_START_INTERVAL_SECS" in text
    for value in intervals.values():
        assert f"{value:g}" in text


def test_a_fixed_interval() -> None:
    config = read(MIN_INTERVAL_SECS=60, START_INTERVAL_SECS=60, MAX_INTERVAL_SECS=60)
    assert config.start_interval_secs == 60.0


def test_an_empty_state_dir_is_not_the_project() -> None:
    assert "FRESHCRAWL_STATE_DIR is empty" in message_of(STATE_DIR="")


def test_environment_is_a_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHCRAWL_MAX_PAGES", "7")
    monkeypatch.setenv("FRESHCRAWL_CONTACT", "https://example.com/bot")
    assert read().max_pages == 7
    config = read(MAX_PAGES=9)
    assert (config.max_pages, config.contact) == (9, "https://example.com/bot")


def test_a_bad_environment_variable_that_a_setting_overrides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FRESHCRAWL_MAX_PAGES", "many")
    assert read(MAX_PAGES=9).max_pages == 9
    assert "'many'" in message_of()


def test_the_command_line_beats_the_project() -> None:
    settings = Settings()
    settings.set("FRESHCRAWL_MAX_PAGES", "3", priority="cmdline")
    settings.set("FRESHCRAWL_MAX_PAGES", 5, priority="project")
    assert Config.from_settings(settings).max_pages == 3


def problem_of(**settings: Any) -> str:
    try:
        read(**settings)
    except ConfigError as error:
        return str(error)
    return ""


@given(st.text(), st.sampled_from([f.name.upper() for f in SETTINGS.values()]))
def test_any_text_is_taken_or_refused_in_one_line(value: str, name: str) -> None:
    text = problem_of(**{name: value})
    assert len(text.splitlines()) <= 1
    assert not text or name in text


def test_paths_are_absolute_as_they_stand(outside: Path) -> None:
    assert read(STATE_DIR="/srv/state").state_path() == Path("/srv/state")
    assert read(SITES="/srv/sites.toml").sites_path() == Path("/srv/sites.toml")


def test_home_folder(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(outside))
    assert read(STATE_DIR="~/state").state_path() == outside / "state"
    with pytest.raises(ConfigError, match="no such home folder"):
        read(STATE_DIR="~nobody-of-that-name/state").state_path()


def test_relative_paths_need_a_project(outside: Path) -> None:
    with pytest.raises(ConfigError, match=r"^FRESHCRAWL_STATE_DIR=state is relative .* absolute"):
        read().state_path()
    with pytest.raises(ConfigError, match=r"^FRESHCRAWL_SITES is relative"):
        read(SITES="my.toml").sites_path()
    with pytest.raises(ConfigError, match=r"^this is relative"):
        project_folder("this")
    assert read().sites_path() is None


def test_relative_paths_start_at_scrapy_cfg(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (outside / "scrapy.cfg").write_text("[settings]\n")
    below = outside / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert read().state_path() == outside / "state"
    assert read(STATE_DIR="../data").state_path() == outside / "../data"
    assert read(SITES="my.toml").sites_path() == outside / "my.toml"
    assert read().sites_path() is None
    (outside / "sites.toml").write_text("")
    assert read().sites_path() == outside / "sites.toml"
