"""Which pages need a browser, and how it is started."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.misc import load_object

from freshcrawl.render import HANDLER, launch_options, playwright_settings, render_meta, shows
from freshcrawl.sites import SiteConfig

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://docs.example.com/"
PLAIN = SiteConfig(name="x", url=URL, wait_for="#main")
RENDERED = SiteConfig(name="x", url=URL, render="always")
WAITING = SiteConfig(name="x", url=URL, render="always", wait_for="#main")


def test_a_plain_site_needs_no_browser() -> None:
    assert playwright_settings(PLAIN) == {}
    assert render_meta(PLAIN) == {}


def test_a_rendered_site() -> None:
    settings = playwright_settings(RENDERED)
    assert settings["DOWNLOAD_HANDLERS"] == {"http": HANDLER, "https": HANDLER}
    assert settings["PLAYWRIGHT_LAUNCH_OPTIONS"] == launch_options()
    assert render_meta(RENDERED) == {"playwright": True}


def test_the_handler_exists() -> None:
    pytest.importorskip("scrapy_playwright")
    assert load_object(HANDLER).__name__ == "ScrapyPlaywrightDownloadHandler"


def test_a_page_is_read_once_it_shows_the_selector() -> None:
    pytest.importorskip("scrapy_playwright")
    first, second = render_meta(WAITING), render_meta(WAITING)
    (method,) = first["playwright_page_methods"]
    assert (method.method, method.args) == (shows, ("#main",))
    # a PageMethod keeps its result: two requests must not share one
    assert second["playwright_page_methods"][0] is not method


@pytest.mark.parametrize(("uid", "sandbox"), [(0, False), (1000, True)])
def test_the_sandbox_is_off_for_root_alone(
    monkeypatch: pytest.MonkeyPatch, uid: int, sandbox: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert ("--no-sandbox" not in launch_options()["args"]) is sandbox


def test_the_arguments_do_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert launch_options() == launch_options()


@pytest.mark.parametrize(
    ("programs", "found"),
    [
        ([], None),
        (["chromium"], "chromium"),
        (["chromium-browser"], "chromium-browser"),
        (["chromium-browser", "chromium"], "chromium"),
    ],
)
def test_the_system_s_own_chromium(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: list[str], found: str | None
) -> None:
    for name in programs:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    expected = str(tmp_path / found) if found else None
    assert launch_options().get("executable_path") == expected
