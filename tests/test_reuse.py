"""A passage is embedded once, wherever its text goes: other pages, other URLs, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.origin import Answer, Origin, page
from tests.support.project import export, report, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86_400
PATHS = ("/a", "/b", "/c")


class Site:
    """A site that is crawled a day later each time."""

    def __init__(self, origin: Origin, state: Path) -> None:
        self.origin = origin
        self.state = state
        self._day = 0

    def crawl(self) -> dict[str, Any]:
        """Crawl all pages and return the run's report."""
        result = scrapy(
            "crawl", "docs", "-a", f"url={self.origin.url}", "-a", "full=1",
            state=self.state, clock_offset_s=self._day * DAY,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr[-3000:]
        self._day += 1
        return report(self.state)

    def texts(self) -> dict[str, list[str]]:
        """Return the texts in the answers by path."""
        found: dict[str, list[str]] = {}
        for row in export(self.state):
            found.setdefault(row["url"].removeprefix(self.origin.url), []).append(row["text"])
        return found


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Origin() as origin:
        for path in PATHS:
            origin[path] = page(path, f"The text of {path}.")
        origin.serve_sitemap(*PATHS)
        yield Site(origin, tmp_path / "state")


def sections(**texts: str) -> str:
    body = "".join(f"<h2>{name}</h2><p>{text}</p>" for name, text in texts.items())
    return page("Guide").replace("</h1>", f"</h1>{body}")


@pytest.mark.parametrize("redirects", [True, False])
def test_moved_page_is_not_embedded_again(site: Site, redirects: bool) -> None:
    assert site.crawl()["chunks_embedded"] == 3
    site.origin["/new"] = page("/a", "The text of /a.")
    site.origin["/a"] = Answer(
        status=301 if redirects else 404, headers={"Location": "/new"} if redirects else {}
    )
    site.origin.serve_sitemap("/new", "/b", "/c")
    run = site.crawl()
    assert (run["new"], run["chunks_embedded"], run["chunks_reused"]) == (1, 0, 1)
    assert site.texts() == {
        "new": ["The text of /a."], "b": ["The text of /b."], "c": ["The text of /c."],
    }  # fmt: skip


def test_page_that_comes_back_is_not_embedded_again(site: Site) -> None:
    site.crawl()
    site.origin["/a"] = Answer(status=410)
    assert site.crawl()["gone"] == 1
    assert "a" not in site.texts()
    site.origin["/a"] = page("/a", "The text of /a.")
    assert site.crawl()["chunks_embedded"] == 0
    assert site.texts()["a"] == ["The text of /a."]


def test_text_that_comes_back_is_not_embedded_again(site: Site) -> None:
    site.crawl()
    site.origin["/a"] = page("/a", "Another text.")
    assert site.crawl()["chunks_embedded"] == 1
    site.origin["/a"] = page("/a", "The text of /a.")
    run = site.crawl()
    assert (run["changed"], run["chunks_embedded"]) == (1, 0)


def test_section_moved_to_another_page_is_not_embedded_again(site: Site) -> None:
    site.origin["/a"] = sections(Install="Ask pip.", Run="Type run.")
    site.origin["/b"] = sections(Stop="Type stop.")
    assert site.crawl()["chunks_embedded"] == 4
    site.origin["/a"] = sections(Run="Type run.")
    site.origin["/b"] = sections(Install="Ask pip.", Stop="Type stop.")
    run = site.crawl()
    assert (run["changed"], run["chunks_embedded"]) == (2, 0)
    assert site.texts()["b"] == ["Ask pip.", "Type stop."]


def test_renamed_heading_embeds_what_stands_below_it(site: Site) -> None:
    site.origin["/a"] = sections(Install="Ask pip.", Run="Type run.")
    assert site.crawl()["chunks_embedded"] == 4
    site.origin["/a"] = sections(Setup="Ask pip.", Run="Type run.")
    assert site.crawl()["chunks_embedded"] == 1
    site.origin["/a"] = sections(Setup="Ask pip.", Run="Type run.").replace("Guide", "Manual")
    assert site.crawl()["chunks_embedded"] == 2
