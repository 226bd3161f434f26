"""Headers and credentials: to the site alone, from the environment alone, stored nowhere."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import Request

from freshcrawl.arguments import SpiderArguments
from freshcrawl.config import Config, ConfigError
from freshcrawl.credentials import (
    SiteHeadersMiddleware,
    browser_credentials,
    expanded,
    site_headers,
    variable_problems,
)
from freshcrawl.site_tables import make_site
from freshcrawl.state import open_for_writing
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
    assert list(variable_problems(site)) == [
        ("headers", f"the environment variable {name} is not set")
    ]
    with pytest.raises(ConfigError, match=f"variable {name} is not set"):
        site_headers(site)


@pytest.mark.parametrize("value", ["a\nb", "pw\udce9", "a\tb"])
def test_a_variable_that_is_no_line_of_text(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD", value)
    site = make_site({"url": URL, "http_user": "me", "http_pass": "${ODD}"}, "test")
    [(key, problem)] = variable_problems(site)
    assert key == "http_pass"
    assert problem == "the environment variable ODD is not one line of text in UTF-8"


def test_the_line_end_of_a_secret_file_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCS_PASS", SECRET + "\n")
    site = make_site({"url": URL, "http_user": "me", "http_pass": "${DOCS_PASS}"}, "test")
    assert site_headers(site) == {"Authorization": BASIC}


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        (URL + "a", True),
        (URL + "robots.txt", True),
        ("https://DOCS.example.com:443/a", True),
        ("https://www.docs.example.com/a", False),
        ("http://docs.example.com/a", False),
        ("https://docs.example.com:80/a", False),
        ("http://docs.example.com:443/a", False),
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


def test_subdomains_get_none_though_they_belong_to_the_site() -> None:
    ours = middleware(subdomains=True, headers={"X-Team": "a"}, http_user="me")
    for url, sent in ((URL, True), ("https://api.docs.example.com/a", False)):
        request = Request(url)
        ours.process_request(request)
        assert ("X-Team" in request.headers, "Authorization" in request.headers) == (sent, sent)


def test_the_root_says_where_they_go_and_not_a_sitemap_elsewhere() -> None:
    ours = SiteHeadersMiddleware(
        make_site(
            {
                "url": "https://cdn.example.com/sitemap.xml",
                "root": "http://docs.example.com:8080/en/",
                "headers": {"X-Team": "a"},
            },
            "test",
        )
    )
    for url, sent in (
        ("http://docs.example.com:8080/robots.txt", True),
        ("http://docs.example.com/", False),
        ("https://docs.example.com:8080/", False),
        ("https://cdn.example.com/sitemap.xml", False),
    ):
        request = Request(url)
        ours.process_request(request)
        assert ("X-Team" in request.headers) is sent, url


@pytest.mark.parametrize(
    "value",
    [
        *("${A}", "Bearer ${A}", "bearer  ${A}", "Token token=${A}", "Key ${A}", "${A}.${B}"),
        *("token=${A}; b=${B}", 'Digest username="${A}", response="${B}"', "${A}${B}"),
    ],
)
def test_secrets_that_come_from_the_environment(value: str) -> None:
    for name in ("Authorization", "Cookie", "X-Signature", "CF-Access-Client-Id"):
        assert make_site({"url": URL, "headers": {name: value}}, "x").headers == {name: value}


@pytest.mark.parametrize(
    "value",
    [
        *("s3cretvalue ${A}", "${A} s3cretvalue", "Bearer s3cret${A}", "sid=s3cret; b=${A}"),
        *("Bearer s3cret", "s3cret", "$A", "${A}s3cret", "me:s3cret${A}"),
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "Cookie", "X-Api-Key", "X-Access", "X-Amz-Signature", "X-JWT"),
        *("X-CSRF", "Private-Token", "X-Pwd", "Signed-By"),
    ],
)
def test_secrets_that_are_written_out_are_refused_and_not_shown(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"headers: {name} may be secret") as caught:
        make_site({"url": URL, "headers": {name: value}}, "test")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("name", ["Accept-Language", "X-Team", "X-Signal", "X-Design"])
def test_other_headers_may_be_written_out(name: str) -> None:
    assert make_site({"url": URL, "headers": {name: "text"}}, "test").headers == {name: "text"}


@pytest.mark.parametrize(
    "table",
    [
        {"headers": {"X-Api-Key": "s3cret", "Retry": 3}},
        {"headers": {"X-Api-Key": ["s3cret"]}},
        {"headers": "X-Api-Key: s3cret"},
        {"headers": [{"X-Api-Key": "s3cret"}]},
        {"http_user": "me", "http_pass": ["s3cret"]},
        {"http_user": "me", "http_pass": "s3cret"},
        {"http_user": ["s3cret"]},
        {"url": ["https://a.example/?token=s3cret"]},
        {"url": "ftp://a.example/?token=s3cret"},
        {"url": "https://me:s3cret@a.example/"},
        {"urls": "https://a.example/?token=s3cret"},
        {"sitemaps": [["s3cret"]]},
        {"headers": {"X-Api-Key": "s3cret\n"}},
    ],
)
def test_no_error_shows_a_value_that_may_be_secret(table: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        make_site({"url": URL, **table}, "test")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("key", ["url", "root", "sitemaps", "urls"])
@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "apikey", "API-KEY", "token", "access_token", "accessToken", "key"),
        *("X-Amz-Signature", "sig", "auth", "password", "session_id", "client.secret"),
    ],
)
def test_a_secret_in_the_query_of_a_url_is_refused(key: str, name: str) -> None:
    url = f"{URL}page?a=1&{name}=s3cret"
    value = [url] if key in {"sitemaps", "urls"} else url
    with pytest.raises(ConfigError, match=f"the parameter '{name}' of the URL may be") as caught:
        make_site({"url": URL, key: value}, "test")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("query", ["?page=2", "?keyword=x", "?tokenizer=a", "?key=", "?signal=1"])
def test_other_queries_may_be_written_out(query: str) -> None:
    assert make_site({"url": URL + query}, "test").url == URL + query


@pytest.mark.parametrize(
    ("secrets", "kept"),
    [
        ({"http_user": "me", "http_pass": "${DOCS_PASS}"}, True),
        ({"headers": {"X-Team": "a"}}, True),
        ({}, False),
    ],
)
def test_a_stored_site_with_a_login_is_never_asked_in_clear(
    secrets: dict[str, Any], kept: bool, tmp_path: Path
) -> None:
    config = Config(state_dir=str(tmp_path))
    site = make_site({"url": URL, **secrets}, "test")
    state = open_for_writing(config, site.name, "test", 0.0)
    state.records.put("meta:site", site.to_json())
    state.records.commit()
    state.close()
    found = SpiderArguments(url=URL.replace("https", "http")).site_config(config)
    assert found.url == (URL if kept else URL.replace("https", "http"))
    upgraded = SpiderArguments(url=URL).site_config(config)
    assert upgraded.url == URL


def test_a_browser_logs_in_at_the_site_only() -> None:
    ours = middleware(render="always", http_user="me", http_pass="${DOCS_PASS}")
    request = Request(URL, meta={"playwright": True})
    ours.process_request(request)
    assert "Authorization" not in request.headers
    root = URL.replace("com/", "com:443/en/")
    site = make_site({"url": root, "http_user": "me", "http_pass": "${DOCS_PASS}"}, "test")
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
