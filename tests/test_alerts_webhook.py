"""Settings of the webhook: what can be used, and what stops a run before it begins."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.alerts.webhook import webhook_of
from freshcrawl.config import Config, ConfigError
from freshcrawl.core.events import TYPES
from tests.support.origin import Origin, page
from tests.support.project import scrapy
from tests.support.receiver import SECRET

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://hooks.example.com/secret-path"


def webhook(**settings: Any) -> Any:
    return webhook_of(Config(**{"webhook_url": URL, "webhook_secret": SECRET, **settings}))


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("", set(TYPES)),
        ("run.*", {"run.completed", "run.held", "run.incomplete"}),
        ("page.gone, run.held\npage.moved", {"page.gone", "run.held", "page.moved"}),
    ],
)
def test_chosen_events(text: str, types: set[str]) -> None:
    assert webhook(webhook_events=text).types == types


def test_nothing_is_shown_of_what_is_secret() -> None:
    config = Config(webhook_url=URL, webhook_secret=SECRET)
    for shown in (repr(config), repr(webhook()), webhook().place):
        assert "secret-path" not in shown
        assert SECRET not in shown
    assert webhook().place == "https://hooks.example.com"
    assert webhook_of(Config(webhook_secret=SECRET)) is None


SHORT = "whsec_" + base64.b64encode(b"too short").decode()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"webhook_url": "hooks.example.com/secret-path"}, "WEBHOOK_URL is no URL"),
        ({"webhook_url": "ftp://hooks.example.com/secret-path"}, "WEBHOOK_URL is no URL"),
        ({"webhook_url": "https:///secret-path"}, "WEBHOOK_URL is no URL"),
        ({"webhook_url": "https://hooks.example.com:99999/secret-path"}, "WEBHOOK_URL is no URL"),
        ({"webhook_url": f"{URL} and more"}, "WEBHOOK_URL is no URL"),
        ({"webhook_url": f"{URL}\r\nX: y"}, "WEBHOOK_URL is no URL"),
        ({"webhook_url": "https://me:secret-path@example.com/"}, "has a user or password in it"),
        ({"webhook_secret": ""}, "put the secret that the receiver knows into the environment"),
        ({"webhook_secret": SHORT}, "expected whsec_ and 24 to 64 bytes in base64"),
        ({"webhook_secret": f"{SECRET} {SHORT}"}, "expected whsec_ and 24 to 64 bytes"),
        ({"webhook_secret": "whsec_not base64 at all!"}, "expected whsec_ and 24 to 64 bytes"),
        ({"webhook_events": "page.newer"}, "there is no event 'page.newer'; known: run.completed"),
        ({"webhook_timeout_secs": 0.0}, "FRESHCRAWL_WEBHOOK_TIMEOUT_SECS must be more than 0"),
    ],
)
def test_what_cannot_be_used(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        webhook(**settings)
    assert "\n" not in str(caught.value)
    for secret in ("secret-path", SECRET, SHORT):
        assert secret not in str(caught.value)


@pytest.mark.parametrize("name", ["webhook_batch", "webhook_attempts"])
def test_at_least_one(name: str) -> None:
    with pytest.raises(ConfigError, match=f"FRESHCRAWL_{name.upper()} must be at least 1"):
        Config(**{name: 0}).check()  # type: ignore[arg-type]


def test_run_ends_before_its_first_request(tmp_path: Path) -> None:
    with Origin() as origin:
        origin["/a"] = page("A", "text")
        crawl = ("crawl", "docs", "-a", f"url={origin.url}a")
        settings = {"FRESHCRAWL_WEBHOOK_URL": URL}
        done = scrapy(*crawl, state=tmp_path / "state", settings=settings)
        assert done.returncode == 2, done.stderr
        assert "FRESHCRAWL_WEBHOOK_SECRET is not: put the secret" in done.stderr
        assert "secret-path" not in done.stderr
        assert origin.paths() == []
