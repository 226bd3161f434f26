"""Another chunk size: pages are cut anew, and nothing of that counts as a change of the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.core.chunks import CHUNKER_VERSION
from freshcrawl.extract import EXTRACTOR_VERSION
from freshcrawl.reading import chunk_size, cut_as, made_by
from freshcrawl.site_tables import make_site
from freshcrawl.staging import check_limit
from freshcrawl.stores.base import StoreError
from tests.support.embedder import CutShorter, TinyEmbedder
from tests.support.origin import Origin, page
from tests.support.project import export, export_without_clocks, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86_400
LONG = [f"Paragraph {n} tells about the {n}th option in a few words." for n in range(60)]
PATHS = [f"/page-{n}" for n in range(25)]
"""More than the guard of changes lets pass at once."""
SHORTER: dict[str, Any] = {
    "FRESHCRAWL_CHUNK_TOKENS": 64,
    "FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.CutShorter",
}
VERDICTS = ("unchanged", "changed", "links_only", "new", "not_modified", "held")
VERSIONS = f"{EXTRACTOR_VERSION}.{CHUNKER_VERSION}"


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as origin:
        for path in PATHS:
            origin[path] = page(path, f"The text of {path}.", *LONG[:7])
        origin["/page-0"] = page("/page-0", *LONG)
        origin.serve_sitemap(*PATHS)
        yield origin


def crawl(origin: Origin, state: Path, day: int, **settings: Any) -> dict[str, Any]:
    result = scrapy(
        "crawl", "docs", "-a", f"url={origin.url}",
        state=state, clock_offset_s=day * DAY, settings=settings,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]
    return report(state)


def verdicts(run: dict[str, Any]) -> dict[str, int]:
    return {name: run[name] for name in VERDICTS if run[name]}


def changed_at(state: Path) -> dict[str, str]:
    return {row["url"]: row["last_changed"] for row in export(state)}


def verified(state: Path, **settings: Any) -> str:
    done = scrapy("verify", state=state, settings=settings)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.nightly
def test_pages_are_cut_anew_as_they_come_due(origin: Origin, tmp_path: Path) -> None:
    state, fresh = tmp_path / "state", tmp_path / "fresh"
    first = crawl(origin, state, 0)
    before, dates = export_without_clocks(state), changed_at(state)
    # Not due: left alone, and what was cut for another size is no damage.
    assert verdicts(crawl(origin, state, 1, **SHORTER)) == {}
    assert export_without_clocks(state) == before
    assert "the passages of 25 pages could only be counted" in verified(state, **SHORTER)
    origin["/page-7"] = page("/page-7", "The text of /page-7.", "An edit.")
    assert verdicts(crawl(origin, state, 40, **SHORTER)) == {"unchanged": 24, "changed": 1}
    crawl(origin, fresh, 40, **SHORTER)
    assert export_without_clocks(state) == export_without_clocks(fresh)
    assert len(export(state)) > len(before)
    moved = {url for url, date in changed_at(state).items() if date != dates[url]}
    assert moved == {f"{origin.url}page-7"}
    assert "nothing damaged\n" in verified(state, **SHORTER)
    # From now on validators do, until the size is another again.
    again = crawl(origin, state, 80, **SHORTER)
    assert verdicts(again) == {"unchanged": 25, "not_modified": 25}
    assert again["chunks_embedded"] == 0
    origin["/page-7"] = page("/page-7", "The text of /page-7.", *LONG[:7])
    back = crawl(origin, state, 120)
    assert verdicts(back) == {"unchanged": 24, "changed": 1}
    assert back["chunks_embedded"] == 0, "the vectors of the size before are kept"
    assert first["chunks_embedded"] == back["chunks_reused"]
    assert export_without_clocks(state) == before


def test_reindex_cuts_all_at_once(origin: Origin, tmp_path: Path) -> None:
    state, fresh = tmp_path / "state", tmp_path / "fresh"
    crawl(origin, state, 0)
    dates = changed_at(state)
    crawl(origin, fresh, 0, **SHORTER)
    origin.paths()
    done = scrapy("reindex", state=state, settings=SHORTER)
    assert done.returncode == 0, done.stderr
    assert export_without_clocks(state) == export_without_clocks(fresh)
    assert changed_at(state) == dates
    assert "nothing damaged\n" in verified(state, **SHORTER)
    assert "nothing differs" in scrapy("reindex", state=state, settings=SHORTER).stdout
    assert origin.paths() == []
    run = crawl(origin, state, 40, **SHORTER)
    assert (verdicts(run)["unchanged"], run["chunks_embedded"], run["generation"]) == (25, 0, 2)


def test_the_default_is_made_as_it_always_was() -> None:
    site = make_site({"name": "docs", "url": "https://docs.example.com/"}, "test")
    table = {"name": "docs", "url": "https://docs.example.com/", "drop": [".ad"]}
    assert made_by(site, 256) == VERSIONS
    assert made_by(site, 128) == f"{VERSIONS}:128"
    assert made_by(make_site(table, "test"), 128).startswith(f"{VERSIONS}:128-")


@pytest.mark.parametrize(
    ("made", "size", "recut"),
    [
        ("2.1", 256, "2.3:64"),
        ("2.1:128", 128, "2.3:64"),
        ("2.1:128-abc", 128, "2.3:64-abc"),
        ("older", 256, "older"),
        ("", 256, ""),
    ],
)
def test_what_was_read_earlier_and_is_cut_today_says_both(made: str, size: int, recut: str) -> None:
    assert chunk_size(made) == size
    assert cut_as(made, "3.3:64-abd" if "-" in made else "3.3:64") == recut


def test_size_that_leaves_no_room_ends_a_run_before_its_first_request(
    origin: Origin, state: Path
) -> None:
    tiny = {"FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.TinyEmbedder"}
    done = scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state, settings=tiny)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "chunks need a limit of at least 32 tokens, not 16: set FRESHCRAWL_CHUNK_TOKENS" in (
        done.stderr
    )
    assert origin.paths() == []
    with pytest.raises(StoreError, match="higher by 16 or more"):
        check_limit(TinyEmbedder())
    check_limit(CutShorter())
