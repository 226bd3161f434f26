"""Bodies that are not the page, on sites that change between runs: what stays in the answers."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.answers import export_rows
from freshcrawl.config import Config
from freshcrawl.core.schedule import SchedulePolicy
from freshcrawl.explanation import explain
from freshcrawl.site_status import listed
from freshcrawl.state import open_for_reading
from tests.support.origin import Answer, Origin, page
from tests.support.project import scrapy
from tests.support.soup import Soup
from tests.support.wall_pages import ANUBIS, BACK_SOON, CLOUDFLARE, DOCUMENTATION, GITLAB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.state import SiteState

DAY = 86_400
OPEN_GUARDS = {f"FRESHCRAWL_GUARD_{what}_RATIO": 1 for what in ("REMOVED", "CHANGED", "FAILED")}
PROBE = re.compile(r"/[0-9a-f]{16}(\.html|/)?")
NAMES = ("/a.html", "/b.html", "/c.html", "/d.html", "/e.html", "/f.html")
LONG = " ".join(f"Step {step}: turn the handle once and wait for the bell." for step in range(20))


@dataclass
class Docs:
    """A site whose pages a test changes from day to day."""

    origin: Origin
    state: Path
    day: float = 0.0
    probes: int = 0
    """Requests of the last run for pages that cannot exist."""

    def crawl(self, day: float, *args: str, settings: dict[str, Any] | None = None) -> Any:
        """Crawl on a day and return the run report."""
        self.origin.asked.clear()
        result = scrapy(
            *("crawl", "docs", "-a", f"url={self.origin.url}", *args),
            state=self.state, clock_offset_s=day * DAY, settings=OPEN_GUARDS | (settings or {}),
        )  # fmt: skip
        assert result.returncode in {0, 4}, result.stderr[-3000:]
        self.probes = sum(bool(PROBE.fullmatch(asked.path)) for asked in self.origin.asked)
        self.day = day
        with self._open() as state:
            return state.reports()[-1].as_contract()

    def answers(self, path: str) -> str:
        """Return the text that the answers have of a page."""
        with self._open() as state:
            rows = list(export_rows(state, now=self._now, max_age=90 * DAY))
        return " ".join(row["text"] for row in rows if row["url"] == self.origin.url + path[1:])

    def explain(self, path: str) -> dict[str, Any]:
        """Return what is known of a page."""
        with self._open() as state:
            found = explain(state, self.origin.url + path[1:], self._now, SchedulePolicy())
        assert found is not None
        return found

    def stale(self) -> dict[str, str]:
        """Return the reasons of the stale pages, as ``status --pages stale`` has them, by path."""
        length = len(self.origin.url) - 1
        with self._open() as state:
            rows = listed(state, "stale", self._now, SchedulePolicy())
        return {row["url"][length:]: row["reason"] for row in rows}

    @property
    def _now(self) -> float:
        return time.time() + self.day * DAY

    @contextmanager
    def _open(self) -> Iterator[SiteState]:
        [name] = [folder.name for folder in self.state.iterdir()]
        state = open_for_reading(Config(state_dir=str(self.state)), name)
        yield state
        state.close()


@pytest.fixture
def docs(state: Path) -> Iterator[Docs]:
    """Serve a site of six pages that are told by their texts."""
    with Origin() as origin:
        for name in NAMES:
            origin[name] = page(f"Part {name[1].upper()}", f"The text of part {name[1]}. {LONG}")
        origin.serve_sitemap(*NAMES)
        yield Docs(origin, state)


def not_found(origin: Origin) -> Answer:
    """Return what careless sites send for pages that they do not have."""
    text = f"There is no page {origin.current_path} on this site. Go to the start page."
    return Answer(page("Page not found", text, links='<a href="/trap.html">trap</a>'))


def test_soft_404(docs: Docs) -> None:
    origin = docs.origin
    origin.unknown = lambda: not_found(origin)
    origin.serve_sitemap(*NAMES, "/never.html")
    first = docs.crawl(0)
    assert (first["new"], first["excluded"], docs.probes) == (6, 1, 1)
    never = docs.explain("/never.html")
    assert (never["status"], never["etag"]) == ("excluded", "")
    assert "pages that do not exist" in never["reason"]
    b = origin.answers.pop("/b.html")
    assert isinstance(b, Answer)
    second = docs.crawl(4)
    assert (second["rejected"], second["rejected_kinds"]) == (1, {"soft 404": 1})
    assert docs.probes == 1
    assert "text of part b" in docs.answers("/b.html")
    assert docs.stale().keys() == {"/b.html"}
    assert "pages that do not exist" in docs.explain("/b.html")["reason"]
    asked = [a for a in origin.asked if a.path == "/b.html"]
    assert asked[0].headers["If-None-Match"] == b.etag
    quiet = docs.crawl(4.1)
    assert (quiet["asked"], docs.probes) == (0, 0)
    # The page is back as it was: its validators were kept, those of the error page were not.
    origin["/b.html"] = b
    third = docs.crawl(8)
    assert (third["rejected"], third["changed"], third["new"]) == (0, 0, 0)
    assert docs.probes == 1, "the page that never was is asked for again, and judged anew"
    assert [a.status for a in origin.asked if a.path == "/b.html"] == [304]
    assert docs.stale() == {}
    origin["/never.html"] = page("Part N", f"The text of part n. {LONG}")
    assert docs.crawl(12)["new"] == 1
    assert docs.explain("/never.html")["status"] == "live"


def test_soft_404_where_the_frame_of_the_site_is_told_by_its_pages_only(docs: Docs) -> None:
    """The frame is left out of pages, and so of what they are compared with."""
    origin, soup = docs.origin, Soup()
    paths = [f"/{topic}.html" for topic in soup.topics]
    origin.answers |= {path: Answer(soup.page(path[1:-5])) for path in paths}
    origin.serve_sitemap(*paths)
    own = "<h1>Page not found</h1><p>There is no such page in the book, go to its start.</p>"
    head, foot = "".join(soup.template.before), "".join(soup.template.after)
    title = "<title>Page not found</title>"
    origin.unknown = Answer(f"<html><head>{title}</head><body>{head}{own}{foot}</body></html>")
    assert docs.crawl(0)["new"] == len(paths)
    origin.answers.pop("/backup.html")
    run = docs.crawl(4)
    assert run["rejected_kinds"] == {"soft 404": 1}
    assert "the backup tool" in docs.answers("/backup.html")


def test_where_nothing_changed_nothing_more_is_asked(docs: Docs) -> None:
    docs.origin.unknown = lambda: not_found(docs.origin)
    docs.crawl(0)
    again = docs.crawl(4, "-a", "full=1")
    assert (again["not_modified"], docs.probes) == (6, 0)
    assert sorted(docs.origin.paths()) == sorted([*NAMES, "/robots.txt", "/sitemap.xml"])


@pytest.mark.parametrize("answer", [404, 302, 500, "robots"])
def test_without_knowledge_nothing_is_rejected(docs: Docs, answer: int | str) -> None:
    """Told by its status, or not to be asked for, an unknown page says nothing of others."""
    body = docs.origin.answers["/a.html"]
    assert isinstance(body, Answer)
    headers = {"Location": "/a.html"} if answer == 302 else {}
    docs.origin.unknown = Answer(body.body, 200 if isinstance(answer, str) else answer, headers)
    if answer == "robots":
        allowed = "".join(f"Allow: {name}$\n" for name in (*NAMES, "/sitemap.xml"))
        rules = f"User-agent: *\n{allowed}Disallow: /\nSitemap: {docs.origin.url}sitemap.xml\n"
        docs.origin["/robots.txt"] = Answer(rules, content_type="text/plain")
    run = docs.crawl(0, settings={"RETRY_TIMES": 1})
    assert (run["new"], run["rejected"], run["excluded"]) == (6, 0, 0)
    assert docs.probes == {"robots": 0, 500: 2}.get(answer, 1)


def test_a_home_page_that_answers_for_unknown_urls(docs: Docs) -> None:
    def home(word: str) -> str:
        return page("Welcome", f"Here all begins, {word}. {LONG}")

    origin = docs.origin
    origin.serve_sitemap("/", *NAMES, "/latest.html", "/dead.html")
    origin["/"] = origin["/latest.html"] = home("at first")
    origin.unknown = Answer(home("at first"))
    first = docs.crawl(0)
    # The twin is known as one only once both are published; until then it has nothing of its own.
    assert docs.explain("/")["status"] == "live"
    assert docs.explain("/dead.html")["status"] == "excluded"
    assert first["new"] == 7
    for version, day in (("then", 4), ("at last", 8)):
        origin["/"] = origin["/latest.html"] = home(version)
        origin.unknown = Answer(home(version))
        origin.answers.pop("/c.html", None)
        run = docs.crawl(day)
        assert run["rejected_kinds"] == {"soft 404": 1}
        assert version in docs.answers("/")
        assert "text of part c" in docs.answers("/c.html")
        assert docs.probes == 1


def test_equal_versions_are_pages_of_their_own(docs: Docs) -> None:
    """Also the twin of a home page that was published before the home page answered for others."""
    origin = docs.origin
    names = [f"/en/{version}/x.html" for version in ("1.0", "1.1", "2.0", "2.1", "3.0")]
    origin.serve_sitemap("/", "/latest.html", *names)
    origin["/"] = origin["/latest.html"] = page("Welcome", f"Here all begins. {LONG}")
    for day, text in enumerate(["the first", "the second", "the third"]):
        origin.unknown = Answer(status=404)
        for name in names:
            origin[name] = page("X", f"The text of X is {text}. {LONG}")
        if day:
            origin["/"] = origin["/latest.html"] = page("Welcome", f"Here begins {text}. {LONG}")
            origin.unknown = Answer(page("Welcome", f"Here begins {text}. {LONG}"))
        run = docs.crawl(4 * day)
        assert (run["rejected"], run["excluded"]) == (0, 0)
        assert all(text in docs.answers(name) for name in names)
        assert not day or text in docs.answers("/latest.html")


def test_login_on_one_page_and_on_all(docs: Docs) -> None:
    origin = docs.origin
    docs.crawl(0)
    kept = dict(origin.answers)
    origin["/a.html"] = Answer(GITLAB)
    origin.serve_sitemap(*NAMES, "/new.html")
    origin["/new.html"] = Answer(GITLAB)
    one = docs.crawl(4)
    assert one["rejected_kinds"] == {"login form": 2}
    assert docs.stale().keys() == {"/a.html"}
    assert "login form" in docs.stale()["/a.html"]
    assert docs.explain("/new.html")["status"] == "pending"
    assert docs.probes == 0
    for name in NAMES:
        origin[name] = Answer(GITLAB)
    everywhere = docs.crawl(11)
    assert everywhere["rejected_kinds"] == {"login form": 7}
    assert not everywhere["complete"]
    assert docs.stale().keys() == set(NAMES)
    assert all(f"text of part {name[1]}" in docs.answers(name) for name in NAMES)
    origin.answers |= kept | {"/new.html": Answer(status=404)}
    back = docs.crawl(13)
    assert (back["rejected"], back["changed"], back["not_modified"]) == (0, 0, 6)
    assert docs.stale() == {}


def test_challenges_on_some_pages_and_maintenance_on_all(docs: Docs) -> None:
    origin = docs.origin
    docs.crawl(0)
    origin["/a.html"] = origin["/b.html"] = Answer(CLOUDFLARE)
    refresh = '<meta http-equiv="refresh" content="0; url=/.within.website/pass">'
    origin["/c.html"] = Answer(ANUBIS.replace("</head>", f"{refresh}</head>"))
    some = docs.crawl(4)
    assert some["rejected_kinds"] == {"bot challenge": 3}
    assert "noindex" in CLOUDFLARE, "which says nothing of the page behind it"
    for name in NAMES:
        origin[name] = Answer(BACK_SOON)
    known = docs.crawl(11)
    assert known["rejected_kinds"] == {"maintenance page": 6}
    assert docs.stale().keys() == set(NAMES)
    assert all(f"text of part {name[1]}" in docs.answers(name) for name in NAMES)


def test_a_page_that_nothing_tells_but_that_all_have_it(docs: Docs) -> None:
    """With an id of its own in each answer, and too long to have shrunk."""
    origin = docs.origin
    docs.crawl(0)
    number = iter(range(100, 200))

    def closed() -> Answer:
        text = f"The elves are resting, request 8f{next(number)}-a at 08:26:{next(number)}."
        return Answer(page("Hush", f"{text} {LONG}"))

    for name in NAMES:
        origin[name] = closed
    for day in (4, 8):
        run = docs.crawl(day)
        assert (run["changed"], run["rejected_kinds"]) == (0, {"one text for many": 6})
        assert "nearly the same text as 5 other pages" in docs.stale()["/a.html"]
        assert "text of part a" in docs.answers("/a.html")


def test_numbered_pages_may_change_together(docs: Docs) -> None:
    """They differed in their numbers only, and still do."""
    names = [f"/error-{number}.html" for number in range(100, 106)]
    docs.origin.serve_sitemap(*names)
    for day, words in enumerate(["was made of old", "is made anew"]):
        for name in names:
            docs.origin[name] = page(f"Error {name[7:10]}", f"This error {words}, {name[7:10]}.")
        run = docs.crawl(4 * day)
    assert (run["changed"], run["rejected"]) == (6, 0)
    assert "made anew" in docs.answers(names[0])


def test_sudden_shrink_is_believed_when_found_again(docs: Docs) -> None:
    docs.crawl(0)
    docs.origin["/a.html"] = page("Part A", "Only this is left.")
    one = docs.crawl(4)
    assert one["rejected_kinds"] == {"shrunk text": 1}
    assert re.search(r"shrank from \d+ to 6 words; believed if", docs.stale()["/a.html"])
    assert docs.explain("/a.html")["doubt"]["digest"]
    soon = docs.crawl(4.2, "-a", "full=1")
    assert soon["rejected_kinds"] == {"shrunk text": 1}
    assert "turn the handle" in docs.answers("/a.html")
    later = docs.crawl(5.3)
    assert (later["changed"], later["rejected"], docs.stale()) == (1, 0, {})
    assert docs.answers("/a.html").strip() == "Only this is left."
    assert docs.crawl(9)["rejected"] == 0
    assert docs.explain("/a.html")["doubt"] is None


def test_a_page_that_is_back_in_full_never_left(docs: Docs) -> None:
    docs.crawl(0)
    whole = docs.origin.answers["/a.html"]
    docs.origin["/a.html"] = page("Part A", "Only this is left.")
    assert docs.crawl(4)["rejected"] == 1
    docs.origin["/a.html"] = whole
    back = docs.crawl(5.3)
    assert (back["changed"], back["rejected"], back["not_modified"]) == (0, 0, 1)
    assert docs.stale() == {}
    docs.origin["/a.html"] = page("Part A", "Only this is left.")
    assert docs.crawl(20)["rejected"] == 1, "it was back in between: seen for the first time"


def test_a_release_that_moves_text_comes_one_confirmed_run_later(docs: Docs) -> None:
    docs.crawl(0)
    for name in NAMES[:4]:
        docs.origin[name] = page(f"Part {name[1].upper()}", f"Part {name[1]} is now in the book.")
    docs.origin["/f.html"] = page("Part F", f"The text of part f and others. {LONG} {LONG}")
    run = docs.crawl(4)
    assert (run["changed"], run["rejected"]) == (1, 4)
    run = docs.crawl(5.3)
    assert (run["changed"], run["rejected"], docs.stale()) == (4, 0, {})


def test_own_selectors_shrink_a_page_at_once_and_are_no_change_of_the_site(
    docs: Docs, tmp_path: Path
) -> None:
    sites = tmp_path / "sites.toml"
    table = f'[sites.own]\nurl = "{docs.origin.url}"\n'
    sites.write_text(table)
    docs.crawl(0, settings={"FRESHCRAWL_SITES": sites})
    assert "The text of part a" in docs.answers("/a.html")
    sites.write_text(f'{table}drop = ["main p"]\n')
    run = docs.crawl(4, settings={"FRESHCRAWL_SITES": sites})
    assert (run["changed"], run["unchanged"], run["rejected"]) == (0, 6, 0)
    assert "Part A" in docs.answers("/a.html")
    assert "The text of part a" not in docs.answers("/a.html")


def test_expected_heading(docs: Docs, tmp_path: Path) -> None:
    sites = tmp_path / "sites.toml"
    sites.write_text(
        f"[sites.own]\nurl = \"{docs.origin.url}\"\nexpected_heading = '^Part [A-Z]$'\n"
    )
    settings = {"FRESHCRAWL_SITES": sites}
    docs.origin.serve_sitemap(*NAMES, "/other.html")
    docs.origin["/other.html"] = page("Something else", LONG)
    first = docs.crawl(0, settings=settings)
    assert (first["new"], first["excluded"]) == (6, 1)
    assert "expected_heading" in docs.explain("/other.html")["reason"]
    docs.origin["/a.html"] = page("Oops", f"The text of part a changed. {LONG}")
    docs.origin["/b.html"] = page("Part B", f"The text of part b changed. {LONG}")
    second = docs.crawl(4, settings=settings)
    assert (second["changed"], second["rejected_kinds"]) == (1, {"unexpected heading": 1})
    assert "expected_heading" in docs.stale()["/a.html"]
    docs.origin["/a.html"] = page("Part A", f"The text of part a changed. {LONG}")
    docs.origin["/other.html"] = page("Part O", LONG)
    third = docs.crawl(8, settings=settings)
    assert (third["changed"], third["new"], third["rejected"]) == (1, 1, 0)


def test_links_of_bodies_that_are_not_the_page_are_not_followed(docs: Docs) -> None:
    origin = docs.origin
    for name in ("/robots.txt", "/sitemap.xml"):
        origin.answers.pop(name)
        origin[name] = Answer(status=404)
    links = "".join(f'<a href="{name}">{name}</a>' for name in (*NAMES, "/never.html"))
    origin["/"] = page("Start", f"All parts. {LONG}", links=links)
    origin.unknown = lambda: not_found(origin)
    docs.crawl(0)
    origin.answers.pop("/a.html")
    run = docs.crawl(4)
    assert run["rejected_kinds"] == {"soft 404": 1}
    docs.crawl(8)
    assert "/trap.html" not in docs.origin.paths()


def test_documentation_about_such_things_is_indexed(docs: Docs) -> None:
    """On a site that answers 200 for unknown pages."""
    origin = docs.origin
    origin.unknown = lambda: not_found(origin)
    bodies = [body for body in DOCUMENTATION.values() if body]
    names = [f"/{number}.html" for number in range(len(bodies))]
    origin.answers |= {name: Answer(body) for name, body in zip(names, bodies, strict=True)}
    origin.serve_sitemap(*names)
    run = docs.crawl(0)
    assert (run["new"], run["rejected"], run["excluded"]) == (len(names), 0, 0)
    again = docs.crawl(4, "-a", "full=1")
    assert (again["not_modified"], docs.probes) == (len(names), 0)
