"""Sitemaps as they are found, not as they should be."""

from __future__ import annotations

import gzip
import re
import zlib
from functools import partial

import pytest

import freshcrawl.inflate
from freshcrawl.sitemaps import (
    Entry,
    parse_sitemap,
    sitemap_urls_from_robots,
    usual_places,
)

BASE = "https://x.test/docs/sitemap.xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
packed = partial(gzip.compress, mtime=0)  # a time would give a test another name in each process
URLSET = (
    f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{NAMESPACE}">'
    "<url><loc>https://x.test/a</loc><lastmod>2026-01-01</lastmod></url>"
    "<url><loc>https://x.test/é</loc></url></urlset>"
)
ENTRIES = [Entry("https://x.test/a", "2026-01-01"), Entry("https://x.test/é")]


def urlset(inside: str) -> bytes:
    return f"<urlset>{inside}</urlset>".encode()


@pytest.mark.parametrize(
    "body",
    [
        URLSET.encode(),
        URLSET.encode("utf-8-sig"),
        URLSET.encode("utf-16"),
        URLSET.replace("UTF-8", "UTF-16").encode("utf-16"),
        URLSET.replace("UTF-8", "UTF-16").encode("utf-16-le"),
        URLSET.encode("utf-16-be"),
        URLSET.replace("UTF-8", "utf-16").encode(),
        URLSET.replace("UTF-8", "ISO-8859-1").encode("latin-1"),
        URLSET.partition("\n")[2].encode(),
        b"\n\t " + URLSET.encode() + b"\n\n",
        b"\xef\xbb\xbf\n" + URLSET.encode(),
        URLSET.encode() + b"<!-- made by x --> and more",
        packed(URLSET.encode()),
        packed(packed(URLSET.encode())),
        packed(URLSET.encode()[:90]) + packed(URLSET.encode()[90:]),
        packed(URLSET.encode()) + b"\0" * 100,
        URLSET.replace("http:", "https:").encode(),
        URLSET.replace("/0.9", "/0.84/").encode(),
        URLSET.replace(f' xmlns="{NAMESPACE}"', "").encode(),
        re.sub("(</?)(?=[a-z])", r"\1s:", URLSET).replace("xmlns", "xmlns:s").encode(),
    ],
)
def test_forms_of_one_urlset(body: bytes) -> None:
    sitemap = parse_sitemap(body, BASE)
    assert (sitemap.kind, sitemap.complete, sitemap.problem) == ("urlset", True, "")
    assert sitemap.entries == ENTRIES


@pytest.mark.parametrize(
    ("inside", "urls"),
    [
        ("<url><loc><![CDATA[ https://x.test/a?x=1&y=2 ]]></loc></url>", ["/a?x=1&y=2"]),
        ("<url><loc>https://x.test/a?x=1&amp;y=2&#38;z</loc></url>", ["/a?x=1&y=2&z"]),
        ("<url><loc>https://x.test/a?x=1&y=2&copy=3</loc></url>", ["/a?x=1&y=2&copy=3"]),
        ("<url><loc>/a</loc></url>", ["/a"]),
        ("<url><loc>a</loc></url>", ["/docs/a"]),
        ("<url><loc>\n https://x.test/a\n</loc></url>", ["/a"]),
        ("<url><loc>https://x.test/<!-- c -->a</loc></url>", ["/a"]),
        ("<url><loc>https://x.test/a</loc></url><url><loc/></url>", ["/a"]),
        ("<url><loc>mailto:a@x.test</loc></url><url><loc>/a</loc></url>", ["/a"]),
        ("<url><loc>http://[x/</loc></url><url><loc>/a</loc></url>", ["/a"]),
        ("<other><url><loc>/b</loc></url></other><url><loc>/a</loc></url>", ["/a"]),
        ("<url><x><loc>/b</loc></x><loc>/a</loc></url>", ["/a"]),
    ],
)
def test_locations(inside: str, urls: list[str]) -> None:
    sitemap = parse_sitemap(urlset(inside), BASE)
    assert sitemap.entries == [Entry("https://x.test" + url) for url in urls]
    assert sitemap.complete


@pytest.mark.parametrize("declared", [' xmlns:image="https://image.test/1.1"', ""])
def test_locations_of_extensions_are_not_pages(declared: str) -> None:
    body = (
        f'<urlset{declared} xsi:schemaLocation="a b"><url><image:loc>/1.png</image:loc>'
        "<image:image><image:loc>/2.png</image:loc></image:image><loc>/a</loc>"
        '<xhtml:link rel="alternate" href="/de/a"/></url></urlset>'
    )
    sitemap = parse_sitemap(body.encode(), BASE)
    assert sitemap.entries == [Entry("https://x.test/a")]
    assert sitemap.complete


def test_lastmod_without_location_does_not_leak() -> None:
    inside = "<url><lastmod>2026-01-01</lastmod></url><url><loc>/b</loc></url>"
    assert parse_sitemap(urlset(inside), BASE).entries == [Entry("https://x.test/b")]


def test_index() -> None:
    body = (
        b"<sitemapindex><sitemap><loc>/1.xml</loc><lastmod>2026</lastmod></sitemap></sitemapindex>"
    )
    sitemap = parse_sitemap(body, BASE)
    assert (sitemap.kind, sitemap.complete) == ("index", True)
    assert sitemap.entries == [Entry("https://x.test/1.xml", "2026")]


@pytest.mark.parametrize("body", [b"<urlset/>", b"<urlset>\n</urlset>", b"<sitemapindex/>"])
def test_well_formed_and_empty_is_complete(body: bytes) -> None:
    sitemap = parse_sitemap(body, BASE)
    assert sitemap.complete
    assert not sitemap.entries


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (packed(b""), "empty"),
        (b"<!doctype html><html><body><p>Not found<br></body></html>", "not a sitemap"),
        (b"<html><body>404</body></html>", "not a sitemap"),
        (b"<Error><Code>AccessDenied</Code></Error>", "not a sitemap"),
        (b"Not found", "not a sitemap"),
        (b'{"error": 1}', "not a sitemap"),
        (b"%PDF-1.7\n\x00\x01\xff", "not a sitemap"),
        (packed(packed(packed(b"<urlset/>"))), "not a sitemap"),
        (b"<urlset><url></url></urlset>", "no locations"),
        (b"<urlset><url><lastmod>2026</lastmod></url></urlset>", "no locations"),
        (b"<sitemapindex><url><loc>/a</loc></url></sitemapindex>", "no locations"),
        (b"<urlset>", "truncated"),
        (packed(b"<urlset></urlset>")[:12], "truncated"),
    ],
)
def test_nothing_read(body: bytes, problem: str) -> None:
    sitemap = parse_sitemap(body, BASE)
    assert (sitemap.complete, sitemap.problem, sitemap.entries) == (False, problem, [])


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<urlset><url><loc>/a</loc></url><url><loc>/b", "truncated"),
        (b"<urlset><url><loc>/a</loc></url><url><loc>/b</l", "truncated"),
        (b"<urlset><url><loc>/a</loc></url>", "malformed"),
        (b"<urlset><url><loc>/a</loc></url><url><loc>\x01</loc></url></urlset>", "malformed"),
        (b"<urlset><url><loc>/a</loc></url><url><loc>/\xff</loc></url></urlset>", "malformed"),
        (b"https://x.test/a\nNot found\n", "malformed"),
    ],
)
def test_entries_up_to_the_fault(body: bytes, problem: str) -> None:
    sitemap = parse_sitemap(body, BASE)
    assert sitemap.entries == [Entry("https://x.test/a")]
    assert (sitemap.complete, sitemap.problem) == (False, problem)


@pytest.mark.parametrize("fault", [slice(None, 4000), slice(None, -9), slice(None, -4)])
def test_truncated_gzip_keeps_what_came(fault: slice) -> None:
    pages = "".join(f"<url><loc>/{zlib.crc32(b'%d' % n)}</loc></url>" for n in range(1000))
    sitemap = parse_sitemap(packed(urlset(pages))[fault], BASE)
    assert (sitemap.complete, sitemap.problem) == (False, "truncated")
    assert 300 < len(sitemap.entries) <= 1000
    assert sitemap.entries[0] == Entry(f"https://x.test/{zlib.crc32(b'0')}")


def test_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshcrawl.inflate, "MAX_BYTES", 100_000)
    pages = "".join(f"<url><loc>/{n}</loc></url>" for n in range(10_000))
    for body in (urlset(pages), packed(urlset(pages)), packed(b"\0" * 10**7)):
        assert parse_sitemap(body, BASE).problem == "too large"
        assert len(parse_sitemap(body, BASE).entries) < 4000
    assert parse_sitemap(urlset(pages), BASE).entries[0] == Entry("https://x.test/0")


def test_entities_are_not_expanded() -> None:
    doctype = '<!DOCTYPE urlset [<!ENTITY a "secret"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    body = f"{doctype}<urlset><url><loc>/a?&a;&f;</loc></url></urlset>".encode()
    assert parse_sitemap(body, BASE).entries == [Entry("https://x.test/a?&a;&f;")]


def test_text_list() -> None:
    body = "\ufeffhttps://x.test/a\r\n\r\n# more\n /b \n".encode()
    sitemap = parse_sitemap(body, "https://x.test/sitemap.txt")
    assert (sitemap.kind, sitemap.complete) == ("text", True)
    assert sitemap.entries == [Entry("https://x.test/a"), Entry("https://x.test/b")]


@pytest.mark.parametrize(
    "body",
    [
        '<rss xmlns:atom="a"><channel><link>/</link><item><atom:link href="/no"/><link>/a</link>'
        "<pubDate>Wed, 02 Oct 2002 13:00:00 GMT</pubDate></item></channel></rss>",
        '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><title>t</title>'
        '<link rel="edit" href="/no"/><link href="/a"/>'
        "<updated>Wed, 02 Oct 2002 13:00:00 GMT</updated></entry></feed>",
        '<rdf:RDF xmlns:rdf="r" xmlns="s"><item><link>/a</link>'
        "<dc:date>Wed, 02 Oct 2002 13:00:00 GMT</dc:date></item></rdf:RDF>",
    ],
)
def test_feeds(body: str) -> None:
    sitemap = parse_sitemap(body.encode(), BASE)
    assert (sitemap.kind, sitemap.complete) == ("feed", True)
    assert sitemap.entries == [Entry("https://x.test/a", "Wed, 02 Oct 2002 13:00:00 GMT")]


def test_many_entries() -> None:
    pages = "".join(f"<url><loc>/{n}?a=1&b=2</loc></url>\n" for n in range(20_000))
    sitemap = parse_sitemap(urlset(pages), BASE)
    assert len(sitemap.entries) == 20_000
    assert sitemap.complete


@pytest.mark.parametrize(
    ("body", "urls"),
    [
        ("\ufeffSitemap: https://x.test/s.xml", ["https://x.test/s.xml"]),
        ("SITEMAP:https://x.test/s.xml # the map\r\n", ["https://x.test/s.xml"]),
        ("User-agent: *\nDisallow: /\n  sitemap : /s.xml", ["https://x.test/s.xml"]),
        (
            "Sitemap: s.xml\nSitemap: maps/s.xml",
            ["https://x.test/s.xml", "https://x.test/maps/s.xml"],
        ),
        ("Sitemap: y.test/s.xml", ["https://y.test/s.xml"]),
        ("Sitemap: localhost:8000/s.xml", ["https://localhost:8000/s.xml"]),
        ("Sitemap: //y.test/s.xml", ["https://y.test/s.xml"]),
        ("Sitemap: /s.xml\nSitemap: https://x.test/s.xml", ["https://x.test/s.xml"]),
        ("# Sitemap: /s.xml\nSitemap:\nSitemaps: /t.xml", []),
        ("Sitemap: ftp://x.test/s.xml\nSitemap: http://[x/", []),
    ],
)
def test_robots(body: str, urls: list[str]) -> None:
    assert sitemap_urls_from_robots(body.encode(), "https://x.test/robots.txt") == urls


def test_robots_with_bytes_that_are_no_text() -> None:
    body = b"# \xff\xfe\nSitemap: /s.xml"
    assert sitemap_urls_from_robots(body, "http://x.test/robots.txt") == ["http://x.test/s.xml"]


def test_usual_places() -> None:
    places = usual_places("https://www.x.test/en/intro.html")
    assert places[0] == "https://www.x.test/en/sitemap.xml"
    assert "https://www.x.test/sitemap.xml" in places
    assert "https://www.x.test/en/sitemap.txt" in places
    assert len(set(places)) == len(places) == 2 * len(usual_places("https://x.test/"))
