"""``scrapy verify``: each damage is found, and healed by ``--repair``, over a crawled site."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.answers import export_rows, search
from freshcrawl.config import Config
from freshcrawl.state import open_for_reading, open_for_writing
from freshcrawl.verify import Kind, damages, verify_folder
from freshcrawl.verify.repair import Healed, Repair
from tests.support import damage
from tests.support.embedder import HashEmbedder
from tests.support.origin import Answer, Origin, page
from tests.support.project import CLOCKS, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.damage import Damage

DAY = 86_400
PATHS = [f"/{name}" for name in ("a", "b", "c", "d", "e", "f")]
LONG = [f"Paragraph {n} tells about the {n}th option in a few words or more." for n in range(60)]
MODEL = HashEmbedder()
QUESTION = "the 40th option"


@dataclass
class Site:
    """A crawled site and its state folder."""

    origin: Origin
    state: Path

    @property
    def name(self) -> str:
        """Name of the site."""
        return f"127.0.0.1-{self.origin.port}"

    @property
    def folder(self) -> Path:
        """Its own folder of the state."""
        return self.state / self.name

    def config(self) -> Config:
        """Return the settings."""
        return Config(state_dir=str(self.state))

    def crawl(self, day: int = 0) -> None:
        """Crawl what is due some days after the first crawl."""
        done = scrapy(
            "crawl", "docs", "-a", f"url={self.origin.url}", state=self.state,
            clock_offset_s=day * DAY,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]

    def found(self) -> list[tuple[Kind, bool]]:
        """Return the kinds of what is found, and whether it is damage."""
        return sorted({(f.kind, f.damage) for f in verify_folder(self.folder, MODEL)})

    def damage(self) -> set[Kind]:
        """Return the kinds of damage."""
        return {finding.kind for finding in damages(verify_folder(self.folder, MODEL))}

    def repair(self) -> Healed:
        """Mend it."""
        state = open_for_writing(self.config(), self.name, "test", 0.0)
        try:
            return Repair(state, self.config(), MODEL, time.time).heal()
        finally:
            state.close()

    def passages(self) -> list[dict[str, Any]]:
        """Return what ``export`` prints, without the clocks."""
        state = open_for_reading(self.config(), self.name)
        try:
            rows = list(export_rows(state, now=time.time(), max_age=1e9))
        finally:
            state.close()
        hidden = {*CLOCKS, "stale"}
        return [{name: row[name] for name in row if name not in hidden} for row in rows]

    def answers(self) -> list[tuple[str, float]]:
        """Return the best answers to a question."""
        state = open_for_reading(self.config(), self.name)
        try:
            hits = search([state], MODEL, QUESTION, 5, now=0.0, max_ages={self.name: 1e9})
        finally:
            state.close()
        return [(hit.text, hit.score) for hit in hits]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site of four generations: pages changed, one left, one came back."""
    with Origin() as origin:
        for path in PATHS:
            origin[path] = page(path, f"The text of {path}.", *LONG[: 60 if path == "/b" else 12])
        origin.serve_sitemap(*PATHS)
        site = Site(origin, tmp_path_factory.mktemp("verify") / "state")
        site.crawl()
        origin["/c"] = page("/c", "Another text of /c.", *LONG[:16])
        site.crawl(day=20)
        origin["/f"] = Answer("gone", 410)
        site.crawl(day=40)
        assert site.found() == []
        yield site


@pytest.fixture
def site(crawled: Site, tmp_path: Path) -> Site:
    """A copy of it for one test."""
    shutil.copytree(crawled.state, tmp_path / "state")
    return Site(crawled.origin, tmp_path / "state")


OLD = Kind.OLD_GENERATION
DAMAGES: dict[Damage, set[Kind]] = {
    damage.index_missing: {Kind.INDEX},
    damage.index_truncated: {Kind.INDEX},
    damage.index_flipped: {Kind.INDEX},
    damage.index_foreign: {Kind.INDEX},
    damage.index_foreign_sealed: {Kind.VECTORS_DIFFER},
    damage.index_of_other_ids_sealed: {Kind.INDEX},
    damage.index_of_other_dimension_sealed: {Kind.INDEX},
    damage.index_with_extra_vectors_sealed: {Kind.INDEX},
    damage.index_of_other_kind_sealed: {Kind.INDEX},
    damage.manifest_missing: {Kind.INDEX},
    damage.manifest_damaged: {Kind.INDEX},
    damage.manifest_of_other_model: {Kind.INDEX},
    damage.old_index_flipped: {Kind.OLD_GENERATION},
    damage.index_of_no_generation: {Kind.INDEX_UNKNOWN},
    damage.generation_ahead: {Kind.INDEX},
    damage.generation_lost: {Kind.GENERATION_BEHIND, Kind.COUNTS},
    damage.counts_altered: {Kind.COUNTS},
    damage.chunks_deleted_some: {Kind.CHUNKS, Kind.COUNTS, Kind.INDEX, OLD},
    damage.chunks_deleted_page: {Kind.CHUNKS, Kind.COUNTS, Kind.INDEX, OLD},
    damage.chunks_altered: {Kind.CHUNKS},
    damage.chunks_of_no_page: {Kind.CHUNKS_STRAY, Kind.COUNTS, Kind.INDEX, OLD},
    damage.chunks_added_to_page: {Kind.CHUNKS, Kind.COUNTS, Kind.INDEX, OLD},
    damage.vectors_short: {Kind.VECTORS},
    damage.vectors_nan: {Kind.VECTORS},
    damage.vectors_not_normalised: {Kind.VECTORS},
    damage.vectors_altered: {Kind.VECTORS_DIFFER, OLD},
    damage.vectors_relabelled: {Kind.VECTORS},
    damage.vectors_deleted: {Kind.VECTORS},
    damage.vectors_unused_short: {Kind.VECTORS_UNUSED},
    damage.content_flipped: {Kind.CONTENT_DAMAGED},
    damage.content_of_other_text: {Kind.CONTENT_DAMAGED},
    damage.content_missing: {Kind.CONTENT_MISSING},
    damage.record_missing: {Kind.RECORD_MISSING},
    damage.record_status: {Kind.RECORD_STATUS},
    damage.record_made_by: {Kind.RECORD_MADE_BY},
    damage.record_unpublished: {Kind.RECORD_UNPUBLISHED},
    damage.row_of_page_no_json: {Kind.ROW},
    damage.row_of_noise_no_json: {Kind.ROW},
    damage.row_of_staged_no_json: {Kind.ROW},
    damage.staged_without_work: {Kind.STAGED_BROKEN},
    damage.staged_published: set(),
    damage.work_without_staged: {Kind.WORK_STRAY},
}
"""What each damage is found as."""
CRAWL_RESTORES: dict[Damage, set[Kind]] = {
    damage.page_row_deleted: {Kind.CHUNKS_STRAY, Kind.COUNTS, Kind.RECORD_UNPUBLISHED},
    damage.page_row_gone: {Kind.CHUNKS_STRAY, Kind.COUNTS, Kind.RECORD_STATUS},
}
"""What takes a page out of the answers until the next crawl, as nothing else has it."""
LOST = {damage.content_flipped, damage.content_of_other_text, damage.content_missing}


def named(kinds: Any) -> list[str]:
    return [function.__name__ for function in kinds]


@pytest.mark.parametrize("hurt", DAMAGES, ids=named(DAMAGES))
def test_damage_is_found_and_healed(hurt: Damage, site: Site) -> None:
    before, answers = site.passages(), site.answers()
    hurt(site.folder)
    assert site.damage() == DAMAGES[hurt]
    if hurt is damage.staged_published:
        assert site.found() == [(Kind.STAGED_DONE, False)]
    healed = site.repair()
    assert damages(healed.left) == []
    waits = [(Kind.CONTENT_MISSING, False), (Kind.NOT_CHECKED, False)]
    assert site.found() == (waits if hurt in LOST else [])
    assert (site.passages(), site.answers()) == (before, answers)
    files = sorted(path.read_bytes() for path in site.folder.rglob("index/*"))
    assert site.repair().found == healed.left
    assert sorted(path.read_bytes() for path in site.folder.rglob("index/*")) == files


TOGETHER: list[Damage] = [
    damage.row_of_staged_no_json,
    damage.work_without_staged,
    damage.old_index_flipped,
    damage.index_of_no_generation,
    damage.chunks_deleted_some,
    damage.chunks_deleted_page,
    damage.chunks_of_no_page,
    damage.vectors_short,
    damage.content_missing,
    damage.record_unpublished,
    damage.row_of_page_no_json,
    damage.index_missing,
]
"""Of one page even the text, the vectors and the index file at once."""


@pytest.mark.parametrize("hurts", [TOGETHER, *([hurt] for hurt in CRAWL_RESTORES)], ids=len)
def test_what_else_is_lost_the_next_crawl_brings_back(hurts: list[Damage], site: Site) -> None:
    before = site.passages()
    for hurt in hurts:
        hurt(site.folder)
    assert damages(site.repair().left) == []
    assert site.damage() == set()
    assert site.passages() != before
    site.crawl(day=41)
    assert site.found() == []
    assert site.passages() == before
