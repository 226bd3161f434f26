"""What ``scrapy doctor`` makes of a site's answers: tables of cases, nothing is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import HtmlResponse, Request, Response
from scrapy_playwright.page import PageMethod

from freshcrawl.doctor.access import access_checks, trouble
from freshcrawl.doctor.findings import Asked, Findings, SeenPage, SeenSitemap
from freshcrawl.doctor.listing import listing_checks, pages_of, sitemap_check
from freshcrawl.doctor.page import is_poor, page_checks
from freshcrawl.doctor.sites import site_checks
from freshcrawl.extract import extract
from freshcrawl.robots import RobotsPolicy, read_policy
from freshcrawl.site_tables import make_site
from freshcrawl.sitemaps import parse_sitemap
from tests.support.origin import page, urlset

if TYPE_CHECKING:
    from freshcrawl.sites import SiteConfig

ROOT = "https://docs.example.com/guide/"
ROBOTS = "https://docs.example.com/robots.txt"
HTML = {"content-type": "text/html; charset=utf-8"}
TEXT = "One more word about the options. " * 10
GOOD = page("Guide", TEXT)


def site(**keys: Any) -> SiteConfig:
    return make_site({"url": ROOT, **keys}, "test")


def answer(body: str = GOOD, status: int = 200, url: str = ROOT, **headers: str) -> Asked:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Asked(url, status, {**HTML, **named}, body.encode(), body)


def seen_page(*hops: Asked, **values: Any) -> SeenPage:
    seen = SeenPage(list(hops), **values)
    if hops and seen.last.status == 200 and seen.last.is_html:
        seen.document = extract(seen.last.text, seen.last.url)
    return seen


def findings(start: SeenPage | None = None, **values: Any) -> Findings:
    robots = Asked(ROBOTS, 404)
    facts = {"site": site(), "agent": "freshcrawl", "robots": robots, "policy": RobotsPolicy()}
    return Findings(**{**facts, "page": start or seen_page(answer()), **values})


def robots(body: str, status: int = 200) -> Findings:
    asked = Asked(ROBOTS, status, {}, body.encode())
    return findings(robots=asked, policy=read_policy(status, asked.body, ROBOTS))


@pytest.mark.parametrize(
    ("name", "detail", "what", "advice"),
    [
        (
            "CannotResolveHostError",
            "x",
            "docs.example.com: the name of the host was not found",
            "spelling",
        ),
        ("DownloadConnectionRefusedError", "x", "the connection was refused", "port"),
        ("DownloadTimeoutError", "x", "no answer in time", "firewall"),
        ("TimeoutError", "", "no answer in time", "firewall"),
        ("NotAsked", "", f"{ROBOTS} was not asked for", "alone"),
        (
            "DownloadFailedError",
            "[('SSL routines', '', 'certificate verify failed')]",
            "certificate of docs.example.com cannot be trusted",
            "authority",
        ),
        ("DownloadFailedError", "[('SSL routines', '', 'wrong version number')]", "TLS", "http://"),
        ("DownloadFailedError", "lost", "no answer (DownloadFailedError: lost)", "try again"),
    ],
)
def test_why_there_is_no_answer(name: str, detail: str, what: str, advice: str) -> None:
    said, told = trouble(Asked(ROBOTS, problem=name, detail=detail))
    assert what in said
    assert advice in told


@pytest.mark.parametrize(
    ("found", "level", "words"),
    [
        (robots("User-agent: *\nDisallow: /private"), "ok", f"allows {ROOT}"),
        (robots("User-agent: *\nDisallow: /"), "fail", "forbids"),
        (robots("User-agent: freshcrawl\nDisallow: /guide"), "fail", "'freshcrawl'"),
        (robots("User-agent: other\nDisallow: /"), "ok", "allows"),
        (robots("User-agent: *\nCrawl-delay: 5"), "warn", "asks for 5 s between requests"),
        (robots("", 404), "ok", "there is no robots.txt (HTTP 404)"),
        (robots("", 503), "fail", "HTTP 503: nothing may be read"),
        (robots("", 429), "fail", "HTTP 429: nothing may be read"),
        (robots("<!DOCTYPE html><p>app"), "ok", "is an HTML page"),
        (findings(agent=""), "warn", "not obeyed"),
    ],
)
def test_robots(found: Findings, level: str, words: str) -> None:
    connection, check = access_checks(found)
    assert (connection.level, check.name, check.level) == ("ok", "robots", level)
    assert words in check.what
    assert bool(check.advice) == (level != "ok")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            findings(robots=Asked(ROBOTS, problem="CannotResolveHostError")),
            "name of the host was not found",
        ),
        (findings(robots=None, late=True), "no answer in time"),
        (findings(error="ValueError: odd"), "ValueError: odd"),
        (robots("", 500), "HTTP 500"),
    ],
)
def test_nothing_more_is_said_of_a_site_that_cannot_be_read(found: Findings, words: str) -> None:
    checks = site_checks(found)
    assert checks[-1].level == "fail"
    assert words in checks[-1].what
    assert {check.name for check in checks} <= {"connection", "robots"}


def sitemap(
    body: str, *, status: int = 200, known: bool = True, problem: str = "", remembered: bool = False
) -> SeenSitemap:
    url = "https://docs.example.com/sitemap.xml"
    asked = Asked(url, 0 if problem else status, {}, body.encode(), problem=problem)
    seen = SeenSitemap(url, known, asked, remembered=remembered)
    if status == 200 and not problem:
        seen.sitemap = parse_sitemap(asked.body, url)
        if seen.sitemap.kind != "index":
            seen.listed = [entry.url for entry in seen.sitemap.entries]
    return seen


def listing(*paths: str) -> str:
    return urlset(
        "".join(f"<url><loc>https://docs.example.com{path}</loc></url>" for path in paths)
    )


INDEX = "<sitemapindex><sitemap><loc>https://docs.example.com/1.xml</loc></sitemap></sitemapindex>"
FEED = "<rss><channel><item><link>https://docs.example.com/guide/a</link></item></channel></rss>"


@pytest.mark.parametrize(
    ("seen", "level", "words"),
    [
        (sitemap(listing("/guide/a", "/guide/b")), "ok", f"lists 2 pages, all below {ROOT}"),
        (sitemap(listing("/guide/a", "/b")), "ok", "lists 2 pages, 1 of them below"),
        (sitemap(listing("/a", "/b")), "fail", "0 of them below"),
        (sitemap(listing("/guide/a")[:-5]), "warn", "it is truncated"),
        (sitemap(FEED), "warn", "lists 1 page"),
        (sitemap(INDEX), "fail", "index of 1 sitemap; 0 of them were read"),
        (sitemap(page("App", "x")), "fail", "an HTML page, not a sitemap"),
        (sitemap(""), "fail", "empty"),
        (sitemap(urlset("")), "warn", "lists nothing"),
        (sitemap("", status=404), "fail", "answers HTTP 404"),
        (sitemap("", status=503), "fail", "answers HTTP 503"),
        (sitemap("", status=503, known=False), "fail", "answers HTTP 503"),
        (sitemap("", problem="DownloadTimeoutError"), "warn", "no answer in time"),
        (sitemap("", status=404, remembered=True), "warn", "earlier runs read it"),
        (SeenSitemap("http://10.0.0.1/", True, refused="private"), "warn", "not read: private"),
    ],
)
def test_sitemaps(seen: SeenSitemap, level: str, words: str) -> None:
    check = sitemap_check(site(), seen)
    assert check is not None
    assert check.level == level
    assert words in check.what
    assert bool(check.advice) == (level != "ok")


@pytest.mark.parametrize(
    "seen",
    [
        sitemap("", status=404, known=False),
        sitemap("", status=403, known=False),
        sitemap(page("App", "x"), known=False),
        SeenSitemap("https://docs.example.com/", False, refused="robots.txt forbids it"),
    ],
)
def test_usual_places_without_a_sitemap_are_not_mentioned(seen: SeenSitemap) -> None:
    assert sitemap_check(site(), seen) is None


def test_sitemaps_of_another_folder_say_where_the_pages_are() -> None:
    check = sitemap_check(site(), sitemap(listing("/manual/2.0/a.html")))
    assert check is not None
    assert "https://docs.example.com/manual/2.0/" in check.advice


LINKS = '<a href="a.html">a</a><a href="b.html">b</a><a href="./">here</a><a href="/out">out</a>'


@pytest.mark.parametrize(
    ("keys", "values", "expected"),
    [
        ({}, {}, ["ok links 2 pages of the site"]),
        ({"discovery": "links"}, {}, ["ok links 2 pages of the site"]),
        ({"discovery": "sitemap"}, {}, ["fail sitemap follows no links"]),
        ({}, {"page": seen_page(answer(GOOD))}, ["warn links to no other page"]),
        ({}, {"sitemaps": [sitemap(listing("/guide/a"))]}, ["ok sitemap lists 1 page"]),
        ({}, {"sitemaps": [sitemap("", status=404)]}, ["fail sitemap HTTP 404"]),
        ({}, {"sitemaps": [sitemap("", status=404, known=False)]}, ["ok links 2 pages"]),
        ({}, {"sitemaps": [sitemap("", problem="TimeoutError")]}, ["warn sitemap in time"]),
        ({}, {"late": True}, []),
        ({}, {"page": seen_page(outside="https://other.example.com/")}, []),
    ],
)
def test_how_pages_would_be_found(
    keys: dict[str, Any], values: dict[str, Any], expected: list[str]
) -> None:
    start = seen_page(answer(page("Guide", TEXT, links=LINKS)))
    checks = listing_checks(findings(**{"start": start, **values}, site=site(**keys)))
    assert len(checks) == len(expected)
    for check, line in zip(checks, expected, strict=True):
        level, name, words = line.split(" ", 2)
        assert (check.level, check.name) == (level, name)
        assert words in check.what


def test_pages_are_counted_once_and_only_within_the_site() -> None:
    urls = [
        ROOT + "a",
        ROOT + "a/#x",
        ROOT + "a?utm_source=b",
        ROOT + "b",
        "http://[x",
        "https://x.y/",
    ]
    assert list(pages_of(site(), urls).values()) == [ROOT + "a", ROOT + "b"]
    assert list(pages_of(site(), urls, [ROOT + "a"]).values()) == [ROOT + "b"]


SHELL = "<html><body><div id=root>Loading</div><script src=app.js></script></body></html>"
LOGIN = page("Sign in", "Your name", '<form><input name=p type="password"></form>')
PLAIN = f"<html><body><p>{TEXT}</p></body></html>"
SPHINX = f'<html><body><div class="documentwrapper"><div class="body"><p>{TEXT}</p></div></div>'
GONE = {"url": "https://docs.example.com/guide/old"}
MOVED = answer("", 302, **GONE)
PDF = answer("%PDF", content_type="application/pdf")


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (seen_page(answer()), ["ok start page", "ok validators", "ok text"]),
        (seen_page(answer(SPHINX)), ["ok start page", "ok validators", "ok text"]),
        (seen_page(answer(PLAIN)), ["ok start page", "ok validators", "warn text"]),
        (seen_page(answer(SHELL)), ["ok start page", "ok validators", "warn text"]),
        (seen_page(answer("<html>")), ["ok start page", "ok validators", "fail text"]),
        (seen_page(answer(LOGIN)), ["ok start page", "ok validators", "warn login"]),
        (
            seen_page(answer(page("A", TEXT, head="<meta name=robots content=noindex>"))),
            ["ok start page", "ok validators", "warn noindex", "ok text"],
        ),
        (
            seen_page(answer(x_robots_tag="noindex")),
            ["ok start page", "ok validators", "warn noindex", "ok text"],
        ),
        (
            seen_page(answer(x_robots_tag="otherbot: noindex")),
            ["ok start page", "ok validators", "ok text"],
        ),
        (seen_page(answer(status=404)), ["fail start page"]),
        (seen_page(answer(status=403)), ["fail start page"]),
        (seen_page(answer(status=500)), ["fail start page"]),
        (seen_page(PDF), ["fail start page"]),
        (seen_page(Asked(ROOT, problem="DownloadTimeoutError")), ["fail start page"]),
        (seen_page(MOVED, MOVED), ["fail start page"]),
        (seen_page(MOVED, outside="https://new.example.com/"), ["fail start page"]),
        (seen_page(MOVED, forbidden=f"{ROOT}private/"), ["fail start page"]),
        (seen_page(forbidden=ROOT), []),
    ],
)
def test_start_pages(start: SeenPage, expected: list[str]) -> None:
    checks = page_checks(findings(start))
    assert [f"{check.level} {check.name}" for check in checks] == expected
    assert all(check.advice for check in checks if check.level != "ok")


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (seen_page(answer(SHELL)), 'render = "always"'),
        (seen_page(answer(PLAIN)), "keep ="),
        (seen_page(answer("<html><body><p>Short")), "keep ="),
        (seen_page(answer(LOGIN)), "credentials"),
        (seen_page(answer(status=401)), "credentials"),
        (seen_page(answer(status=429)), "DOWNLOAD_DELAY"),
        (seen_page(MOVED, outside="https://new.example.com/"), 'url = "https://new.example.com/"'),
    ],
)
def test_advice_names_what_to_set(start: SeenPage, words: str) -> None:
    assert words in page_checks(findings(start))[-1].advice


def test_a_broken_start_page_matters_less_where_a_sitemap_lists_pages() -> None:
    found = findings(seen_page(answer(status=404)), sitemaps=[sitemap(listing("/guide/a"))])
    assert [check.level for check in page_checks(found)] == ["warn"]


def test_redirects_that_were_followed_are_counted() -> None:
    [check, *_] = page_checks(findings(seen_page(MOVED, answer())))
    assert check.what == f"{ROOT} answers, after 1 redirect"


def test_another_page_speaks_for_a_poor_start_page() -> None:
    other = seen_page(answer(url=ROOT + "a"))
    checks = page_checks(findings(seen_page(answer(SHELL)), sample=other))
    assert (checks[-1].level, checks[-1].name) == ("ok", "text")
    assert ROOT + "a" in checks[-1].what
    lost = seen_page(answer(status=404, url=ROOT + "a"))
    assert page_checks(findings(seen_page(answer(SHELL)), sample=lost))[-1].level == "warn"


@pytest.mark.parametrize(
    ("body", "poor"), [(GOOD, False), (SHELL, True), (PLAIN, True), (page("A", "short"), True)]
)
def test_poor_pages(body: str, poor: bool) -> None:
    assert is_poor(seen_page(answer(body))) is poor


@pytest.mark.parametrize(
    ("headers", "again", "words"),
    [
        ({"etag": '"1"'}, answer("", 304), "ETag; asked again, the site answers 304"),
        ({"etag": '"1"'}, answer(), "gives HTTP 200: each check downloads the page whole"),
        ({"etag": '"1"'}, Asked(ROOT, problem="TimeoutError"), "gives no answer"),
        ({"last-modified": "x"}, answer("", 304), "Last-Modified; asked again"),
        ({}, None, "neither ETag nor Last-Modified: each check downloads the page whole"),
    ],
)
def test_validators(headers: dict[str, str], again: Asked | None, words: str) -> None:
    start = seen_page(Asked(ROOT, 200, {**HTML, **headers}, GOOD.encode(), GOOD))
    checks = page_checks(findings(start, again=again))
    [check] = [check for check in checks if check.name == "validators"]
    assert check.level == "ok"
    assert words in check.what


@pytest.mark.parametrize(
    ("keys", "browser", "level", "words"),
    [
        ({"render": "always"}, False, "fail", "browser"),
        ({"render": "always"}, True, "warn", "wait_for"),
        ({"noindex": "keep"}, True, "warn", "render"),
    ],
)
def test_sites_that_are_rendered(
    keys: dict[str, Any], browser: bool, level: str, words: str
) -> None:
    found = findings(seen_page(answer(SHELL)), site=site(**keys), browser=browser)
    check = page_checks(found)[-1]
    assert check.level == level
    assert words in check.advice


def test_what_a_rendered_page_does_not_show() -> None:
    shown = PageMethod("wait_for_selector", "main h1")
    shown.result = False
    request = Request(ROOT, meta={"playwright_page_methods": [shown]})
    asked = Asked.answer(HtmlResponse(ROOT, body=GOOD, encoding="utf-8", request=request))
    check = page_checks(findings(seen_page(asked), site=site(render="always")))[0]
    assert (check.level, check.name) == ("fail", "start page")
    assert "does not show 'main h1'" in check.what
    assert "wait_for" in check.advice


def test_facts_of_an_answer() -> None:
    headers = {"X-Robots-Tag": ["noindex", "nofollow"], "ETag": ' "1" '}
    asked = Asked.answer(
        HtmlResponse(ROOT, headers=headers, body=GOOD, encoding="utf-8", request=Request(ROOT))
    )
    assert asked.headers["x-robots-tag"] == "noindex\nnofollow"
    assert asked.validators == {"If-None-Match": '"1"'}
    assert Asked.answer(Response(ROOT, body=b"\xff", request=Request(ROOT))).text == ""


def test_noindex_is_no_matter_to_a_site_that_keeps_such_pages() -> None:
    marked = seen_page(answer(x_robots_tag="noindex"))
    checks = page_checks(findings(marked, site=site(noindex="keep")))
    assert all(check.level == "ok" for check in checks)
