"""Keys of ``sites.toml`` at work: each by crawls of a site that a test changes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = ("/a", "/b", "/api/c", "/api/d")


class Rig:
    """One origin, one ``sites.toml`` with one site ``docs``, one state folder."""

    def __init__(self, folder: Path, origin: Origin) -> None:
        self.origin = origin
        self.state = folder / "state"
        self._toml = folder / "sites.toml"
        self._days = 0

    def crawl(self, table: str = "", *args: str) -> int:
        """Crawl a day later than before with this table."""
        text = table.replace("ROOT/", self.origin.url)
        self._toml.write_text(f'[sites.docs]\nurl = "{self.origin.url}"\n{text}\n')
        self.origin.paths()
        self._days += 1
        result = scrapy(
            "crawl", "docs", "-a", "site=docs", *args,
            state=self.state,
            settings={"FRESHCRAWL_SITES": self._toml},
            clock_offset_s=self._days * 86_400,
        )  # fmt: skip
        assert "Traceback" not in result.stderr, result.stderr[-3000:]
        return result.returncode

    def pages_asked(self) -> set[str]:
        """Return what the last run asked for, but for the page that cannot exist."""
        return {p for p in self.origin.paths() if not re.search("/[0-9a-f]{16}$", p)}

    def texts(self) -> dict[str, str]:
        """Return the text in the answers by path."""
        return {row["url"].removeprefix(self.origin.url): row["text"] for row in export(self.state)}

    def explain(self, path: str) -> dict[str, Any]:
        """Return what is known of a page."""
        url = self.origin.url + path
        [found] = json.loads(scrapy("explain", url, "--json", state=self.state).stdout)
        return dict(found)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Origin() as origin:
        for path in PAGES:
            origin[path] = page(path, f"The text of {path}.")
        origin.serve_sitemap(*PAGES)
        yield Rig(tmp_path, origin)


def test_allow_and_deny(rig: Rig) -> None:
    assert rig.crawl("allow = ['/api/', '/a$']\ndeny = ['/d$']") == 0
    assert set(rig.texts()) == {"a", "api/c"}
    # Another table: what is denied now is not asked for any more and leaves.
    assert rig.crawl("deny = ['/a$']", "-a", "full=1") == 0
    assert rig.pages_asked() == {"/robots.txt", "/sitemap.xml", "/b", "/api/c", "/api/d"}
    assert set(rig.texts()) == {"b", "api/c", "api/d"}
    gone = rig.explain("a")
    assert (gone["status"], gone["chunks"]) == ("hidden", 0)
    assert "not among the site's pages any more" in gone["reason"]
    assert rig.crawl() == 0
    assert "/a" in rig.origin.paths()
    assert set(rig.texts()) == {"a", "b", "api/c", "api/d"}
    assert report(rig.state)["chunks_embedded"] == 0


def test_approved_urls_are_the_only_ones_fetched(rig: Rig) -> None:
    rig.origin["/a"] = page("/a", "approved", links='<a href="/b">b</a>')
    rig.origin["/moved"] = Answer(status=301, headers={"Location": "/b"})
    table = "urls = ['ROOT/a', 'ROOT/api/c', 'ROOT/moved', 'ROOT/a']"
    assert rig.crawl(table) == 0
    assert set(rig.origin.paths()) == {"/robots.txt", "/a", "/api/c", "/moved"}
    assert set(rig.texts()) == {"a", "api/c"}
    assert report(rig.state)["discovered"] == 3
    # Everything as it was: asked by validators, nothing embedded.
    assert rig.crawl(table, "-a", "full=1") == 0
    assert report(rig.state)["not_modified"] == 2
    # A page that is taken off the list leaves, one that is put on it comes.
    assert rig.crawl("urls = ['ROOT/a', 'ROOT/b']") == 0
    assert set(rig.texts()) == {"a", "b"}
    # Back to discovery: the list is no source any more.
    assert rig.crawl() == 0
    assert set(rig.texts()) == {"a", "b", "api/c", "api/d"}
    assert [source["id"] for source in rig.explain("a")["sources"]] == [
        f"sitemap:{rig.origin.url}sitemap.xml"
    ]


def test_robots_hold_for_approved_urls(rig: Rig) -> None:
    rig.origin["/robots.txt"] = Answer("User-agent: *\nDisallow: /api/", content_type="text/plain")
    assert rig.crawl("urls = ['ROOT/a', 'ROOT/api/c']") == 0
    assert set(rig.texts()) == {"a"}
    assert "/api/c" not in rig.origin.paths()


def test_volatile_text_is_no_change_and_is_not_embedded_again(rig: Rig) -> None:
    table = r"volatile_patterns = ['Served at \S+', '\d+ visitors']"

    def serve(clock: str, words: str) -> None:
        rig.origin["/a"] = page("/a", f"Served at {clock} to 17 visitors.", f"It is {words}.")

    serve("10:00:01", "calm")
    assert rig.crawl(table) == 0
    serve("11:11:11", "calm")
    assert rig.crawl(table, "-a", "full=1") == 0
    run = report(rig.state)
    assert (run["cosmetic"], run["changed"], run["links_only"], run["unchanged"]) == (1, 0, 0, 3)
    assert (run["chunks_embedded"], run["generation"]) == (0, 1)
    # The same bytes again: by validators, though the text is not the published one.
    assert rig.crawl(table, "-a", "full=1") == 0
    assert report(rig.state)["not_modified"] == 4
    serve("12:12:12", "stormy")
    assert rig.crawl(table, "-a", "full=1") == 0
    assert report(rig.state)["changed"] == 1
    assert "Served at 12:12:12 to 17 visitors" in rig.texts()["a"]
    assert "It is stormy" in rig.texts()["a"]
    assert rig.explain("a")["last_verdict"] == "changed"


def test_url_rules(rig: Rig) -> None:
    for path in ("/x?view=full", "/x?view=short"):
        rig.origin[path] = page("X", "The text of x.")
    rig.origin["/x"] = page("X", "The text of x.")
    rig.origin.serve_sitemap(*PAGES, "/x?view=full", "/x?view=short")
    assert rig.crawl() == 0
    assert {path for path in rig.texts() if path.startswith("x")} == {"x?view=full", "x?view=short"}
    rig.origin.serve_sitemap(*PAGES, "/x")
    assert rig.crawl("drop_params = ['view']") == 0
    assert {path for path in rig.texts() if path.startswith("x")} == {"x"}
    assert report(rig.state)["chunks_embedded"] == 0  # the same text under another key
    assert rig.explain("x")["status"] == "live"


def test_the_site_has_guards_and_a_schedule_of_its_own(rig: Rig) -> None:
    table = "guard_removed_min = 0\nguard_removed_ratio = 0.1\nstart_interval_secs = 30000"
    assert rig.crawl(table) == 0
    assert rig.explain("b")["interval_s"] == 30_000
    rig.origin["/b"] = Answer(status=410)
    assert rig.crawl(table) == 3
    assert "b" in rig.texts()
    # Less strict by now; but what is held is not let go before it is confirmed.
    confirmed = "guard_confirm_hours = 0"
    assert rig.crawl(confirmed, "-a", "full=1") == 3
    assert rig.crawl(confirmed, "-a", "full=1") == 0
    assert "b" not in rig.texts()


# -- what lists a page, when the table changes what is read ------------------------------------

HIDE = "absent = 'hide'\nmissing_runs = 1\nguard_removed_ratio = 1\n"


def linked(rig: Rig, **links: str) -> None:
    """Serve pages that link to others, without a sitemap; names are paths, home is the root."""
    rig.origin.answers.clear()
    for name, targets in links.items():
        path = "/" if name == "home" else "/" + name.replace("_", "/")
        anchors = "".join(f'<a href="/{target}">{target}</a>' for target in targets.split())
        rig.origin[path] = page(path, f"The text of {path}.", links=anchors)


def test_links_are_read_again_when_the_patterns_change(rig: Rig) -> None:
    linked(rig, home="a api/x", a="", api_x="api/y", api_y="")
    table = "discovery = 'links'\n"
    assert rig.crawl(table + "deny = ['/api/']") == 0
    assert set(rig.texts()) == {"", "a"}
    assert rig.crawl(table, "-a", "full=1") == 0
    assert set(rig.texts()) == {"", "a", "api/x", "api/y"}
    assert rig.crawl(table, "-a", "full=1") == 0
    assert report(rig.state)["not_modified"] == 4


def test_links_that_there_was_no_room_for_are_found_when_there_is(rig: Rig) -> None:
    linked(rig, home="a b c d", a="", b="", c="", d="")
    table = "discovery = 'links'\nmax_pages = 3"
    assert rig.crawl(table) == 4
    assert rig.crawl(table, "-a", "full=1") == 4
    assert len(rig.texts()) == 3
    assert rig.crawl("discovery = 'links'", "-a", "full=1") == 0
    assert len(rig.texts()) == 5


def test_links_take_over_from_a_sitemap_that_was_given_up(rig: Rig) -> None:
    linked(rig, home="a", a="b", b="", orphan="")
    rig.origin.serve_sitemap("/", "/a", "/orphan")
    assert rig.crawl(HIDE) == 0
    assert set(rig.texts()) == {"", "a", "orphan"}
    for name in ("/sitemap.xml", "/robots.txt"):
        del rig.origin.answers[name]
    table = f"{HIDE}discovery = 'links'"
    assert rig.crawl(table, "-a", "full=1") == 0
    assert set(rig.texts()) == {"", "a", "b", "orphan"}
    # Now that all links are known, what only the sitemap listed is listed nowhere.
    assert rig.crawl(table, "-a", "full=1") == 0
    assert set(rig.texts()) == {"", "a", "b"}


def test_pages_that_only_a_left_out_page_links_to_are_listed_no_more(rig: Rig) -> None:
    linked(rig, home="a old/x", a="", old_x="b", b="")
    table = f"{HIDE}discovery = 'links'\n"
    assert rig.crawl(table) == 0
    assert set(rig.texts()) == {"", "a", "old/x", "b"}
    assert rig.crawl(table + "deny = ['/old/']", "-a", "full=1") == 0
    assert set(rig.texts()) == {"", "a"}
    assert rig.crawl(table, "-a", "full=1") == 0
    assert set(rig.texts()) == {"", "a", "old/x", "b"}


@pytest.mark.parametrize("named_by", ["table", "robots"])
def test_a_sitemap_that_is_not_named_any_more_lists_nothing(rig: Rig, named_by: str) -> None:
    rig.origin.serve_sitemap("/a", "/b", sitemap="/new.xml")
    rig.origin.serve_sitemap("/a", "/b", "/api/c")
    assert rig.crawl(HIDE) == 0
    assert len(rig.texts()) == 3
    table = HIDE
    if named_by == "table":
        table += "sitemaps = ['ROOT/new.xml']"
    else:
        named = f"Sitemap: {rig.origin.url}new.xml"
        rig.origin["/robots.txt"] = Answer(named, content_type="text/plain")
    for _ in range(2):
        assert rig.crawl(table, "-a", "full=1") == 0
    assert set(rig.texts()) == {"a", "b"}


def test_a_rule_that_is_set_and_taken_back_loses_no_page(rig: Rig) -> None:
    rig.origin.serve_sitemap("/g/", "/h/")
    for path in ("/g/", "/h/"):
        rig.origin[path] = page(path, f"The text of {path}.")
    for table in ("", "drop_trailing_slash = false", "", "drop_trailing_slash = false"):
        assert rig.crawl(table) == 0
        assert sorted(rig.texts().values()) == ["The text of /g/.", "The text of /h/."]


def test_volatile_patterns_that_are_taken_back_make_nothing_cosmetic(rig: Rig) -> None:
    assert rig.crawl("volatile_patterns = ['never there']") == 0
    assert rig.crawl("", "-a", "full=1") == 0
    assert (report(rig.state)["cosmetic"], report(rig.state)["unchanged"]) == (0, 4)


def test_a_start_page_that_the_patterns_leave_out_is_read_for_its_links(rig: Rig) -> None:
    linked(rig, home="guide/a other", guide_a="guide/b", guide_b="", other="")
    assert rig.crawl("allow = ['/guide/']") == 0
    assert set(rig.texts()) == {"guide/a", "guide/b"}
    assert "/other" not in rig.origin.paths()
    assert rig.explain("")["reason"] == "kept out by allow or deny; read for its links only"
    assert rig.crawl("allow = ['/guide/']", "-a", "full=1") == 0
    assert report(rig.state)["not_modified"] == 3
    # Let in, and left out again once it is in the answers.
    assert rig.crawl("", "-a", "full=1") == 0
    assert set(rig.texts()) == {"", "guide/a", "guide/b", "other"}
    assert rig.crawl("allow = ['/guide/']") == 0
    assert set(rig.texts()) == {"guide/a", "guide/b"}


def test_with_a_sitemap_a_start_page_that_is_left_out_is_not_asked_for(rig: Rig) -> None:
    rig.origin["/"] = page("Home", "The text of home.")
    rig.origin.serve_sitemap("/", *PAGES)
    assert rig.crawl("allow = ['/api/']") == 0
    assert rig.pages_asked() == {"/robots.txt", "/sitemap.xml", "/api/c", "/api/d"}


def test_dead_links_are_not_due_at_once(rig: Rig) -> None:
    linked(rig, home="dead a b", a="dead", b="dead")
    assert rig.crawl() == 0
    assert rig.explain("dead")["status"] == "hidden"
    assert not rig.explain("dead")["due"]


def test_another_rule_keeps_the_pages_that_links_list(rig: Rig) -> None:
    linked(rig, home="a/index.html b", b="")
    rig.origin["/a/index.html"] = page("A", "The text of a.")
    for table in ("", "drop_index = false", "drop_index = false", "drop_index = false"):
        assert rig.crawl(f"{HIDE}{table}") == 0
        assert set(rig.texts()) == {"", "a/index.html", "b"}
    assert rig.explain("a/index.html")["key"].endswith("/a/index.html")


def test_approved_pages_become_a_site_that_is_found_by_its_links(rig: Rig) -> None:
    linked(rig, home="a b", a="c", b="", c="")
    assert rig.crawl(f"{HIDE}urls = ['ROOT/', 'ROOT/a']") == 0
    assert set(rig.texts()) == {"", "a"}
    assert rig.crawl(HIDE, "-a", "full=1") == 0
    assert set(rig.texts()) == {"", "a", "b", "c"}


def test_links_list_nothing_once_the_site_is_found_by_its_sitemap_only(rig: Rig) -> None:
    linked(rig, home="a b", a="", b="")
    assert rig.crawl(HIDE) == 0
    rig.origin.serve_sitemap("/", "/a")
    assert rig.crawl(f"{HIDE}discovery = 'sitemap'", "-a", "full=1") == 0
    assert set(rig.texts()) == {"", "a"}


def test_a_canonical_link_is_judged_by_the_table_of_today(rig: Rig) -> None:
    rig.origin["/b"] = page(
        "/b", "The text of /b.", head=f'<link rel="canonical" href="{rig.origin.url}a">'
    )
    assert rig.crawl("deny = ['/a$']") == 0
    assert set(rig.texts()) == {"b", "api/c", "api/d"}
    assert rig.crawl("", "-a", "full=1") == 0
    assert set(rig.texts()) == {"a", "api/c", "api/d"}


def test_a_denied_spelling_is_not_asked_for_and_the_other_one_stands(rig: Rig) -> None:
    linked(rig, home="a/index.html a/ b", b="")
    for path in ("/a/", "/a/index.html"):
        rig.origin[path] = page("A", "The text of a.")
    assert rig.crawl() == 0
    table = "deny = ['index[.]html$']"
    for _ in range(3):
        rig.crawl(table, "-a", "full=1")
        assert "/a/index.html" not in rig.origin.paths()
    assert set(rig.texts()) == {"", "a/", "b"}


def test_a_changed_table_is_applied_by_a_crawl_that_names_no_site(rig: Rig) -> None:
    assert rig.crawl("") == 0
    settings = {"FRESHCRAWL_SITES": rig.state.parent / "sites.toml"}

    def crawl() -> str:
        result = scrapy("crawl", "docs", state=rig.state, settings=settings, clock_offset_s=86_400)
        assert result.returncode == 0
        return result.stdout

    assert "nothing is due" in crawl()
    with settings["FRESHCRAWL_SITES"].open("a") as file:
        file.write("deny = ['/a$']\n")
    assert crawl() == ""
    assert "a" not in rig.texts()
    assert "nothing is due" in crawl()


def test_a_new_name_for_a_known_site_says_which_folder_to_rename(rig: Rig) -> None:
    assert scrapy("crawl", "docs", "-a", f"url={rig.origin.url}", state=rig.state).returncode == 0
    old = rig.state / f"127.0.0.1-{rig.origin.port}"
    sites = rig.state.parent / "sites.toml"
    sites.write_text(f'[sites.docs]\nurl = "{rig.origin.url}"\n')
    dry = ("crawl", "docs", "-a", "site=docs", "-a", "dry_run=1")
    result = scrapy(*dry, state=rig.state, settings={"FRESHCRAWL_SITES": sites})
    assert f"rename the folder {old} to keep it" in result.stderr
    old.rename(rig.state / "docs")
    assert rig.crawl("", "-a", "full=1") == 0
    assert report(rig.state)["not_modified"] == 4
