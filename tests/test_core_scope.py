"""What belongs to a site, and the name of its folder."""

from __future__ import annotations

import re

import pytest

from freshcrawl.core.scope import Scope, slug


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        ("https://docs.example.com", "/"),
        ("https://docs.example.com/en/", "/en/"),
        ("https://docs.example.com/en/intro.html", "/en/"),
        ("https://docs.example.com/en/sitemap.xml", "/en/"),
        ("https://docs.example.com/sitemap.xml.gz", "/"),
        ("https://docs.example.com/docs", "/docs/"),
        ("https://docs.example.com/docs?x=1.html#a.b", "/docs/"),
        ("https://docs.example.com/en/2.0", "/en/2.0/"),
        ("https://docs.example.com/v1.2/", "/v1.2/"),
        ("https://docs.example.com/a/../en", "/en/"),
    ],
)
def test_scope_prefix(url: str, prefix: str) -> None:
    scope = Scope.from_url(url)
    assert (scope.host, scope.prefix) == ("docs.example.com", prefix)
    assert scope.root == "https://docs.example.com" + prefix
    assert scope.contains(url)


def test_scope_root_keeps_the_form_of_the_host() -> None:
    assert Scope.from_url("http://me:pw@www.x.test:8080/en").root == "http://www.x.test:8080/en/"


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("https://x.test/en/", True),
        ("https://x.test/en", True),
        ("http://www.x.test:80/en/a?b#c", True),
        ("https://x.test/%65n/a", True),
        ("https://x.test/english/", False),
        ("https://x.test/EN/a", False),
        ("https://x.test/en/../de/a", False),
        ("https://x.test/en/%2e%2e/de/a", False),
        ("https://x.test/en%2Fa", False),
        ("https://x.test/", False),
        ("https://x.test:8443/en/", False),
        ("https://api.x.test/en/", False),
        ("https://notx.test/en/", False),
        ("https://evil.test/en/?x.test/en/", False),
        ("mailto:a@x.test", False),
    ],
)
def test_scope_contains(url: str, inside: bool) -> None:
    assert Scope.from_url("https://x.test/en/").contains(url) is inside


def test_scope_with_subdomains() -> None:
    scope = Scope.from_url("https://www.x.test/", subdomains=True)
    assert scope.contains("https://api.x.test/a")
    assert not scope.contains("https://notx.test/a")
    assert not scope.contains("https://api.x.test:8080/a")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://docs.example.com/en/", "docs.example.com-en"),
        ("http://www.docs.example.com/en/intro.html", "docs.example.com-en"),
        ("https://docs.example.com/", "docs.example.com"),
        ("http://127.0.0.1:8080/", "127.0.0.1-8080"),
        ("https://x.test/my-docs/v1.2", "x.test-my-docs-v1.2"),
    ],
)
def test_slug(url: str, name: str) -> None:
    assert slug(url) == name


def test_changed_slugs_stay_apart() -> None:
    long = "https://x.test/" + "a" * 200
    urls = ["https://x.test/en", "https://x.test/EN", "https://x.test/e_n", "https://x.test/e~n"]
    names = {slug(url) for url in [*urls, long, long + "b", "http://[::1]:80/", "http://x.test/п"]}
    assert len(names) == 8
    for name in names:
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,99}", name)
