"""The main job on SQLAlchemy's docs: crawl, ask, recrawl, new version, with the real model.

The tests of this module follow each other on one site, as the days of an operator do. The nightly
ones do so on the whole site; most of its text is in changelogs and large pages.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.answers import search
from freshcrawl.config import Config
from freshcrawl.reader import SiteReader
from freshcrawl.state import open_for_reading
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from tests.support.nginx import NginxSite, nginx_path
from tests.support.project import export, export_without_clocks, report, scrapy
from tests.support.truth import differences, texts, without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import SiteFactory

pytestmark = [pytest.mark.nginx, pytest.mark.model, pytest.mark.slow]

DAY = 86_400
# Pages taken out of one of the versions, so that the step has new and removed pages too.
NOT_YET = ("orm/quickstart.html", "core/serializer.html", "faq/performance.html")
NO_MORE = ("orm/composites.html", "core/inspection.html", "dialects/oracle.html")
LARGE = (
    *("constraints", "connections", "custom_types", "dml", "engines", "internals", "metadata"),
    *("reflection", "selectable", "sqlelement", "type_basics"),
)
"""Large pages of the folder `core` that are left out by day."""
LARGE_ORM = (
    *("collection_api", "declarative_tables", "events", "internals", "join_conditions"),
    *("large_collections", "mapping_api", "session_api", "extensions/associationproxy"),
    *("extensions/asyncio", "extensions/hybrid", "queryguide/dml", "queryguide/inheritance"),
)
NOT_BY_DAY = (
    *("changelog", "errors.html", "dialects/postgresql.html"),
    *(f"core/{name}.html" for name in LARGE),
    *(f"orm/{name}.html" for name in LARGE_ORM),
)
QUESTIONS = Path(__file__).parent / "data" / "questions.json"
WANTED_IN_FIRST_5 = 0.85
"""Share of the questions that find a page in the first five hits."""
CRAWL_TIMEOUT_S = 2_700


@dataclass
class Docs:
    """A served site with its state folder and the two versions that are laid into it."""

    site: NginxSite
    state: Path
    before: Path
    after: Path
    whole: bool = False

    @property
    def name(self) -> str:
        """Name of the site, as derived from its URL."""
        return f"127.0.0.1-{self.site.port}"

    def crawl(self, *args: str, **options: Any) -> dict[str, Any]:
        """Crawl with the real model and return the run report."""
        self.site.clear()
        options = {"embedder": "real", "timeout": CRAWL_TIMEOUT_S, **options}
        result = scrapy(
            "crawl", "docs", "-a", f"url={self.site.url}", *args, state=self.state, **options
        )
        assert result.returncode == 0, result.stderr[-3000:]
        return report(self.state)

    def pages(self) -> set[str]:
        """Return the paths of the pages in the answers."""
        return {row["url"].removeprefix(self.site.url) for row in export(self.state)}

    def embedded_texts(self) -> set[str]:
        """Return the digests of the texts of which the live chunks have vectors."""
        state = open_for_reading(Config(state_dir=str(self.state)), self.name)
        snapshot = state.corpus.snapshot()
        found = {chunk.embed_digest for chunk in snapshot.chunks()}
        snapshot.close()
        state.close()
        return found

    def files(self) -> dict[str, str]:
        """Return digests of the index files and of the corpus."""
        folder = self.state / self.name
        paths = [*sorted((folder / "index").iterdir()), folder / "corpus.sqlite"]
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


PARTS = (
    pytest.param(NOT_BY_DAY, id="without the largest"),
    pytest.param((), id="whole", marks=pytest.mark.nightly),
)


@pytest.fixture(scope="module", params=PARTS)
def docs(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    sqlalchemy_43: Path,
    sqlalchemy_44: Path,
) -> Iterator[Docs]:
    """Serve SQLAlchemy's docs, without some of them by day, with their first version laid in."""
    if nginx_path() is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path_factory.mktemp("main-job")
    before = without(sqlalchemy_43, folder / "before", NOT_YET + request.param)
    after = without(sqlalchemy_44, folder / "after", NO_MORE + request.param)
    (folder / "nginx").mkdir()
    with NginxSite(folder / "nginx") as site:
        site.deploy(before)
        yield Docs(site, folder / "state", before, after, whole=not request.param)


@pytest.fixture(scope="module")
def first(docs: Docs) -> dict[str, Any]:
    """Crawl the site for the first time: every chunk is embedded, once for this module."""
    return docs.crawl()


def test_first_crawl_indexes_every_page_with_content(docs: Docs, first: dict[str, Any]) -> None:
    assert docs.pages() == texts(docs.before).keys()
    assert first["complete"]
    assert first["new"] == len(texts(docs.before))
    assert first["failed"] == 0
    assert first["torch_imported"]


def test_questions_find_their_page(
    docs: Docs, first: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    there = texts(docs.before).keys()
    asked = json.loads(QUESTIONS.read_text())["questions"]
    questions = [question for question in asked if there & set(question["pages"])]
    assert len(questions) >= len(asked) / 2
    config = Config(state_dir=str(docs.state))
    embedder = SentenceTransformerEmbedder(config.embed_model, "")
    reader = SiteReader(config, docs.name)
    missed = []
    for question in questions:
        hits = search(
            [reader], embedder, question["question"], 5, now=0.0, max_ages={docs.name: DAY}
        )
        found = [hit.url.removeprefix(docs.site.url) for hit in hits]
        if not set(found) & set(question["pages"]):
            missed.append((question["id"], found))
    reader.close()
    with capsys.disabled():
        print(f"\n{len(questions) - len(missed)} of {len(questions)} questions in the first 5")
    assert len(questions) - len(missed) >= WANTED_IN_FIRST_5 * len(questions), missed


def test_query_command_answers_with_clocks(docs: Docs, first: dict[str, Any]) -> None:
    result = scrapy(
        "query", "What does it mean that an object is in the detached state?", "--json",
        state=docs.state, embedder="real",
    )  # fmt: skip
    hits = json.loads(result.stdout)
    assert len(hits) == 5
    assert {"glossary.html", "orm/session_state_management.html"} & {
        hit["url"].removeprefix(docs.site.url) for hit in hits
    }
    assert all(hit["last_checked"] and hit["indexed_at"] and not hit["stale"] for hit in hits)
    assert result.stderr == ""


def test_full_rerun_without_changes_costs_no_body_and_no_embedding(
    docs: Docs, first: dict[str, Any]
) -> None:
    before = docs.files()
    again = docs.crawl("-a", "full=1")
    pages = [r for r in docs.site.requests() if r.path.endswith(".html")]
    assert {r.status for r in pages} == {304}
    assert len(pages) == again["not_modified"] == len(list(docs.before.rglob("*.html")))
    assert sum(r.body_bytes for r in pages) == again["page_bytes"] == 0
    assert (again["chunks_embedded"], again["changed"], again["new"]) == (0, 0, 0)
    assert not again["torch_imported"]
    assert docs.files() == before


def test_rerun_with_nothing_due_asks_for_no_page(docs: Docs, first: dict[str, Any]) -> None:
    again = docs.crawl()
    assert sorted(r.path for r in docs.site.requests()) == ["/robots.txt", "/sitemap.xml"]
    assert again["not_due"] == again["discovered"] > 0


def test_next_version_finds_what_is_new_changed_and_removed(
    docs: Docs, first: dict[str, Any]
) -> None:
    new, changed, removed = differences(docs.before, docs.after)
    assert set(NOT_YET) <= new
    assert set(NO_MORE) <= removed
    known = docs.embedded_texts()
    docs.site.deploy(docs.after)
    run = docs.crawl("-a", "full=1")
    assert run["held"] == 0
    assert (run["new"], run["changed"], run["gone"]) == (len(new), len(changed), len(removed))
    assert docs.pages() == texts(docs.after).keys()
    # Exactly the passages whose text no page had before were embedded.
    assert run["chunks_embedded"] == len(docs.embedded_texts() - known) > 0
    # Of the pages that are left out by day next to nothing is edited.
    assert run["chunks_reused"] > (5 if docs.whole else 3) * run["chunks_embedded"]
    with_hash = docs.state.parent / "fresh"
    fresh = scrapy(
        "crawl", "docs", "-a", f"url={docs.site.url}", state=with_hash, timeout=CRAWL_TIMEOUT_S
    )
    assert fresh.returncode == 0, fresh.stderr[-3000:]
    assert export_without_clocks(docs.state) == export_without_clocks(with_hash)


@pytest.mark.nightly
def test_server_without_validators_gives_the_same(
    nginx_site: SiteFactory, docs: Docs, tmp_path: Path
) -> None:
    new, changed, removed = differences(docs.before, docs.after)
    site = nginx_site(validators=False)
    site.deploy(docs.before)
    docs = Docs(site, tmp_path / "state", docs.before, docs.after)
    docs.crawl(embedder="hash")
    site.deploy(docs.after)
    run = docs.crawl("-a", "full=1", embedder="hash")
    assert run["not_modified"] == 0
    assert (run["new"], run["changed"], run["gone"]) == (len(new), len(changed), len(removed))
    fresh = scrapy("crawl", "docs", "-a", f"url={site.url}", state=tmp_path / "fresh")
    assert fresh.returncode == 0, fresh.stderr[-3000:]
    assert export_without_clocks(docs.state) == export_without_clocks(tmp_path / "fresh")
