"""A release that reads or cuts pages in another way: they converge and do not count as changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.origin import Origin, page
from tests.support.project import export, export_without_clocks, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86_400
LONG = [f"Paragraph {n} tells about the {n}th option in a few words." for n in range(60)]
PATHS = [f"/page-{n}" for n in range(25)]
"""More than the guard of changes lets pass at once."""
VERDICTS = ("unchanged", "changed", "links_only", "new", "not_modified", "held")


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as origin:
        for path in PATHS:
            origin[path] = page(path, f"The text of {path}.", f"The last of {path}.")
        origin["/page-0"] = page("/page-0", *LONG)
        origin.serve_sitemap(*PATHS)
        yield origin


def crawl(origin: Origin, state: Path, day: int, release: str = "") -> dict[str, Any]:
    settings = {"FRESHCRAWL_EMBEDDER_CLASS": f"tests.support.older.{release}"} if release else {}
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


@pytest.mark.parametrize("release", ["OlderChunker", "OlderReader"])
def test_pages_are_read_anew_as_they_come_due(origin: Origin, tmp_path: Path, release: str) -> None:
    state, fresh = tmp_path / "state", tmp_path / "fresh"
    first = crawl(origin, state, 0, release)
    before, dates = export_without_clocks(state), changed_at(state)
    # Not due: left alone, though the release is another one.
    assert verdicts(crawl(origin, state, 1)) == {}
    assert export_without_clocks(state) == before
    origin["/page-7"] = page("/page-7", "The text of /page-7.", "An edit.")
    run = crawl(origin, state, 40)
    assert verdicts(run) == {"unchanged": 24, "changed": 1}
    crawl(origin, fresh, 40)
    assert export_without_clocks(state) == export_without_clocks(fresh) != before
    moved = {url for url, date in changed_at(state).items() if date != dates[url]}
    assert moved == {f"{origin.url}page-7"}
    if release == "OlderChunker":
        # All but the long page and the edited one are cut as they were.
        new = {row["text"] for row in export(state)} - {row["text"] for row in before}
        assert run["chunks_embedded"] == len(new) < first["chunks_embedded"] / 2
    # From now on validators do, and nothing is published.
    again = crawl(origin, state, 80)
    assert verdicts(again) == {"unchanged": 25, "not_modified": 25}
    assert (again["chunks_embedded"], again["generation"]) == (0, run["generation"])
