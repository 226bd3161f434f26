"""Three real documentation sites in one ``sites.toml``: one crawl, one search, one of them down.

The tests of this module follow each other on the same state, as the days of an operator do.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.nginx import NginxSite, nginx_path
from tests.support.project import CLOCKS, export, report, scrapy
from tests.support.truth import differences, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.support.project import Embedder, Result

pytestmark = [pytest.mark.nginx, pytest.mark.slow]

DAY = 86_400
CRAWL_TIMEOUT_S = 900
MADE_OF_LINKS = re.compile(r"(genindex|search|py-modindex|sitemap|_modules/index)\.html$")
QUESTIONS = {
    "How do I autogenerate a migration by comparing the metadata?": "alembic",
    "How do I inherit from a parent template with a block tag?": "mako",
    "How do I validate an XML document against a Relax NG schema?": "lxml",
}


@dataclass
class Three:
    """Three served sites, the file that lists them, one state folder."""

    folder: Path
    sites: dict[str, NginxSite]
    trees: dict[str, tuple[Path, Path]]
    embedder: Embedder

    @property
    def state(self) -> Path:
        """State folder."""
        return self.folder / "state"

    def scrapy(self, *args: str, days: int = 0) -> Result:
        """Run a command."""
        return scrapy(
            *args,
            state=self.state,
            embedder=self.embedder,
            clock_offset_s=days * DAY,
            settings={"FRESHCRAWL_SITES": self.folder / "sites.toml"},
            timeout=CRAWL_TIMEOUT_S,
        )

    def rows(self, *names: str) -> list[dict[str, Any]]:
        """Return the exported passages of some sites."""
        roots = tuple(self.sites[name].url for name in names)
        return [row for row in export(self.state) if row["url"].startswith(roots)]

    def pages(self, name: str) -> set[str]:
        """Return the paths of a site's pages with content in the answers."""
        return content(row["url"].removeprefix(self.sites[name].url) for row in self.rows(name))


def content(paths: Iterable[str]) -> set[str]:
    """Return the paths without those of themes and of pages that are made of links."""
    return {p for p in paths if not p.startswith("_static/") and not MADE_OF_LINKS.search(p)}


REAL = pytest.param("real", marks=[pytest.mark.nightly, pytest.mark.model])


@pytest.fixture(scope="module", params=["hash", REAL])
def three(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    alembic_trees: tuple[Path, Path],
    mako_trees: tuple[Path, Path],
    lxml_trees: tuple[Path, Path],
) -> Iterator[Three]:
    if nginx_path() is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path_factory.mktemp("three")
    trees = {"alembic": alembic_trees, "mako": mako_trees, "lxml": lxml_trees}
    sites = {name: NginxSite(folder / name) for name in trees}
    try:
        for name, (tree, _) in trees.items():
            sites[name].start().deploy(tree)
        tables = [f'[sites.{name}]\nurl = "{site.url}"\n' for name, site in sites.items()]
        (folder / "sites.toml").write_text("\n".join(tables))
        yield Three(folder, sites, trees, request.param)
    finally:
        for site in sites.values():
            site.stop()


def test_one_crawl_indexes_all(three: Three) -> None:
    result = three.scrapy("crawl", "docs")
    assert result.returncode == 0, result.stderr[-3000:]
    for name, (tree, _) in three.trees.items():
        assert three.pages(name) == content(texts(tree))
        assert report(three.state, name)["complete"]
    assert three.scrapy("crawl", "docs").stdout.strip() == "nothing is due"


@pytest.mark.parametrize(("question", "site"), QUESTIONS.items())
def test_one_search_asks_all(three: Three, question: str, site: str) -> None:
    def best(*args: str) -> list[dict[str, Any]]:
        result = three.scrapy("query", question, *args, "--json")
        assert result.returncode == 0, result.stderr
        return list(json.loads(result.stdout))

    hits = best("-k", "6")
    if three.embedder == "real":
        assert hits[0]["site"] == site
    of_each = [hit for name in three.sites for hit in best("-k", "6", "--site", name)]
    of_each.sort(key=lambda hit: -hit["score"])
    assert [hit["url"] for hit in hits] == [hit["url"] for hit in of_each[:6]]


def test_a_site_that_is_down_harms_no_other(three: Three) -> None:
    before = three.rows("mako")
    three.sites["mako"].stop()
    _, changed, _ = differences(*three.trees["alembic"])
    three.sites["alembic"].deploy(three.trees["alembic"][1])
    result = three.scrapy("crawl", "docs", days=5)
    assert result.returncode == 4, result.stderr[-3000:]
    alembic, lxml, mako = (report(three.state, name) for name in ("alembic", "lxml", "mako"))
    assert (alembic["complete"], lxml["complete"], mako["complete"]) == (True, True, False)
    assert alembic["changed"] == len(changed) > 0
    assert lxml["not_modified"] == lxml["fetched"] > 0
    assert (mako["status"], mako["fetched"]) == ("ok", 0)
    # Nothing of the site that is down has left.
    assert three.rows("mako") == before != []
    assert three.scrapy("status", "--check", days=5).returncode == 4


def test_the_site_comes_back(three: Three) -> None:
    three.sites["mako"].start().deploy(three.trees["mako"][1])
    assert three.scrapy("crawl", "docs", "-a", "full=1", days=6).returncode == 0
    assert three.pages("mako") == content(texts(three.trees["mako"][1]))


@pytest.mark.parametrize("name", ["alembic", "mako", "lxml"])
def test_the_end_is_that_of_a_first_crawl(three: Three, name: str, tmp_path: Path) -> None:
    if three.embedder == "real":
        pytest.skip("the small embedder shows it")
    fresh = scrapy("crawl", "docs", "-a", f"url={three.sites[name].url}", state=tmp_path / "fresh")
    assert fresh.returncode == 0
    assert without_clocks(three.rows(name)) == without_clocks(export(tmp_path / "fresh"))


def without_clocks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return exported passages without clocks and without the name of the site."""
    return [{name: row[name] for name in row.keys() - {*CLOCKS, "site"}} for row in rows]
