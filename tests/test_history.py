"""The versions of a page, and how two of them differ."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.config import Config, ConfigError
from freshcrawl.page_history import diff, history
from freshcrawl.state import SiteState, open_for_reading
from freshcrawl.stores.base import DamagedContentError, StoreError
from tests.support.origin import Answer, Origin, page
from tests.support.project import scrapy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEXTS = (
    "The valve opens at 20 bar and closes by itself.",
    "The valve opens at 30 bar and closes by itself.",
    "The valve opens at 30 bar. Close it by hand.",
)
VERSIONS = {"FRESHCRAWL_VERSIONS_KEPT": 3, "FRESHCRAWL_GENERATIONS_KEPT": 1}


class Site:
    """A site and its state: one page with four versions, one that moved, one that stands."""

    def __init__(self, origin: Origin, state: Path) -> None:
        self.origin, self.folder = origin, state

    def crawl(self, *args: str, code: int = 0, **settings: object) -> None:
        """Crawl all of it."""
        args = ("crawl", "docs", "-a", f"url={self.origin.url}", "-a", "full=1", *args)
        done = scrapy(*args, state=self.folder, settings={**VERSIONS, **settings})
        assert done.returncode == code, done.stderr[-3000:]

    def url(self, path: str) -> str:
        """Return the URL of a page."""
        return f"{self.origin.url}{path}"

    def open(self) -> SiteState:
        """Return its state, opened for reading."""
        [name] = [path.name for path in self.folder.iterdir()]
        return open_for_reading(Config(state_dir=str(self.folder)), name)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Origin() as origin:
        site = Site(origin, tmp_path_factory.mktemp("history") / "state")
        origin["/stands"] = page("Stands", "It does not change at all.")
        origin["/moves"] = page("Moves", "It will be found elsewhere.")
        for number, words in enumerate(TEXTS):
            origin["/valve"] = page("Valve", words)
            origin.serve_sitemap("/valve", "/stands", "/moves")
            if number == 1:
                origin["/moves"] = Answer("", 301, {"Location": "/moved"})
                origin["/moved"] = page("Moves", "It will be found elsewhere.")
            site.crawl()
        origin["/valve"] = page("Valve", TEXTS[2], "Waits for a person.")
        # A guard that one page trips: its text is staged and held.
        site.crawl(code=3, FRESHCRAWL_GUARD_CHANGED_MIN=0, FRESHCRAWL_GUARD_CHANGED_RATIO=0)
        yield site


@pytest.fixture
def state(site: Site) -> Iterator[SiteState]:
    with closing(site.open()) as state:
        yield state


def looked_up(site: Site, state: SiteState, path: str) -> dict[str, Any]:
    found = history(state, site.url(path))
    assert found is not None
    return found


def test_versions_newest_first(site: Site, state: SiteState) -> None:
    found = looked_up(site, state, "valve")
    versions = found["versions"]
    spans = [(v["from_generation"], v["to_generation"]) for v in versions]
    assert spans == [(3, None), (2, 2), (1, 1)]
    assert [v["left_at"] for v in versions[1:]] == [v["published_at"] for v in versions[:-1]]
    assert versions[0]["left_at"] is None
    changed = [(v["words_added"], v["words_removed"]) for v in versions]
    assert changed == [(4, 4), (1, 1), (None, None)]
    assert {v["title"] for v in versions} == {"Valve"}
    assert all(v["content_kept"] for v in versions)
    assert len({v["content_digest"] for v in versions}) == 3


@pytest.mark.parametrize("spelling", ["valve", "valve/", "valve#part", "valve?utm_source=x"])
def test_any_spelling_of_the_url(site: Site, state: SiteState, spelling: str) -> None:
    assert looked_up(site, state, spelling)["url"] == site.url("valve")


def test_page_that_moved_says_where_to(site: Site, state: SiteState) -> None:
    found = looked_up(site, state, "moves")
    assert (found["status"], found["moved_to"]) == ("alias", site.url("moved"))
    assert [v["status"] for v in found["versions"]] == ["alias", "live"]


def test_what_is_not_known(site: Site, state: SiteState) -> None:
    assert history(state, site.url("nowhere")) is None
    assert diff(state, site.url("nowhere"), None, None) is None
    with pytest.raises(ConfigError, match="give the URL of a page"):
        history(state, "mailto:x")


def changed_lines(found: dict[str, Any] | None) -> list[str]:
    assert found is not None
    return [line for line in found["diff"][2:] if line[0] in "+-"]


def test_diff_of_the_last_change(site: Site, state: SiteState) -> None:
    found = diff(state, site.url("valve"), None, None)
    assert found is not None
    assert found["diff"][0].startswith(f"--- {site.url('valve')} generation 2, 2")
    assert found["diff"][1].startswith(f"+++ {site.url('valve')} generation 3, 2")
    assert changed_lines(found) == [f"-{TEXTS[1]}", f"+{TEXTS[2]}"]
    assert (found["words_added"], found["words_removed"]) == (4, 4)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (1, None, [f"-{TEXTS[0]}", f"+{TEXTS[2]}"]),
        (1, 2, [f"-{TEXTS[0]}", f"+{TEXTS[1]}"]),
        (None, 2, [f"-{TEXTS[0]}", f"+{TEXTS[1]}"]),
        (3, 1, [f"-{TEXTS[2]}", f"+{TEXTS[0]}"]),
        (2, 2, []),
    ],
)
def test_diff_of_chosen_versions(
    site: Site, state: SiteState, old: int | None, new: int | None, lines: list[str]
) -> None:
    assert changed_lines(diff(state, site.url("valve"), old, new)) == lines


def test_diff_with_what_waits(site: Site, state: SiteState) -> None:
    found = diff(state, site.url("valve"), None, None, staged=True)
    assert changed_lines(found) == ["+", "+Waits for a person."]
    assert found is not None
    assert found["to"]["held"] == "changes"
    assert ", held: changes" in found["diff"][1]
    with pytest.raises(StoreError, match="stands waits to be published"):
        diff(state, site.url("stands"), None, None, staged=True)


def test_page_that_left_differs_in_all_of_its_text(site: Site, state: SiteState) -> None:
    found = diff(state, site.url("moves"), None, None)
    assert set(changed_lines(found)) == {"-# Moves", "-", "-It will be found elsewhere."}


@pytest.mark.parametrize(
    ("path", "generations", "said"),
    [
        ("valve", (9, None), "there is no generation 9; the current one is 3"),
        ("valve", (None, 0), "there is no generation 0"),
        ("valve", (None, 1), "no version of .*valve before generation 1 is kept; kept: 1, 2, 3-"),
        ("moved", (1, None), "no version of .*moved in generation 1 is kept; kept: 2-"),
        ("stands", (None, None), "no version of .*stands before generation 1 is kept; kept: 1-"),
    ],
)
def test_versions_that_there_are_not(
    site: Site,
    state: SiteState,
    path: str,
    generations: tuple[int | None, int | None],
    said: str,
) -> None:
    with pytest.raises(StoreError, match=said):
        diff(state, site.url(path), *generations)


def test_content_that_is_not_kept_any_more_is_said(
    site: Site, state: SiteState, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = looked_up(site, state, "valve")["versions"][-1]
    whole = state.corpus.get_content
    with closing(state.corpus.snapshot()) as snapshot:
        page = snapshot.versions(looked_up(site, state, "valve")["key"])[-1].page
    monkeypatch.setattr(
        type(state.corpus),
        "get_content",
        lambda self, digest: None if digest == page.content else whole(digest),
    )
    with pytest.raises(
        StoreError, match=r"the content of .*valve generation 1, .* is not kept any"
    ):
        diff(state, site.url("valve"), 1, None)
    told = looked_up(site, state, "valve")["versions"]
    assert [v["content_kept"] for v in told] == [True, True, False]
    assert told[1]["words_added"] is None
    assert first["content_kept"]


def fail(digest: str) -> bytes:
    raise DamagedContentError("the kept content of a page is damaged")


@pytest.mark.parametrize("read", [fail, lambda digest: b"{", lambda digest: b"[1]"])
def test_one_version_with_damaged_content_hides_no_other(
    site: Site,
    state: SiteState,
    monkeypatch: pytest.MonkeyPatch,
    read: Callable[[str], bytes],
) -> None:
    whole = state.corpus.get_content
    with closing(state.corpus.snapshot()) as snapshot:
        page = snapshot.versions(looked_up(site, state, "valve")["key"])[1].page
    monkeypatch.setattr(
        type(state.corpus),
        "get_content",
        lambda self, digest: read(digest) if digest == page.content else whole(digest),
    )
    told = looked_up(site, state, "valve")["versions"]
    assert [v["content_kept"] for v in told] == [True, False, True]
    assert [v["words_added"] for v in told] == [None, None, None]


def test_commands(site: Site) -> None:
    done = scrapy("history", site.url("valve"), state=site.folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == site.url("valve")
    assert [line.strip() for line in lines if "generation" in line] == [
        f'generation {span}: live "Valve"' for span in ("3-", "2", "1")
    ]
    assert "    4 words added, 4 removed" in lines
    done = scrapy("diff", site.url("valve"), "--json", state=site.folder)
    assert done.returncode == 0
    assert json.loads(done.stdout)[0]["diff"][-1] == f"+{TEXTS[2]}"
    done = scrapy("diff", site.url("nowhere"), state=site.folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
