"""Pages that are another at each fetch, in real crawls: no false change, and no edit missed."""

from __future__ import annotations

import json
import random
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.config import Config
from freshcrawl.state import open_for_reading
from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy
from tests.support.soup import NEW, OLD, Soup
from tests.support.soup import TOPICS as SOUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HOURS, DAYS = 3_600.0, 86_400.0
TOPICS = [f"topic{letter}" for letter in "abcdefghijkl"]


class Site:
    """One origin, one state folder, and a clock that a test sets."""

    def __init__(self, folder: Path, origin: Origin) -> None:
        self.origin = origin
        self.state = folder / "state"
        self.now = time.time()
        """Epoch seconds of the last crawl."""
        self._offset = 0.0

    def later(self, seconds: float) -> None:
        """Move the clock on."""
        self._offset += seconds
        self.now = time.time() + self._offset

    def crawl(self, **settings: object) -> dict[str, Any]:
        """Crawl every page and return the report."""
        self.origin.asked.clear()
        result = scrapy(
            "crawl", "docs", "-a", f"url={self.origin.url}", "-a", "full=1",
            state=self.state, clock_offset_s=self._offset, settings=settings,
        )  # fmt: skip
        assert "Traceback" not in result.stderr, result.stderr[-3000:]
        return report(self.state)

    def verdicts(self) -> dict[str, str]:
        """Return the verdict of each page's last check, by path."""
        with_state = open_for_reading(Config(state_dir=str(self.state)), self.name)
        try:
            pages = with_state.pages().values()
            return {p.url.removeprefix(self.origin.url): p.last_verdict for p in pages}
        finally:
            with_state.close()

    @property
    def name(self) -> str:
        """Name of the site's folder."""
        [folder] = [path.name for path in self.state.iterdir() if path.is_dir()]
        return folder

    def noise_row(self, path: str) -> dict[str, Any] | None:
        """Return what is stored of a page's noise."""
        opened = open_for_reading(Config(state_dir=str(self.state)), self.name)
        try:
            key = self.origin.url.removeprefix("http://") + path
            return opened.records.get(f"noise:{key}")
        finally:
            opened.close()

    def texts(self) -> dict[str, str]:
        """Return the text in the answers, by path."""
        found: dict[str, str] = {}
        for row in export(self.state):
            path = row["url"].removeprefix(self.origin.url)
            found[path] = found.get(path, "") + "\n" + row["text"]
        return found

    def explain(self, path: str) -> dict[str, Any]:
        """Return what is known of a page."""
        url = self.origin.url + path
        [found] = json.loads(scrapy("explain", url, "--json", state=self.state).stdout)
        return dict(found)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Origin() as origin:
        yield Site(tmp_path, origin)


def day(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%d %B %Y")


def related(rng: random.Random) -> str:
    links = "".join(f'<li><a href="/{t}">{t}</a></li>' for t in rng.sample(TOPICS, 3))
    return f"More.</p><h2>Related posts</h2><ul>{links}</ul><p>End."


def ago(seconds: float) -> str:
    return f"Answered {seconds / DAYS:.0f} days ago by us."


START = [0.0]
"""When the page ``ago`` was three days old."""
NOISE: dict[str, Callable[[float, random.Random], str]] = {
    "clock": lambda now, rng: f"Made at {datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S} UTC.",
    "csrf": lambda now, rng: f'You <a href="/vote?csrf={rng.randbytes(12).hex()}&a=1">vote</a>.',
    "related": lambda now, rng: related(rng),
    "views": lambda now, rng: f"Seen by <b>{(now - 1.7e9) / 900:,.0f}</b> people.",
    "ids": lambda now, rng: f"Request {rng.randbytes(16).hex()} was answered.",
    "ago": lambda now, rng: ago(now - START[0] + 3 * DAYS),
    "daily": lambda now, rng: f"The word of {day(now)} is calm.",
    "deploy": lambda now, rng: f"This is build {rng.randbytes(10).hex()} of it.",
}
"""The noisy paragraph of each page, at a time."""


def serve(site: Site, rng: random.Random, **instead: Callable[[], str]) -> None:
    """Serve all pages as they are now; ``instead`` of a page's noise, or in its other text."""
    for name, noise in NOISE.items():
        words = instead.get(f"{name}_words", lambda: "It is calm, and 12 is the limit.")()
        mark = instead[name]() if name in instead else noise(site.now, rng)
        site.origin[f"/{name}"] = page(name, f"The page {name}.", words, mark)
    site.origin["/still"] = page("still", "Nothing moves here.")


def counts(run: dict[str, Any]) -> tuple[int, int, int]:
    return run["changed"] + run["links_only"], run["cosmetic"], run["unchanged"]


def test_noise_of_all_kinds_and_real_edits(site: Site) -> None:
    rng, number = random.Random(1), len(NOISE)
    START[0] = site.now
    site.origin.serve_sitemap("/still", *[f"/{name}" for name in NOISE])
    serve(site, rng)
    assert site.crawl()["new"] == number + 1
    site.later(2 * DAYS)
    serve(site, rng)
    assert counts(site.crawl()) == (number, 0, 1)
    published = {name: site.origin.answers[f"/{name}"] for name in NOISE}
    generation = report(site.state)["generation"]

    # From the third value on: no change, nothing embedded, nothing published.
    for hours in (48, 6.5, 6.5, 30):
        site.later(hours * HOURS)
        serve(site, rng)
        run = site.crawl()
        assert counts(run)[0] == 0, site.verdicts()
        assert (run["chunks_embedded"], run["generation"]) == (0, generation)
    # What is sent is the ETag of what is published, never that of a body that is noise.
    asked = {entry.path[1:]: entry.headers for entry in site.origin.asked}
    for name, answer in published.items():
        assert isinstance(answer, Answer)
        assert asked[name]["If-None-Match"] == answer.etag
    known = site.explain("views")
    [place] = known["noise"]
    assert (place["type"], place["proven_by"], place["around"]) == (
        "counter", "page", "Seen by **<counter>** people.",
    )  # fmt: skip
    assert known["last_verdict"] == "cosmetic"
    assert known["difference"]["reason"] == "differs only in proven noise (counter)"
    lines = scrapy("explain", f"{site.origin.url}views", state=site.state).stdout
    assert 'noise: counter in "Seen by **<counter>** people."; proven by this page' in lines

    # Edits beside noise are found at once; those inside of it, at the second check.
    beside: dict[str, Callable[[], str]] = {
        "clock_words": lambda: "It is calm, and 13 is the limit.",
        "deploy_words": lambda: "It is not calm, and 12 is the limit.",
        "csrf_words": lambda: 'It is <a href="/elsewhere">calm</a>, and 12 is the limit.',
    }
    frozen = {name: NOISE[name](site.now - 99 * DAYS, rng) for name in ("views", "ids", "related")}
    inside: dict[str, Callable[[], str]] = {
        **{name: partial(str, text) for name, text in frozen.items()},
        "daily": lambda: "The word of 03 March 2021 is calm.",
        "ago": lambda: ago(site.now - edited_at),
    }
    edited_at = site.now
    site.later(2 * DAYS)
    serve(site, rng, **beside, **inside)
    assert counts(site.crawl()) == (3, 5, 1), site.verdicts()
    verdicts = site.verdicts()
    assert (verdicts["clock"], verdicts["deploy"]) == ("changed", "changed")
    assert verdicts["csrf"] == "links_only"
    site.later(2 * HOURS)  # too soon to tell
    serve(site, rng, **beside, **inside)
    assert counts(site.crawl())[0] == 0, site.verdicts()
    site.later(2 * DAYS)
    serve(site, rng, **beside, **inside)
    assert counts(site.crawl()) == (5, 3, 1), site.verdicts()
    texts = site.texts()
    assert "13 is the limit" in texts["clock"]
    assert "not calm" in texts["deploy"]
    assert "/elsewhere" in texts["csrf"]
    assert "03 March 2021" in texts["daily"]
    assert frozen["ids"].split()[1] in texts["ids"]
    # What is published now is what the site shows.
    site.later(2 * DAYS)
    serve(site, rng, **beside, **inside)
    assert counts(site.crawl())[0] == 0, site.verdicts()


@pytest.mark.nightly
def test_the_footer_of_a_template_and_copies_of_an_hour(site: Site) -> None:
    paths = ["/one", "/two", "/three", "/four"]

    def serve_footer(at: float, words: str = "calm") -> None:
        stamp = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        for path in paths:
            text = words if path == "/one" else "calm"
            site.origin[path] = page(path, f"The page {path} is {text}.", f"Made at {stamp} UTC.")
        site.origin.serve_sitemap(*paths)

    for expected in ((0, 0, 0), (4, 0, 0), (0, 4, 0)):
        serve_footer(site.now)
        assert counts(site.crawl()) == expected
        site.later(2 * DAYS)
    # A page that comes later need not prove what three others have proven.
    paths.append("/five")
    serve_footer(site.now)
    run = site.crawl()
    assert (run["new"], *counts(run)) == (1, 0, 4, 0)
    # The same copy for an hour is no standstill.
    site.later(2 * DAYS)
    copy = site.now
    for _ in range(3):
        serve_footer(copy)
        assert counts(site.crawl()) == (0, 5, 0)
        site.later(1_500)
    [place] = site.explain("five")["noise"]
    assert place["proven_by"] == "site"
    # A copy that nobody renews, and an edit beside it.
    site.later(3 * DAYS)
    serve_footer(copy, "stormy")
    assert counts(site.crawl()) == (5, 0, 0)
    assert "stormy" in site.texts()["one"]
    assert "proven_by" in site.explain("five")["noise"][0]
    # Nothing is kept of a page that is gone.
    assert site.noise_row("five")
    site.origin["/five"] = Answer("gone", 410)
    site.later(2 * DAYS)
    site.crawl()
    assert site.noise_row("five") is None


@pytest.mark.nightly
def test_a_release_that_is_held_is_confirmed_though_no_two_answers_are_the_same(site: Site) -> None:
    rng = random.Random(3)
    words = " ".join(f"The handle {name} is turned once a day." for name in TOPICS)
    site.origin.serve_sitemap(*[f"/{topic}" for topic in TOPICS])

    def serve_all(version: str) -> None:
        for topic in TOPICS:
            mark = f"Made at {datetime.fromtimestamp(site.now, UTC):%Y-%m-%d %H:%M:%S} UTC."
            text = f"The page {topic} is of the {version} release. {words}"
            site.origin[f"/{topic}"] = page(topic, text, mark, related(rng))

    released = []
    for days, version in enumerate(("old", "old", "old", "new", "new", "new")):
        serve_all(version)
        run = site.crawl(FRESHCRAWL_GUARD_CHANGED_MIN=2 if days > 1 else 99)
        released.append((run["changed"], run["held"], run["released"]))
        site.later(1 * DAYS)
    number = len(TOPICS)
    # Found and held, found again, let go; counted once.
    assert released[3:] == [(number, number, 0), (0, number, 0), (0, 0, number)]
    assert all("new release" in text for text in site.texts().values())


@pytest.mark.nightly
def test_a_redesign_of_pages_that_show_the_time_changes_none(site: Site) -> None:
    """Their main text has no element of its own: the frame is told by its repetition."""
    site.origin.serve_sitemap(*[f"/{topic}" for topic in SOUP])
    for days, template in enumerate((OLD, OLD, OLD, NEW, NEW)):
        stamp = f"{datetime.fromtimestamp(site.now, UTC):%Y-%m-%d %H:%M:%S}"
        edits = {topic: f"To {topic} it was made at {stamp} UTC." for topic in SOUP}
        if days == 4:
            edits["backup"] = f"To backup it is not made at {stamp} UTC."
        soup = Soup(template=template, edits=edits)
        for topic in SOUP:
            site.origin[f"/{topic}"] = soup.page(topic)
        run = site.crawl(FRESHCRAWL_GUARD_CHANGED_MIN=2 if days > 1 else 99)
        assert run["held"] == 0
        if days > 1:
            assert counts(run)[:2] == ((1, len(SOUP) - 1) if days == 4 else (0, len(SOUP)))
        site.later(1 * DAYS)
    shown = " ".join(site.texts().values())
    assert not any(word in shown for word in NEW.words())
    assert "it is not made" in shown
