"""Sites made from tables of values; every mistake is said in one line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.config import Config, ConfigError
from freshcrawl.core.evidence import SITE_POLICIES
from freshcrawl.site_tables import CHOICES, KEYS, URLS, checked_url, make_site
from freshcrawl.sites import POLICIES, RULES, SiteConfig

HOST = "https://docs.example.com/"
URL = HOST + "en/"


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
        ({"url": ""}, "url: expected a string"),
        ({"url": 5}, "url: expected a string"),
        ({"url": URL, "colour": "red"}, "unknown key 'colour'; known: absent, "),
        ({"url": URL, "sitemap": "x"}, "unknown key 'sitemap'; did you mean 'sitemaps'?"),
        ({"url": URL, "policies": {}}, "unknown key 'policies'"),
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
        ({"url": "docs.example.com"}, "did you mean https://docs.example.com or http://"),
        ({"url": "ftp://docs.example.com/"}, "not an http or https URL"),
        ({"url": "https://"}, "expected something like"),
        ({"url": "https://exa mple.com/"}, "expected something like"),
        ({"url": "https://docs.example.com:99999/"}, "expected something like"),
        ({"url": "https://[::1/"}, "expected something like"),
        ({"url": "a\nb"}, "expected something like"),
        ({"url": URL, "sitemaps": ["sitemap.xml"]}, "sitemaps: "),
        ({"url": URL, "sitemaps": [URL, ""]}, "sitemaps: "),
        ({"url": URL, "allow": ["("]}, "allow: '(' is not a regular expression"),
        ({"url": URL, "deny": ["*.txt"]}, "deny: '*.txt' is not a regular expression"),
        ({"url": URL, "deny": [""]}, "deny: '' matches everywhere"),
        ({"url": URL, "volatile_patterns": [r"\d*"]}, "matches everywhere"),
        ({"url": URL, "expected_heading": "(Part"}, "expected_heading: '(Part' is not a regular"),
        ({"url": URL, "expected_heading": ".*"}, "matches everywhere"),
        ({"url": URL, "expected_heading": ["Part"]}, "expected a string"),
        ({"url": URL, "missing_runs": "3"}, "missing_runs = '3': expected a number, without"),
        ({"url": URL, "missing_runs": 2.5}, "missing_runs is 2.5: expected a whole number"),
        ({"url": URL, "missing_runs": True}, "missing_runs is True: expected a whole number"),
        ({"url": URL, "missing_runs": 0}, "missing_runs = 0: expected a number that is at least 1"),
        ({"url": URL, "max_pages": -5}, "max_pages = -5: expected a number that is not negative"),
        ({"url": URL, "guard_removed_ratio": "x"}, "guard_removed_ratio = 'x': expected a number"),
        *(
            (
                {"url": URL, f"guard_{name}_ratio": 10},
                "= 10: expected a share that is at most 1: 0.1",
            )
            for name in ("removed", "changed", "failed")
        ),
        ({"url": URL, "guard_confirm_runs": 0}, "expected a number that is at least 1"),
        ({"url": URL, "headers": ["X"]}, "headers: expected a table of strings"),
        ({"url": URL, "headers": {"X": 1}}, "headers: the value of X must be a string"),
        ({"url": URL, "headers": {"a b": "x"}}, "headers: 'a b' is not the name of a header"),
        ({"url": URL, "headers": {"If-None-Match": "x"}}, "If-None-Match is set by freshcrawl"),
        ({"url": URL, "headers": {"X": "a\r\nY: b"}}, "the value of X must be one line"),
        # contradictions
        ({"url": URL, "urls": [URL], "discovery": "auto"}, "urls has no effect: discovery is"),
        ({"url": URL, "discovery": "list"}, "discovery = 'list' needs urls"),
        ({"url": URL, "discovery": "links", "sitemaps": [URL + "a.xml"]}, "sitemaps has no effect"),
        ({"url": URL, "wait_for": "main"}, "wait_for has no effect: render is 'never'"),
        ({"url": URL, "http_pass": "${X}"}, "http_pass has no effect: http_user is not given"),
        (
            {"url": URL, "http_user": "me", "headers": {"authorization": "${X}"}},
            "give http_user or a header Authorization, not both",
        ),
        (
            {"url": URL, "render": "always", "headers": {"X-Token": "${X}"}},
            "headers: X-Token cannot be kept from other hosts",
        ),
        ({"url": URL, "keep_params": ["a"], "drop_params": ["a"]}, "'a' is in keep_params and in"),
        (
            {"url": URL, "urls": [URL + "a", "https://x.test/"]},
            "urls: https://x.test/ is not below",
        ),
        ({"url": URL, "urls": [URL + "a"], "deny": ["/a"]}, "is kept out by allow or deny"),
        ({"urls": ["https://a.test/x", "https://b.test/x"]}, "urls are of several hosts"),
        (
            {"url": "https://docs.example.com/", "root": URL},
            "root: https://docs.example.com/ is not",
        ),
    ],
)
def test_tables_that_cannot_be_used(table: dict[str, Any], part: str) -> None:
    assert part in message_of(table)


@pytest.mark.parametrize(
    "table",
    [
        {"http_user": "me", "http_pass": "hunter2"},
        {"http_user": "me", "http_pass": "${X}hunter2"},
        {"headers": {"Authorization": "Bearer hunter2"}},
        {"headers": {"x-api-key": "hunter2"}},
        {"headers": {"Cookie": "session=hunter2"}},
    ],
)
def test_a_secret_that_is_written_out_is_neither_taken_nor_shown(table: dict[str, Any]) -> None:
    text = message_of({"url": URL, **table})
    assert "expected an environment variable, such as" in text
    assert "hunter2" not in text


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
@pytest.mark.parametrize("name", ["url", "root", "sitemaps", "urls"])
def test_a_password_is_neither_taken_nor_shown(name: str, url: str) -> None:
    text = message_of({"url": URL, name: [url] if name in URLS else url})
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
    assert checked_url(url) == expected
    assert checked_url(expected) == expected


STRINGS = st.lists(st.text(max_size=5), max_size=3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "url": st.just(URL),
    "root": st.sampled_from(["https://docs.example.com/", URL]),
    "allow": st.just(["/en/"]),
    "deny": st.lists(st.sampled_from([r"/_modules/", r"\.txt$"])),
    "expected_heading": st.sampled_from(["", r"^Part \d", "Example Docs"]),
    "volatile_patterns": st.lists(st.sampled_from([r"\d\d:\d\d", "Built on .*"])),
    "headers": st.dictionaries(
        st.sampled_from(["X-Team", "Accept"]), st.sampled_from(["a", "${A}"])
    ),
    "http_user": st.sampled_from(["me", "${DOCS_USER}"]),
    "keep": st.lists(st.sampled_from(["main", "div.body > p", "[role=main]"])),
    "drop": st.lists(st.sampled_from([".nav"])),
    "keep_params": STRINGS,
    "drop_params": st.just(["theme"]),
    "missing_runs": st.integers(1, 9),
    "guard_removed_ratio": st.sampled_from([0, 0.2, 1]),
    "max_age_secs": st.sampled_from([3600, 7200.5]),
    **{name: st.booleans() for name in (*RULES, "subdomains")},
    **{name: st.sampled_from(CHOICES[name]) for name in SITE_POLICIES},
}
WAYS: list[dict[str, Any]] = [
    {},
    {"discovery": "links"},
    {"discovery": "list", "urls": [URL + "a", URL + "b"]},
    {"discovery": "sitemap", "sitemaps": [URL + "a.xml"]},
    {"render": "always", "wait_for": "main", "headers": {}},
    {"http_user": "me", "http_pass": "${DOCS_PASS}"},
]


@given(st.fixed_dictionaries({}, optional=VALUES), st.sampled_from(WAYS))
def test_a_site_is_made_again_from_its_table(values: dict[str, Any], way: dict[str, Any]) -> None:
    assert {*VALUES, *(key for table in WAYS for key in table)} >= {*KEYS} - {*POLICIES}
    site = make_site({"url": URL, **values, **way}, "here")
    again = make_site(site.to_json(), "state")
    assert again == site
    assert (again.scope, again.rules) == (site.scope, site.rules)


def test_a_stored_table_has_no_defaults() -> None:
    site = SiteConfig(name="x", url=URL, drop=(".nav",), policies={"missing_runs": 5})
    assert site.to_json() == {"name": "x", "url": URL, "drop": [".nav"], "missing_runs": 5}


@pytest.mark.parametrize(
    ("table", "url", "key"),
    [
        ({"allow": ["/guide/"]}, URL + "guide/a.html", "docs.example.com/en/guide/a.html"),
        ({"allow": ["/guide/"]}, URL + "api/a.html", None),
        ({"allow": ["/guide/", "/api/"]}, URL + "api/", "docs.example.com/en/api"),
        ({"deny": ["/api/"]}, URL + "api/a.html", None),
        ({"allow": ["/en/"], "deny": [r"\.txt$"]}, URL + "a.txt", None),
        ({"deny": [r"\?"]}, URL + "a?page=2", None),
        ({"root": HOST}, HOST + "de/", "docs.example.com/de"),
        ({"url": URL + "v2/x.html", "root": URL + "v2/"}, URL + "v1/", None),
        ({"url": HOST + "map.xml", "root": URL}, HOST + "x", None),
        ({"urls": [URL + "a/"]}, "http://www.docs.example.com/en/a/#x", "docs.example.com/en/a"),
        ({"urls": [URL + "a/", URL + "b"]}, URL + "c", None),
        ({"drop_index": False}, URL + "index.html", "docs.example.com/en/index.html"),
        ({"drop_trailing_slash": False}, URL + "a/", "docs.example.com/en/a/"),
        ({"drop_tracking": False}, URL + "a?utm_source=x", "docs.example.com/en/a?utm_source=x"),
        ({"sort_query": False}, URL + "a?b=1&a=2", "docs.example.com/en/a?b=1&a=2"),
        ({"drop_www": False}, "https://www.docs.example.com/en/a", "www.docs.example.com/en/a"),
        ({}, URL + "a" * 2_000, None),
        ({}, "mailto:docs@example.com", None),
    ],
)  # fmt: skip
def test_which_page_of_the_site_a_url_is(table: dict[str, Any], url: str, key: str | None) -> None:
    assert make_site({"url": URL, **table}, "here").key_of(url) == key


@pytest.mark.parametrize(
    ("urls", "root"),
    [
        (["https://x.test/a/1.html", "https://x.test/a/b/2.html"], "https://x.test/a/"),
        (["https://x.test/1", "https://x.test/2"], "https://x.test/"),
        (["https://x.test/a/1.html"], "https://x.test/a/"),
    ],
)
def test_approved_pages_tell_the_root(urls: list[str], root: str) -> None:
    site = make_site({"urls": urls}, "here")
    assert (site.url, site.discovery) == (root, "list")
    assert all(site.key_of(url) for url in urls)


def test_settings_of_a_site_take_the_place_of_those_of_the_project() -> None:
    site = make_site({"url": URL, "missing_runs": 7, "max_age_secs": 3_600}, "here")
    config = Config(missing_runs=2, guard_removed_min=9).for_site(site.policies)
    assert (config.missing_runs, config.max_age_secs, config.guard_removed_min) == (7, 3_600, 9)
