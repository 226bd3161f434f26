"""Headers and credentials: to the site alone, from the environment alone, stored nowhere."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import Request

from freshcrawl.config import ConfigError
from freshcrawl.credentials import (
    SiteHeadersMiddleware,
    browser_credentials,
    expanded,
    missing_variables,
    site_headers,
)
from freshcrawl.site_tables import make_site
from tests.support.origin import Answer, Origin, page, urlset
from tests.support.project import export, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

URL = "https://docs.example.com/"
SECRET = "hunter2-\u00e9-swordfish"
BASIC = "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCS_PASS", SECRET)
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("UNSET", raising=False)


def middleware(**table: Any) -> SiteHeadersMiddleware:
    return SiteHeadersMiddleware(make_site({"url": URL, **table}, "test"))


def test_values_come_from_the_environment() -> None:
    table = {"url": URL, "http_user": "me", "http_pass": "${DOCS_PASS}", "headers": {"X-Team": "a"}}
    assert site_headers(make_site(table, "test")) == {"X-Team": "a", "Authorization": BASIC}
    assert expanded("Bearer ${DOCS_PASS}!") == f"Bearer {SECRET}!"
    assert expanded("$DOCS_PASS {x} $") == "$DOCS_PASS {x} $"


@pytest.mark.parametrize("name", ["UNSET", "EMPTY"])
def test_a_variable_that_is_not_set(name: str) -> None:
    site = make_site({"url": URL, "headers": {"X-Token": f"${{{name}}}"}}, "test")
    assert list(missing_variables(site)) == [("headers", name)]
    with pytest.raises(ConfigError, match=f"variable {name} is not set"):
        site_headers(site)


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        (URL + "a", True),
        (URL + "robots.txt", True),
        ("https://www.docs.example.com/a", True),
        ("http://docs.example.com/a", False),
        ("https://docs.example.com:8443/a", False),
        ("https://api.docs.example.com/a", False),
        ("https://docs.example.com.evil.test/a", False),
        ("https://evil.test/docs.example.com", False),
        ("https://docs.example.com@evil.test/", False),
    ],
)
def test_only_requests_to_the_site_carry_them(url: str, sent: bool) -> None:
    ours = middleware(http_user="me", http_pass="${DOCS_PASS}", headers={"X-Token": "${DOCS_PASS}"})
    # As a redirect leaves it: the headers of the request before.
    request = Request(url, headers={"Authorization": BASIC, "X-Token": SECRET})
    ours.process_request(request)
    assert ("Authorization" in request.headers, "X-Token" in request.headers) == (sent, sent)


def test_subdomains_get_them_where_they_belong_to_the_site() -> None:
    ours = middleware(subdomains=True, headers={"X-Team": "a"})
    request = Request("https://api.docs.example.com/a")
    ours.process_request(request)
    assert request.headers["X-Team"] == b"a"


def test_a_browser_logs_in_at_the_site_only() -> None:
    ours = middleware(render="always", http_user="me", http_pass="${DOCS_PASS}")
    request = Request(URL, meta={"playwright": True})
    ours.process_request(request)
    assert "Authorization" not in request.headers
    site = make_site({"url": URL + "en/", "http_user": "me", "http_pass": "${DOCS_PASS}"}, "test")
    assert browser_credentials(site)["http_credentials"] == {
        "username": "me",
        "password": SECRET,
        "origin": "https://docs.example.com",
    }


TOML = """
[sites.closed]
url = "{url}"
sitemaps = ["{url}sitemap.xml", "{other}sitemap.xml"]
http_user = "me"
http_pass = "${{DOCS_PASS}}"

[sites.closed.headers]
X-Team = "docs"
X-Api-Key = "${{DOCS_PASS}}"
"""


def closed(origin: Origin, path: str) -> Callable[[], Answer]:
    """Return what answers 401 without the credentials."""
    text = origin.answers[path]

    def answer() -> Answer:
        headers = origin.current
        allowed = headers.get("Authorization") == BASIC
        assert isinstance(text, Answer)
        return text if allowed else Answer("who are you?", 401)

    return answer


def test_a_site_behind_a_login_is_crawled_and_the_secret_is_stored_nowhere(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites, log = tmp_path / "sites.toml", tmp_path / "log"
    settings = {"FRESHCRAWL_SITES": sites, "LOG_FILE": log, "LOG_LEVEL": "DEBUG"}
    crawl = ("crawl", "docs", "-a", "site=closed")
    with Origin() as origin, Origin() as other:
        sites.write_text(TOML.format(url=origin.url, other=other.url))
        origin["/a"] = page("A", "the text of a")
        origin.serve_sitemap("/a")
        for path in list(origin.answers):
            origin.answers[path] = closed(origin, path)
        other["/sitemap.xml"] = Answer(urlset(f"<url><loc>{origin.url}a</loc></url>"))
        monkeypatch.delenv("DOCS_PASS")
        result = scrapy(*crawl, state=state, settings=settings)
        assert result.returncode == 2
        assert f"{sites}:8: [sites.closed] headers: the environment variable DOCS_PASS is not" in (
            result.stderr
        )
        assert origin.paths() == []
        assert not state.exists()
        monkeypatch.setenv("DOCS_PASS", SECRET)
        result = scrapy(*crawl, state=state, settings=settings)
        assert result.returncode == 0, log.read_text()[-2000:]
        assert {asked.headers.get("X-Api-Key") for asked in other.asked} == {None}
        assert {asked.headers.get("Authorization") for asked in other.asked} == {None}
        assert {asked.headers.get("X-Team") for asked in origin.asked} == {"docs"}
        assert {asked.status for asked in origin.asked if asked.path == "/a"} == {200}
    assert [row["text"] for row in export(state)] == ["the text of a"]
    secrets = {SECRET.encode(), BASIC.encode(), BASIC[6:].encode()}
    for file in [log, *(found for found in state.rglob("*") if found.is_file())]:
        assert not any(secret in file.read_bytes() for secret in secrets), file
