"""Promises that were broken once: each test is the shortest story that broke one."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.origin import Answer, Origin, page
from tests.support.project import REPO, command, environment, export, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86_400.0
PUBLISH = "freshcrawl.publishing:Publisher.publish"
NOINDEX = {"X-Robots-Tag": "noindex"}


class Rig:
    """One origin and one state folder."""

    def __init__(self, origin: Origin, state: Path) -> None:
        self.origin, self.state = origin, state

    def crawl(
        self, day: float = 0, *, full: bool = True, seam: str = "", **settings: object
    ) -> int:
        """Crawl on a day, killed at a seam if one is named; return the exit code."""
        whole = ("-a", "full=1") if full else ()
        args = ("crawl", "docs", "-a", f"url={self.origin.url}", *whole)
        if not seam:
            done = scrapy(*args, state=self.state, clock_offset_s=day * DAY, settings=settings)
            return done.returncode
        line = command(args, self.state, "hash", day * DAY, settings)
        line[2:3] = ["tests.support.crash_at", seam]
        return subprocess.run(
            line, cwd=REPO, env=environment(), capture_output=True, check=False
        ).returncode

    def live(self) -> dict[str, str]:
        """Text by path of the pages that are in the answers."""
        texts: dict[str, str] = {}
        for row in export(self.state):
            path = "/" + row["key"].partition("/")[2]
            texts[path] = texts.get(path, "") + row["text"]
        return texts


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Origin() as origin:
        yield Rig(origin, tmp_path / "state")


def canonical(rig: Rig, path: str) -> str:
    return f'<link rel="canonical" href="{rig.origin.url}{path[1:]}">'


def serve(rig: Rig, *paths: str) -> None:
    rig.origin.serve_sitemap(*paths)
    for path in paths:
        rig.origin[path] = page(path[1:], f"text of {path}")


def test_link_targets_staged_before_a_kill_are_published(rig: Rig) -> None:
    serve(rig, "/a")
    rig.origin["/a"] = page("A", "see <a href='https://x.example/1'>it</a>")
    rig.crawl()
    rig.origin["/a"] = page("A", "see <a href='https://x.example/2'>it</a>")
    assert rig.crawl(10, seam=PUBLISH) == -9
    rig.crawl(20)
    rig.crawl(30)
    assert "x.example/2" in rig.live()["/a"]


def test_another_spelling_of_a_page_is_fetched_when_the_site_moves_to_it(rig: Rig) -> None:
    serve(rig, "/a", "/b")
    rig.crawl()
    rig.origin.answers.clear()
    serve(rig, "/a/", "/b")
    rig.crawl(10)
    assert set(rig.live()) == {"/a", "/b"}


@pytest.mark.parametrize("before", [False, True])
def test_noindex_header_is_seen_with_an_unchanged_etag(rig: Rig, *, before: bool) -> None:
    serve(rig, "/a", "/b")
    body = page("A", "text of a")
    rig.origin["/a"] = Answer(body, headers=NOINDEX if before else {})
    rig.crawl()
    rig.origin["/a"] = Answer(body, headers={} if before else NOINDEX)
    for day in (10, 20):
        rig.crawl(day)
    assert ("/a" in rig.live()) == before


def test_canonical_added_to_a_published_page_makes_it_an_alias(rig: Rig) -> None:
    serve(rig, "/a", "/b")
    rig.crawl()
    rig.origin["/a"] = page("a", "text of /a", head=canonical(rig, "/b"))
    rig.crawl(10)
    assert set(rig.live()) == {"/b"}


def test_canonical_page_that_becomes_live_later_takes_over(rig: Rig) -> None:
    serve(rig, "/a", "/b")
    rig.origin["/a"] = page("A", "text", head=canonical(rig, "/b"))
    answer = rig.origin.answers["/b"]
    rig.origin["/b"] = Answer("x", 500)
    rig.crawl()
    rig.origin["/b"] = answer
    rig.crawl(10)
    assert set(rig.live()) == {"/b"}


def test_canonical_links_hold_in_a_first_crawl_that_publishes_between(rig: Rig) -> None:
    names = [f"/p{number:03}" for number in range(120)]
    serve(rig, *names)
    for copy, original in zip(names[::2], names[1::2], strict=True):
        rig.origin[copy] = page(copy, f"text of {copy}", head=canonical(rig, original))
    rig.crawl()
    assert set(rig.live()) == set(names[1::2])


def test_canonical_limit_does_not_depend_on_how_pages_arrive(rig: Rig) -> None:
    names = [f"/p{number}" for number in range(6)]
    serve(rig, "/t", *names)
    for name in names:
        rig.origin[name] = page(name, f"text of {name}", head=canonical(rig, "/t"))
    for day in (0, 10, 20):
        rig.origin.serve_sitemap("/t", *names[: day // 5 + 2])
        rig.crawl(day)
    assert set(rig.live()) == {"/t", *names}


def test_held_removals_are_not_released_because_others_recovered(rig: Rig) -> None:
    names = [f"/p{number}" for number in range(40)]
    serve(rig, *names)
    rig.crawl()
    for name in names[:20]:
        rig.origin[name] = Answer("bad deployment", 404)
    assert rig.crawl(10) == 3
    serve(rig, *names)
    for name in names[:5]:
        rig.origin[name] = Answer("wait", 503)
    rig.crawl(10.6, full=False)
    assert set(rig.live()) == set(names)


def test_redirect_to_a_login_page_replaces_nothing(rig: Rig) -> None:
    names = [f"/p{number}" for number in range(6)]
    serve(rig, *names)
    rig.crawl()
    before = rig.live()
    for name in names:
        rig.origin[name] = Answer("", 302, {"Location": f"/login?next={name}"})
        rig.origin[f"/login?next={name}"] = page("Sign in", "Please sign in to go on.")
    rig.crawl(10)
    assert rig.live() == before


def test_redirect_to_a_login_page_elsewhere_removes_nothing(rig: Rig) -> None:
    names = [f"/p{number}" for number in range(5)]
    serve(rig, *names)
    rig.crawl()
    for name in names:
        rig.origin[name] = Answer("", 302, {"Location": f"http://sso.example.com/login?n={name}"})
    rig.crawl(10)
    assert set(rig.live()) == set(names)


def test_location_that_is_no_url_counts_as_a_failure(rig: Rig) -> None:
    serve(rig, "/a", "/b")
    rig.crawl()
    rig.origin["/a"] = Answer("", 302, {"Location": "http://[x"})
    rig.crawl(10)
    rig.origin.paths()
    rig.crawl(10.01, full=False)
    assert "/a" not in rig.origin.paths()  # it has a due time again


def test_children_of_a_page_that_moved_are_listed_no_more(rig: Rig, tmp_path: Path) -> None:
    sites = tmp_path / "sites.toml"
    sites.write_text(f'[sites.x]\nurl = "{rig.origin.url}"\nabsent = "hide"\n')
    rig.origin["/"] = page("Home", "home", links='<a href="/hub">h</a>')
    rig.origin["/hub"] = page("Hub", "hub", links='<a href="/child">c</a>')
    rig.origin["/child"] = page("Child", "child")
    rig.origin["/hub2"] = page("Hub 2", "hub two")
    rig.crawl(FRESHCRAWL_SITES=sites)
    rig.origin["/hub"] = Answer("", 301, {"Location": "/hub2"})
    for day in range(10, 60, 10):
        rig.crawl(day, FRESHCRAWL_SITES=sites)
    assert set(rig.live()) == {"/", "/hub2"}
