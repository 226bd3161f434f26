"""What ``scrapy doctor`` says of packages, settings, state folder, model and browser."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from scrapy.settings import Settings

from freshcrawl.config import Config, ConfigError
from freshcrawl.doctor import Check, Level, attempt, conclusion, exit_code, fail, of_site, ok, warn
from freshcrawl.doctor.configuration import (
    ADDON,
    setting_checks,
    settings_check,
    sites_check,
    targets,
)
from freshcrawl.doctor.machine import (
    LEAST_FREE,
    browser_check,
    model_check,
    state_folder_checks,
)
from freshcrawl.doctor.packages import (
    BROWSER,
    MODEL,
    ONNX,
    REQUIREMENTS,
    WEIGHTS,
    package_checks,
    python_check,
    unused_packages,
)
from freshcrawl.render import launch_options
from freshcrawl.site_tables import make_site
from freshcrawl.stores.base import StoreError
from tests.support.embedder import HashEmbedder
from tests.support.runs import MODEL as HASH

if TYPE_CHECKING:
    from collections.abc import Callable

REPO = Path(__file__).resolve().parents[1]
PUBLIC = make_site({"url": "https://docs.example.com/"}, "test")
LOCAL = make_site({"url": "http://127.0.0.1:8000/"}, "test")
GOOD = {"ADDONS": {ADDON: 500}, "ROBOTSTXT_OBEY": True}


def levels(checks: list[Check]) -> list[str]:
    return [str(check.level) for check in checks]


@pytest.mark.parametrize(
    ("checks", "code", "words"),
    [
        ([], 0, "0 checks: no problem"),
        ([ok("a", "b")], 0, "1 check: no problem"),
        ([ok("a", "b"), warn("a", "b", "c")], 0, "2 checks: 1 warning"),
        ([warn("a", "b", "c"), warn("a", "b", "c")], 0, "2 checks: 2 warnings"),
        ([fail("a", "b", "c"), fail("d", "b", "c")], 1, "2 checks: 2 failed"),
        ([fail("settings", "b", "c"), warn("a", "b", "c")], 2, "2 checks: 1 failed, 1 warning"),
        ([fail("a", "b", "c"), fail("sites.toml", "b", "c")], 2, "2 checks: 2 failed"),
        ([warn("settings", "b", "c")], 0, "1 check: 1 warning"),
    ],
)
def test_checks_add_up_to_an_exit_code(checks: list[Check], code: int, words: str) -> None:
    assert exit_code(checks) == code
    assert conclusion(checks) == words


def test_a_check_for_reading_and_as_json() -> None:
    [check] = of_site("docs", [warn("text", "hardly any", "render it")])
    assert check.lines() == ["warn text        docs: hardly any", " " * 17 + "render it"]
    assert list(check.to_json()) == ["name", "site", "level", "what", "advice"]
    assert check.to_json()["level"] == "warn"
    assert len(ok("text", "much").lines()) == 1


@pytest.mark.parametrize(
    ("error", "name", "words"),
    [
        (StoreError("damaged; put a backup in its place"), "files", "damaged; put a backup"),
        (OSError(13, "Permission denied", "/x"), "files", "Permission denied"),
        (ConfigError("no such class"), "settings", "no such class"),
        (ZeroDivisionError("of\ntwo lines"), "files", "ZeroDivisionError: of"),
    ],
)
def test_what_a_check_raises_is_a_failed_check(error: Exception, name: str, words: str) -> None:
    def work() -> list[Check]:
        raise error

    [check] = attempt("files", work)
    assert (check.name, check.level) == (name, Level.FAIL)
    assert words in check.what
    assert "\n" not in check.what


def test_requirements_are_those_of_the_files() -> None:
    files = (REPO / name for name in ("requirements.txt", "requirements-onnx.txt"))
    lines = [line for path in files for line in path.read_text("utf-8").splitlines()]
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert {r.name: r.specifier for r in wanted} == {
        name: Requirement(name + text).specifier for name, text in REQUIREMENTS.items()
    }


def test_python_is_the_one_of_the_project() -> None:
    assert 'requires-python = ">=3.11"' in (REPO / "pyproject.toml").read_text("utf-8")
    assert python_check((3, 10)).level == Level.FAIL
    assert python_check((3, 11)).level == Level.OK
    assert python_check(sys.version_info[:2]).level == Level.OK


@pytest.mark.parametrize(
    ("changes", "unused", "found"),
    [
        ({}, frozenset(), []),
        ({"torch": "2.13.0+cpu"}, frozenset(), []),
        ({"torch": "2.14.0"}, frozenset(), ["warn torch 2.14.0 is not within ==2.13.0"]),
        ({"scrapy": "2.17.3"}, frozenset(), ["warn scrapy 2.17.3 is not within >=2.18,<3"]),
        ({"scrapy": "2.19.0rc1"}, frozenset(), []),
        ({"scrapy-playwright": ""}, frozenset(), ["fail scrapy-playwright is not installed"]),
        ({"scrapy-playwright": ""}, BROWSER, []),
        ({"faiss-cpu": "", "torch": ""}, MODEL, ["fail faiss-cpu is not installed"]),
    ],
)
def test_packages(changes: dict[str, str], unused: frozenset[str], found: list[str]) -> None:
    oldest = {name: text.partition(",")[0].strip(">=") for name, text in REQUIREMENTS.items()}
    installed = {**oldest, **changes}
    checks = package_checks(unused, installed.__getitem__)
    wrong = [f"{check.level} {check.what}" for check in checks if check.level != Level.OK]
    assert wrong == found
    assert all(("pip install" in check.advice) == bool(found) for check in checks)


@pytest.mark.parametrize(
    ("settings", "site", "unused"),
    [
        ({}, {}, BROWSER | ONNX),
        ({}, {"render": "always"}, ONNX),
        ({"embed_backend": "onnx"}, {"render": "always"}, frozenset()),
        ({"embed_model": "some/model"}, {}, BROWSER | ONNX | WEIGHTS),
        ({"embed_apart": True}, {}, BROWSER | MODEL | ONNX | WEIGHTS),
        ({"embedder_class": HASH}, {}, BROWSER | MODEL | ONNX | WEIGHTS),
    ],
)
def test_packages_count_only_where_they_are_used(
    settings: dict[str, Any], site: dict[str, Any], unused: frozenset[str]
) -> None:
    sites = [PUBLIC, make_site({"url": "https://app.example.com/", **site}, "test")]
    assert unused_packages(Config(**settings), sites) == unused


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"FRESHCRAWL_COLOUR": "red"}, "unknown setting FRESHCRAWL_COLOUR"),
        ({"FRESHCRAWL_MISSING_RUNS": "many"}, "expected a whole number"),
        ({"FRESHCRAWL_WEBHOOK_URL": "https://a.example/"}, "FRESHCRAWL_WEBHOOK_SECRET is not"),
    ],
)
def test_settings_that_cannot_be_used(settings: dict[str, Any], words: str) -> None:
    check, config = settings_check(Settings(settings))
    assert (check.name, check.level, config) == ("settings", Level.FAIL, None)
    assert words in check.what


@pytest.mark.parametrize(
    ("settings", "config", "env", "words"),
    [
        ({}, {}, {}, []),
        ({"JOBDIR": "jobs"}, {}, {}, ["JOBDIR is set"]),
        ({"HTTPCACHE_ENABLED": "1"}, {}, {}, ["HTTPCACHE_ENABLED is set"]),
        ({"ROBOTSTXT_OBEY": False}, {}, {}, ["ROBOTSTXT_OBEY is off"]),
        ({"ADDONS": {}}, {}, {}, ["the add-on is not in ADDONS"]),
        ({"ADDONS": {ADDON: None}}, {}, {}, ["the add-on is not in ADDONS"]),
        ({}, {"enabled": False}, {}, ["FRESHCRAWL_ENABLED is false"]),
        ({}, {"contact": ""}, {}, ["FRESHCRAWL_CONTACT is empty"]),
        (
            {"FRESHCRAWL_MISSING_RUNS": 5},
            {},
            {"FRESHCRAWL_MISSING_RUNS": "4", "FRESHCRAWL_CONTACT": "me", "OTHER": "1"},
            ["FRESHCRAWL_MISSING_RUNS of the environment is not used"],
        ),
        ({"FRESHCRAWL_MISSING_RUNS": 5}, {}, {"FRESHCRAWL_MISSING_RUNS": "5"}, []),
        (
            {},
            {"simhash_max_bits": 3},
            {},
            ["FRESHCRAWL_SIMHASH_MAX_BITS lets long pages differ in 3"],
        ),
        *(
            ({}, {f"guard_{name}_ratio": 1.0}, {}, [f"FRESHCRAWL_GUARD_{name.upper()}_RATIO is 1"])
            for name in ("removed", "changed", "failed")
        ),
    ],
)
def test_settings_that_will_not_do_what_is_wanted(
    settings: dict[str, Any], config: dict[str, Any], env: dict[str, str], words: list[str]
) -> None:
    usable = Config(**{"contact": "me@example.com", **config})
    checks = setting_checks(Settings({**GOOD, **settings}), usable, [PUBLIC, LOCAL], env)
    assert levels(checks) == ["warn"] * len(words)
    assert all(part in check.what for part, check in zip(words, checks, strict=True))
    assert all(check.advice for check in checks)


def test_no_contact_is_needed_for_loopback() -> None:
    assert setting_checks(Settings(GOOD), Config(), [LOCAL], {}) == []


def test_a_guard_that_one_site_lifts_is_warned_of() -> None:
    table = {"url": "http://127.0.0.1/docs/", "name": "x", "guard_removed_ratio": 1}
    [check] = setting_checks(Settings(GOOD), Config(), [make_site(table, "")], {})
    assert check.what.startswith("guard_removed_ratio of site x is 1: no removal is held")


def test_a_tolerance_of_one_site_is_warned_of() -> None:
    tolerant = make_site({"url": "http://127.0.0.1/docs/", "name": "x", "simhash_max_bits": 2}, "")
    [check] = setting_checks(Settings(GOOD), Config(), [LOCAL, tolerant], {})
    assert check.what.startswith("simhash_max_bits of site x lets long pages differ in 2 bits")


def test_a_site_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "sites.toml").write_text("[sites.a]\nurl = ")
    config = Config(sites=str(tmp_path / "sites.toml"), state_dir=str(tmp_path / "state"))
    check = sites_check(config)
    assert (check.name, check.level) == ("sites.toml", Level.FAIL)
    assert "not valid TOML" in check.what


def test_which_sites_are_meant(tmp_path: Path) -> None:
    (tmp_path / "sites.toml").write_text('[sites.a]\nurl = "https://docs.example.com/a/"')
    (tmp_path / "state/b").mkdir(parents=True)
    (tmp_path / "state/b/records.sqlite").write_text("no database")
    config = Config(sites=str(tmp_path / "sites.toml"), state_dir=str(tmp_path / "state"))

    def meant(*urls: str, name: str = "") -> dict[str, str]:
        found, wrong = targets(config, urls, name)
        assert wrong == []
        return {each.name: each.site.url if each.site else "" for each in found}

    page, new = "https://docs.example.com/a/page.html", "https://new.example.com/"
    assert meant() == {"a": "https://docs.example.com/a/", "b": ""}
    assert meant(name="b") == {"b": ""}
    assert meant(page) == {"a": "https://docs.example.com/a/"}
    assert meant(new, page, new) == {
        "new.example.com": new,
        "a": "https://docs.example.com/a/",
    }
    with pytest.raises(ConfigError, match="unknown site 'c'; known: a, b"):
        targets(config, [], "c")


def test_state_folder_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    checks = state_folder_checks(tmp_path / "a/state")
    assert levels(checks) == ["ok", "ok"]
    assert "will be made" in checks[0].what
    assert list(tmp_path.iterdir()) == []


def test_state_folder_is_written_and_left_as_it_was(tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    checks = state_folder_checks(tmp_path, free=LEAST_FREE)
    assert levels(checks) == ["ok", "ok"]
    assert "locks work" in checks[0].what
    assert sorted(tmp_path.iterdir()) == before


def test_state_folder_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    [check] = state_folder_checks(tmp_path / "file/state")
    assert check.level == Level.FAIL
    assert f"{tmp_path / 'file'} is not a folder" in check.what


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_state_folder_of_somebody_else(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert levels(state_folder_checks(tmp_path)) == ["fail"]
    assert levels(state_folder_checks(tmp_path / "state")) == ["fail"]


def test_state_folder_on_a_full_disk(tmp_path: Path) -> None:
    [_, check] = state_folder_checks(tmp_path, free=LEAST_FREE - 1)
    assert (check.name, check.level) == ("disk", Level.WARN)
    assert "1000 MB are free" in check.what


@pytest.mark.parametrize(
    ("flock", "words"),
    [(lambda file, how: None, "not kept out"), (OSError(37, "No locks available"), "No locks")],
    ids=["without effect", "refused"],
)
def test_state_folder_where_locks_do_not_work(
    flock: Callable[..., None] | OSError, words: str, tmp_path: Path, monkeypatch: Any
) -> None:
    """As on some network file systems."""

    def refused(file: object, how: int) -> None:
        assert isinstance(flock, OSError)
        raise flock

    monkeypatch.setattr(fcntl, "flock", refused if isinstance(flock, OSError) else flock)
    check = state_folder_checks(tmp_path)[0]
    assert check.level == Level.FAIL
    assert words in check.what
    assert list(tmp_path.iterdir()) == []


def test_model_is_used_unless_it_is_left_out() -> None:
    model = HashEmbedder()
    assert "64 dimensions" in model_check(model, load=True).what
    assert "not loaded" in model_check(model, load=False).what
    model.dimension = 65
    model.encode = lambda texts: HashEmbedder().encode(texts)  # type: ignore[method-assign]
    check = model_check(model, load=True)
    assert check.level == Level.FAIL
    assert "vectors of 64 numbers, not 65" in check.what


@pytest.mark.chromium
@pytest.mark.skipif("executable_path" not in launch_options(), reason="chromium is not installed")
def test_browser_that_is_there_shows_a_page() -> None:
    check = browser_check()
    assert check.level == Level.OK, check
    assert "Chromium 1" in check.what


@pytest.mark.chromium
def test_browser_that_is_not_there(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    check = browser_check()
    assert check.level == Level.FAIL
    assert "playwright install chromium" in check.advice
    assert "\n" not in check.what
