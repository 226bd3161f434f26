"""Discovery end to end: sitemaps in several forms, robots.txt, links, and their failures."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.origin import Answer, Origin, page, urlset
from tests.support.project import Result, export, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

XML = "application/xml"


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as origin:
        yield origin


def crawl(origin: Origin, state: Path, *args: str, day: int = 0) -> Result:
    """Crawl everything; a server error is not asked again within a run."""
    return scrapy(
        "crawl", "docs", "-a", f"url={origin.url}", "-a", "full=1", *args,
        state=state, clock_offset_s=86_400 * day, settings={"RETRY_ENABLED": 0},
    )  # fmt: skip


def served(origin: Origin, state: Path) -> set[str]:
    return {row["url"].removeprefix(origin.url) for row in export(state)}


def locations(origin: Origin, *paths: str) -> str:
    return "".join(f"<url><loc>{origin.url}{path}</loc></url>" for path in paths)


def index(origin: Origin, *paths: str) -> Answer:
    maps = "".join(f"<sitemap><loc>{origin.url}{path}</loc></sitemap>" for path in paths)
    return Answer(f"<sitemapindex>{maps}</sitemapindex>", content_type=XML)


def put_pages(origin: Origin, *names: str) -> None:
    for name in names:
        origin[f"/{name}"] = page(name, f"The text of {name}.")


def nested_site(origin: Origin) -> None:
    put_pages(origin, "a1", "a2", "b1", "b2")
    origin["/robots.txt"] = Answer(f"Sitemap: {origin.url}index.xml", content_type="text/plain")
    origin["/index.xml"] = index(origin, "a.xml.gz", "b.xml")
    packed = gzip.compress(urlset(locations(origin, "a1", "a2")).encode())
    origin["/a.xml.gz"] = Answer(packed, content_type="application/gzip")
    origin["/b.xml"] = Answer(urlset(locations(origin, "b1", "b2")), content_type=XML)


def test_nested_and_packed_sitemaps(origin: Origin, state: Path) -> None:
    nested_site(origin)
    assert crawl(origin, state).returncode == 0
    assert served(origin, state) == {"a1", "a2", "b1", "b2"}
    assert report(state)["discovered"] == 4


def test_sitemap_that_cannot_be_read_takes_nothing_away(origin: Origin, state: Path) -> None:
    nested_site(origin)
    crawl(origin, state)
    origin["/b.xml"] = Answer(status=500)
    assert crawl(origin, state, day=1).returncode == 4
    run = report(state)
    assert (run["complete"], run["missing"], run["gone"]) == (False, 0, 0)
    assert [str(origin.port) in reason for reason in run["incomplete_reasons"]] == [True]
    assert served(origin, state) == {"a1", "a2", "b1", "b2"}


def test_sitemap_that_the_index_drops_is_evidence(origin: Origin, state: Path) -> None:
    nested_site(origin)
    crawl(origin, state)
    origin["/index.xml"] = index(origin, "a.xml.gz")
    del origin.answers["/b1"]
    assert crawl(origin, state, day=1).returncode == 0
    run = report(state)
    assert (run["gone"], run["missing"]) == (1, 1)
    assert served(origin, state) == {"a1", "a2", "b2"}


@pytest.mark.parametrize(
    "sitemap",
    [
        Answer("", content_type=XML),
        Answer("<html><body>not found</body></html>"),
        Answer("<urlset><url><loc>http://127.0.0.1:1/", content_type=XML),
        Answer(status=304, validators=False),
        Answer(status=403),
        Answer(status=404),
        Answer(urlset(""), content_type=XML),
    ],
    ids=["empty", "html", "truncated", "304", "403", "404", "no entries"],
)
def test_odd_sitemap_takes_nothing_away(origin: Origin, state: Path, sitemap: Answer) -> None:
    put_pages(origin, "a", "b")
    origin.serve_sitemap("/a", "/b")
    crawl(origin, state)
    origin["/sitemap.xml"] = sitemap
    assert crawl(origin, state, day=1).returncode == 4
    run = report(state)
    assert (run["complete"], run["gone"], run["hidden"], run["missing"]) == (False, 0, 0, 0)
    assert served(origin, state) == {"a", "b"}


@pytest.mark.parametrize("robots", [Answer(status=503), Answer(status=429)], ids=["503", "429"])
def test_robots_outage_means_wait(origin: Origin, state: Path, robots: Answer) -> None:
    put_pages(origin, "a", "b")
    origin.serve_sitemap("/a", "/b")
    crawl(origin, state)
    origin.paths()
    origin["/robots.txt"] = robots
    assert crawl(origin, state, day=1).returncode == 4
    assert origin.paths() == ["/robots.txt"]
    assert report(state)["failed"] == 0
    assert served(origin, state) == {"a", "b"}


def test_contact_is_in_the_user_agent(origin: Origin, state: Path) -> None:
    put_pages(origin, "a")
    origin.serve_sitemap("/a")
    crawl(origin, state, "-s", "FRESHCRAWL_CONTACT=docs@example.com")
    agents = {asked.headers["User-Agent"] for asked in origin.asked}
    assert len(agents) == 1
    assert agents.pop().endswith("(+docs@example.com)")


def test_robots_rules_are_obeyed(origin: Origin, state: Path) -> None:
    put_pages(origin, "open", "private/secret")
    origin.serve_sitemap("/open", "/private/secret")
    rules = f"User-agent: freshcrawl\nDisallow: /private/\nSitemap: {origin.url}sitemap.xml"
    origin["/robots.txt"] = Answer(rules, content_type="text/plain")
    assert crawl(origin, state).returncode == 0
    assert "/private/secret" not in origin.paths()
    assert served(origin, state) == {"open"}


def test_known_page_that_robots_disallow_is_kept(origin: Origin, state: Path) -> None:
    put_pages(origin, "open", "private/secret")
    origin.serve_sitemap("/open", "/private/secret")
    crawl(origin, state)
    rules = f"User-agent: *\nDisallow: /private/\nSitemap: {origin.url}sitemap.xml"
    origin["/robots.txt"] = Answer(rules, content_type="text/plain")
    crawl(origin, state, day=1)
    assert served(origin, state) == {"open", "private/secret"}


def link(origin: Origin, *names: str) -> str:
    return " ".join(f'<a href="{origin.url}{name}">{name}</a>' for name in names)


def linked_site(origin: Origin, hub: tuple[str, ...] = ("b", "c")) -> None:
    origin["/"] = page("Home", "Start here.", links=link(origin, "hub", "img.png", "x://y"))
    origin["/hub"] = page("Hub", "All parts.", links=link(origin, *hub))
    put_pages(origin, "b", "c")


def test_site_without_sitemap_is_found_by_its_links(origin: Origin, state: Path) -> None:
    linked_site(origin)
    assert crawl(origin, state).returncode == 0
    assert served(origin, state) == {"", "hub", "b", "c"}
    assert report(state)["dead"] == 2
    # Nothing changed: 304s, and their links still count.
    assert crawl(origin, state, day=1).returncode == 0
    run = report(state)
    assert (run["not_modified"], run["discovered"], run["missing"]) == (4, 6, 0)


def test_page_that_no_link_leads_to_any_more(origin: Origin, state: Path) -> None:
    linked_site(origin)
    crawl(origin, state)
    linked_site(origin, hub=("b",))
    assert crawl(origin, state, day=1).returncode == 0
    assert report(state)["missing"] == 1
    assert served(origin, state) == {"", "hub", "b", "c"}
    del origin.answers["/c"]
    assert crawl(origin, state, day=2).returncode == 0
    assert report(state)["gone"] == 1
    assert served(origin, state) == {"", "hub", "b"}


def test_links_of_a_page_that_is_gone_list_nothing(origin: Origin, state: Path) -> None:
    linked_site(origin)
    crawl(origin, state)
    origin["/"] = page("Home", "Start here.")
    origin["/hub"] = Answer(status=410)
    assert crawl(origin, state, day=1).returncode == 0
    assert report(state)["missing"] == 2
    assert served(origin, state) == {"", "b", "c"}


def test_hub_that_fails_takes_nothing_away(origin: Origin, state: Path) -> None:
    linked_site(origin)
    crawl(origin, state)
    origin["/hub"] = Answer(status=500)
    crawl(origin, state, day=1)
    run: dict[str, Any] = report(state)
    assert (run["failed"], run["missing"], run["gone"]) == (1, 0, 0)
    assert not run["complete"]
    assert served(origin, state) == {"", "hub", "b", "c"}


def test_sitemap_that_another_one_replaced_is_dropped(origin: Origin, state: Path) -> None:
    put_pages(origin, "a", "b")
    origin.serve_sitemap("/a", "/b")
    crawl(origin, state)
    del origin.answers["/sitemap.xml"]
    origin.serve_sitemap("/a", sitemap="/new.xml")
    assert crawl(origin, state, day=1).returncode == 0
    run = report(state)
    assert (run["complete"], run["missing"]) == (True, 1)


def test_sitemap_that_moved_is_followed(origin: Origin, state: Path) -> None:
    put_pages(origin, "a", "b")
    origin.serve_sitemap("/a", "/b", sitemap="/real.xml")
    origin["/robots.txt"] = Answer(f"Sitemap: {origin.url}old.xml", content_type="text/plain")
    origin["/old.xml"] = Answer(status=301, headers={"Location": "/real.xml"})
    assert crawl(origin, state).returncode == 0
    assert served(origin, state) == {"a", "b"}


def test_dead_sitemap_line_does_not_keep_a_new_site_from_being_found(
    origin: Origin, state: Path
) -> None:
    linked_site(origin)
    origin["/robots.txt"] = Answer(f"Sitemap: {origin.url}dead.xml", content_type="text/plain")
    assert crawl(origin, state).returncode == 4
    assert served(origin, state) == {"", "hub", "b", "c"}


def test_site_that_gets_a_sitemap_is_read_by_it(origin: Origin, state: Path) -> None:
    linked_site(origin)
    crawl(origin, state)
    origin.serve_sitemap("/", "/hub", "/b")
    assert crawl(origin, state, day=1).returncode == 0
    run = report(state)
    assert (run["discovered"], run["missing"]) == (3, 1)


def test_sitemap_at_a_private_address_is_not_asked_for(origin: Origin, state: Path) -> None:
    put_pages(origin, "a")
    origin.serve_sitemap("/a")
    lines = f"Sitemap: {origin.url}sitemap.xml\nSitemap: http://169.254.169.254/latest"
    origin["/robots.txt"] = Answer(lines, content_type="text/plain")
    assert crawl(origin, state).returncode == 4
    assert "private address" in str(report(state)["incomplete_reasons"])
    assert served(origin, state) == {"a"}


def test_page_that_names_a_dead_page_as_its_original_is_served(origin: Origin, state: Path) -> None:
    put_pages(origin, "old", "other")
    origin.serve_sitemap("/old", "/other")
    crawl(origin, state)
    del origin.answers["/old"]
    head = f'<link rel="canonical" href="{origin.url}old">'
    origin["/new"] = page("New", "The text of old.", head=head)
    origin.serve_sitemap("/new", "/other")
    # A run in which the old page is not due: it is looked at all the same.
    done = scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state, clock_offset_s=60)
    assert done.returncode == 0, done.stderr[-2000:]
    assert served(origin, state) == {"new", "other"}


def test_sitemap_as_start_url(origin: Origin, state: Path) -> None:
    put_pages(origin, "docs/a", "docs/b", "other")
    entries = locations(origin, "docs/a", "docs/b", "other")
    origin["/docs/map.xml"] = Answer(urlset(entries), content_type=XML)
    done = scrapy("crawl", "docs", "-a", f"url={origin.url}docs/map.xml", state=state)
    assert done.returncode == 0, done.stderr[-2000:]
    assert served(origin, state) == {"docs/a", "docs/b"}
