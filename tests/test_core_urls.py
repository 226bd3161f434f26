"""Keys, fetchable URLs, scopes and site names."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from freshcrawl.core.scope import Scope
from freshcrawl.core.urls import UrlRules, normalize_url, url_key


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://Docs.Example.com/", "docs.example.com/"),
        ("http://docs.example.com", "docs.example.com/"),
        ("https://www.example.com/a", "example.com/a"),
        ("https://www.www.example.com/a", "example.com/a"),
        ("https://www.test/a", "www.test/a"),
        ("https://example.com./a", "example.com/a"),
        ("http://example.com:80/a", "example.com/a"),
        ("https://example.com:443/a", "example.com/a"),
        ("http://example.com:443/a", "example.com/a"),
        ("http://example.com:/a", "example.com/a"),
        ("http://example.com:8080/a", "example.com:8080/a"),
        ("http://[::0:1]:8080/a", "[::1]:8080/a"),
        ("https://me:secret@example.com/a", "example.com/a"),
        ("http://ex%61mple.com/a", "example.com/a"),
        ("https://тест.test:8080/", "xn--e1aybc.test:8080/"),
        ("https://xn--e1aybc.test:8080/", "xn--e1aybc.test:8080/"),
        ("https://XN--E1AYBC.test:8080/", "xn--e1aybc.test:8080/"),
        ("https://ТЕСТ.test:8080/", "xn--e1aybc.test:8080/"),
        ("https://x.test/a%23b", "x.test/a%23b"),
        ("https://x.test/a%2fb", "x.test/a%2Fb"),
        ("https://x.test/100%25", "x.test/100%25"),
        ("https://x.test/100%", "x.test/100%25"),
        ("https://x.test/%2561", "x.test/%2561"),
        ("https://x.test/%4%31", "x.test/%2541"),
        ("https://x.test/%7euser/%41", "x.test/~user/A"),
        ("https://x.test/п", "x.test/%D0%BF"),
        ("https://x.test/%d0%bf", "x.test/%D0%BF"),
        ("https://x.test/a b", "x.test/a%20b"),
        (" https://x.test/a\n", "x.test/a"),
        ("https://x.test/a\tb", "x.test/ab"),
        (r"https://x.test\a\b", "x.test/a/b"),
        ("https://x.test/a/./b/../c", "x.test/a/c"),
        ("https://x.test/a/%2e%2E/c", "x.test/c"),
        ("https://x.test/../..", "x.test/"),
        ("https://x.test/a//b", "x.test/a//b"),
        ("https://x.test/Guide", "x.test/Guide"),
        ("https://x.test/guide/", "x.test/guide"),
        ("https://x.test/guide//", "x.test/guide"),
        ("https://x.test/guide/index.html", "x.test/guide"),
        ("https://x.test/index.htm", "x.test/"),
        ("https://x.test/index.html?a=1", "x.test/?a=1"),
        ("https://x.test/genindex.html", "x.test/genindex.html"),
        ("https://x.test/index.html/index.html", "x.test/"),
        ("https://x.test/a#x", "x.test/a"),
        ("https://x.test/a?", "x.test/a"),
        ("https://x.test/a?&&b=1&", "x.test/a?b=1"),
        ("https://x.test/a?utm_source=a&page=2", "x.test/a?page=2"),
        ("https://x.test/a?UTM_Source=a&gclid=1&fbclid=2&_ga=3", "x.test/a"),
        ("https://x.test/a?utm%5fsource=a", "x.test/a"),
        ("https://x.test/a?utmost=1&mc_cid=1&mc_eid=2&msclkid=3", "x.test/a?utmost=1"),
        ("https://x.test/a?b", "x.test/a?b"),
        ("https://x.test/a?b=", "x.test/a?b="),
        ("https://x.test/a?c=1&b=2&b=1&a", "x.test/a?a&b=2&b=1&c=1"),
        ("https://x.test/a?q=a%20b", "x.test/a?q=a+b"),
        ("https://x.test/a?q=a%2bb%26c%3dd", "x.test/a?q=a%2Bb%26c%3Dd"),
        ("https://x.test/a;v=1/b", "x.test/a;v=1/b"),
    ],
)
def test_key(url: str, key: str) -> None:
    assert url_key(url) == key
    assert url_key("http://" + key) == key


@pytest.mark.parametrize(
    ("rules", "key"),
    [
        (UrlRules(drop_www=False), "www.x.test/a?b=1&c=2"),
        (UrlRules(drop_index=False), "x.test/a/index.html?b=1&c=2"),
        (UrlRules(drop_trailing_slash=False), "x.test/a/?b=1&c=2"),
        (UrlRules(drop_tracking=False), "x.test/a?b=1&c=2&utm_id=3&utm_term=4"),
        (UrlRules(sort_query=False), "x.test/a?c=2&b=1"),
        (UrlRules(keep_params=("utm_t*",)), "x.test/a?b=1&c=2&utm_term=4"),
        (UrlRules(drop_params=("B",)), "x.test/a?c=2"),
        (UrlRules(drop_params=("*",), keep_params=("b",)), "x.test/a?b=1"),
        (UrlRules(drop_params=("?", ".")), "x.test/a?b=1&c=2"),
    ],
)
def test_each_rule_has_a_switch(rules: UrlRules, key: str) -> None:
    url = "https://www.x.test/a/index.html?c=2&b=1&utm_id=3&utm_term=4"
    assert url_key(url, rules) == key
    assert url_key("http://" + key, rules) == key


def test_patterns_are_compared_with_the_decoded_name() -> None:
    rules = UrlRules(drop_params=("filter[*]",))
    assert url_key("http://x.test/?filter[a]=1&filter%5Bb%5D=2&page=3", rules) == "x.test/?page=3"


@pytest.mark.parametrize(
    "url",
    [
        *("", "x.test/a", "/a", "ftp://x.test/", "mailto:a@x.test", "javascript:void(0)"),
        *("http://", "http:///a", "http:x.test", "http://:80/", "http://a b/", "http://a..b/"),
        *("http://x.test:99999/", "http://x.test:port/", "http://[::1/", "http://[zz]/"),
        *("http://%23.test/", "http://xn--%D0%B0.test/", "http://x.test/\udc80"),
        "http://" + "й" * 70 + ".test/",
    ],
)
def test_unusable_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        url_key(url)
    assert not Scope.from_url("http://x.test/").contains(url)


def test_message_hides_the_password() -> None:
    with pytest.raises(ValueError, match="not an http or https URL") as caught:
        url_key("ftp://me:secret@x.test/")
    assert "secret" not in str(caught.value)


URLS = st.builds(
    "{}://{}{}/{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(["x.test", "www.x.test", "www.www.test", "тест.test", "[::1]", "127.0.0.1"]),
    st.sampled_from(["", ":", ":80", ":443", ":8080"]),
    st.text(st.sampled_from("/.%25aA~?&=+# \\;[]é#index.html2eE"), max_size=30)
    | st.lists(
        st.sampled_from(["index.html", "..", ".", "%2e", "/", "?", "&", "a=1", "utm_a=2", "%25"]),
        max_size=12,
    ).map("".join),
)
RULES = st.builds(UrlRules, *[st.booleans()] * 5)


@given(url=URLS, rules=RULES)
@example(url="http://x.test/index.html/.", rules=UrlRules())
def test_key_of_a_key_is_the_key(url: str, rules: UrlRules) -> None:
    key = url_key(url, rules)
    assert url_key("http://" + key, rules) == key
    assert url_key("https://" + key, rules) == key


@given(url=URLS)
def test_fetchable_url_has_the_same_key(url: str) -> None:
    fetchable = normalize_url(url)
    assert url_key(fetchable) == url_key(url)
    assert normalize_url(fetchable) == fetchable
    assert "#" not in fetchable


@pytest.mark.parametrize(
    ("url", "fetchable"),
    [
        (" http://www.X.test:80/a b/#top\n", "http://www.x.test:80/a%20b/"),
        ("HTTPS://x.test/index.html?b&utm_id=1&a=", "https://x.test/index.html?b&utm_id=1&a="),
        ("https://x.test/a%23b/?", "https://x.test/a%23b/"),
        ("https://тест.test/", "https://xn--e1aybc.test/"),
    ],
)
def test_normalize_url(url: str, fetchable: str) -> None:
    assert normalize_url(url) == fetchable
