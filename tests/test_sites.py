"""Sites: from ``sites.toml`` or a table, with every mistake said in one line."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.config import Config, ConfigError
from freshcrawl.sites import CHOICES, SELECTORS, SiteConfig, checked_url, load_sites, make_site

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://docs.example.com/en/"


def message_of(table: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as caught:
        make_site(table, "sites.toml [sites.x]")
    text = str(caught.value)
    assert text.startswith("sites.toml [sites.x]: ")
    assert len(text.splitlines()) == 1
    return text


def test_a_url_is_enough() -> None:
    site = make_site({"url": URL}, "here")
    assert site == SiteConfig(name="docs.example.com-en", url=URL)
    assert site.scope.contains("http://www.docs.example.com/en/a.html")
    assert not site.scope.contains("https://docs.example.com/de/")
    assert not site.scope.contains("https://api.docs.example.com/en/")


def test_values_reach_scope_and_rules() -> None:
    table = {"url": URL, "subdomains": True, "keep_params": ["ref"], "drop_params": ["theme"]}
    site = make_site(table, "here")
    assert site.scope.contains("https://api.docs.example.com/en/")
    assert (site.rules.keep_params, site.rules.drop_params) == (("ref",), ("theme",))


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ({}, "key 'url' is missing"),
        ({"name": "x"}, "key 'url' is missing"),
        ({"url": ""}, "url = ''"),
        ({"url": 5}, "url = 5: expected a string"),
        ({"url": URL, "colour": "red"}, "unknown key 'colour'; known: absent, "),
        ({"url": URL, "scope": "x"}, "unknown key 'scope'"),
        ({"url": URL, "absent": "drop"}, "absent = 'drop': expected keep, hide, delete"),
        ({"url": URL, "render": True}, "render = True: expected never, always"),
        ({"url": URL, "robots": ["keep"]}, "robots = ['keep']: expected keep, hide"),
        ({"url": URL, "discovery": ""}, "discovery = ''"),
        ({"url": URL, "drop": ".nav"}, "drop = '.nav': expected a list of strings"),
        ({"url": URL, "keep": [1]}, "keep = [1]: expected a list of strings"),
        ({"url": URL, "keep": ["main", "div["]}, "keep: 'div[' is not a CSS selector"),
        ({"url": URL, "drop": [""]}, "drop: '' is not a CSS selector"),
        ({"url": URL, "drop": ["a::before"]}, "drop: 'a::before' is not a CSS selector"),
        ({"url": URL, "drop": ["a:nonsense"]}, "drop: 'a:nonsense' is not a CSS selector"),
        ({"url": URL, "subdomains": "yes"}, "subdomains = 'yes': expected true or false"),
        ({"url": URL, "subdomains": 1}, "subdomains = 1: expected true or false"),
        ({"url": URL, "wait_for": False}, "wait_for = False: expected a string"),
        ({"url": URL, "name": ""}, "name = ''"),
        ({"url": "docs.example.com"}, "expected something like https://docs.example.com/"),
        ({"url": "ftp://docs.example.com/"}, "not an http or https URL"),
        ({"url": "https://"}, "expected something like"),
        ({"url": "https://exa mple.com/"}, "expected something like"),
        ({"url": "https://docs.example.com:99999/"}, "expected something like"),
        ({"url": "https://[::1/"}, "expected something like"),
        ({"url": "a\nb"}, "expected something like"),
        ({"url": URL, "sitemaps": ["sitemap.xml"]}, "sitemaps: "),
        ({"url": URL, "sitemaps": [URL, ""]}, "sitemaps: "),
    ],
)
def test_tables_that_cannot_be_used(table: dict[str, Any], part: str) -> None:
    assert part in message_of(table)


@pytest.mark.parametrize(
    "url",
    [
        "https://me:hunter2@docs.example.com/",
        "ftp://me:hunter2@docs.example.com/",
        "https://me:hunter2@/",
        "https://hunter2@docs.example.com/",
        "https://me:hunter2@docs.example.com:99999/",
    ],
)
@pytest.mark.parametrize("name", ["url", "sitemaps"])
def test_a_password_is_neither_taken_nor_shown(name: str, url: str) -> None:
    text = message_of({"url": URL, name: [url] if name == "sitemaps" else url})
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (" https://docs.example.com/a b#top ", "https://docs.example.com/a%20b"),
        ("HTTPS://docs.example.com", "https://docs.example.com"),
        ("http://localhost:8000/x?y=1", "http://localhost:8000/x?y=1"),
    ],
)
def test_checked_url(url: str, expected: str) -> None:
    assert checked_url(url, "here") == expected
    assert checked_url(expected, "here") == expected


def site_values(name: str, default: object) -> st.SearchStrategy[Any]:
    if name in CHOICES:
        return st.sampled_from(CHOICES[name])
    if name == "sitemaps":
        return st.lists(st.sampled_from([URL + "a.xml", URL + "b.xml"])).map(tuple)
    if name in SELECTORS:
        return st.lists(st.sampled_from(["main", "div.body > p", "[role=main]"])).map(tuple)
    if isinstance(default, tuple):
        return st.lists(st.text(max_size=5), max_size=3).map(tuple)
    if isinstance(default, bool):
        return st.booleans()
    return st.just(URL) if name == "url" else st.text(min_size=1, max_size=5)


SITES = st.builds(
    SiteConfig, **{f.name: site_values(f.name, f.default) for f in fields(SiteConfig) if f.init}
)


@given(SITES)
def test_a_site_is_made_again_from_its_table(site: SiteConfig) -> None:
    again = make_site(site.to_json(), "state")
    assert again == site
    assert (again.scope, again.rules) == (site.scope, site.rules)


def test_a_stored_table_has_no_defaults() -> None:
    site = SiteConfig(name="x", url=URL, drop=(".nav",))
    assert site.to_json() == {"name": "x", "url": URL, "drop": [".nav"]}


def load(folder: Path, text: str | bytes) -> dict[str, SiteConfig]:
    path = folder / "my.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_sites(Config(sites=str(path)))


def test_sites_of_a_file(tmp_path: Path) -> None:
    sites = load(
        tmp_path,
        """
        [sites.mako]
        url = "https://docs.makotemplates.org/en/latest/"
        absent = "hide"
        sitemaps = ["https://docs.makotemplates.org/sitemap.xml"]

        [sites."lxml-5.0"]
        url = "https://lxml.de/"
        """,
    )
    assert list(sites) == ["mako", "lxml-5.0"]
    assert (sites["mako"].name, sites["mako"].absent) == ("mako", "hide")
    assert sites["mako"].sitemaps == ("https://docs.makotemplates.org/sitemap.xml",)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[sites]\n"])
def test_a_file_without_sites(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == {}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[sites.a", "not valid TOML"),
        (b"[sites.a]\nurl = '\xff'", "not valid TOML"),
        ("[sites.a]\nurl = 'https://a.example/'\n[sites.a]\n", "not valid TOML"),
        ("[site.a]\nurl = 'https://a.example/'", "unknown key 'site'"),
        ("url = 'https://a.example/'", "unknown key 'url'"),
        ("sites = 5", "sites are tables"),
        ("[[sites]]\nurl = 'https://a.example/'", "sites are tables"),
        ("[sites]\na = 'https://a.example/'", "my.toml [sites.a]: expected a table"),
        ("[sites.a]\n", "my.toml [sites.a]: key 'url' is missing"),
        ("[sites.a]\nname = 'b'\nurl = 'https://a.example/'", "[sites.a]: unknown key 'name'"),
        *(
            (f"[sites.'{name}']\nurl = 'https://a.example/'", "a name has letters")
            for name in ("..", ".", "", ".a", "a/b", "../a", "a b", "a\\b", "-", "a:b", "/tmp")
        ),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str | bytes, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert part in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read \(No such file"):
        load_sites(Config(sites=str(tmp_path / "none.toml")))
    with pytest.raises(ConfigError, match="cannot be read"):
        load_sites(Config(sites=str(tmp_path)))


def test_no_file_is_no_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_sites(Config()) == {}
