"""``scrapy verify``: each damage is found, and healed by ``--repair``, over a crawled site."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.ledger import Ledger
from freshcrawl.seams import Seam, listening
from freshcrawl.state import open_for_reading, open_for_writing
from freshcrawl.stores.base import StoreError
from freshcrawl.verify import Kind, damages, verify_folder
from freshcrawl.verify.repair import Repair
from tests.support import damage
from tests.support.embedder import HashEmbedder
from tests.support.origin import Origin
from tests.support.project import REPO, environment
from tests.support.verified import Site, aged_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.damage import Damage


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site of three generations."""
    with Origin() as origin:
        yield aged_site(origin, tmp_path_factory.mktemp("verify") / "state")


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
    damage.manifest_of_other_run: {Kind.INDEX},
    damage.old_index_flipped: {Kind.OLD_GENERATION},
    damage.old_manifest_of_other_run: {Kind.OLD_GENERATION},
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
    damage.record_version: {Kind.RECORD_VERSION},
    damage.row_of_page_no_json: {Kind.ROW},
    damage.row_of_noise_no_json: {Kind.ROW},
    damage.row_of_staged_no_json: {Kind.ROW},
    damage.staged_without_work: {Kind.STAGED_BROKEN},
    damage.staged_published: set(),
    damage.work_without_staged: {Kind.WORK_STRAY},
}
"""What each damage is found as."""
CRAWL_RESTORES: list[Damage] = [damage.page_row_gone, damage.page_row_deleted]
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


@pytest.mark.parametrize("hurts", [TOGETHER, CRAWL_RESTORES], ids=len)
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
    with damage.corpus(site.folder) as conn:
        # Else nothing would ever drop it.
        assert conn.execute("SELECT 1 FROM content WHERE NOT published").fetchone() is None


def test_corpus_of_an_older_backup(crawled: Site, site: Site) -> None:
    """The page that is gone since is in it, and the older text of one that was edited."""
    before = site.passages()
    shutil.copy(crawled.state.parent / "first.sqlite", site.folder / "corpus.sqlite")
    assert site.damage() == {Kind.RECORD_STATUS, Kind.RECORD_VERSION, Kind.INDEX_UNKNOWN}
    assert damages(site.repair().left) == []
    assert site.found() == []
    assert site.passages() != before
    site.crawl(day=41)
    assert (site.found(), site.passages()) == ([], before)


def test_staged_text_brings_lost_content_back(site: Site) -> None:
    """Though its digests are those that are published."""
    row = damage.staged_row(site.folder)
    damage.content_missing(site.folder)
    site.repair()
    damage.put_record(site.folder, f"staged:{row['key']}", row)
    state = open_for_writing(site.config(), site.name, "test", 0.0)
    try:
        assert row["key"] in Ledger(state, 1e9).staged
    finally:
        state.close()


def test_damaged_content_is_one_line(site: Site) -> None:
    damage.content_flipped(site.folder)
    with damage.corpus(site.folder) as conn:
        digest, _ = damage.content_of(conn)
    state = open_for_reading(site.config(), site.name)
    try:
        with pytest.raises(StoreError, match=r"corpus\.sqlite: .* scrapy verify --repair"):
            state.corpus.get_content(digest)
    finally:
        state.close()


def test_another_model_than_the_sites_repairs_nothing(site: Site) -> None:
    other = HashEmbedder("other")
    [finding] = verify_folder(site.folder, other)
    assert (finding.kind, finding.damage) == (Kind.NOT_CHECKED, False)
    damage.chunks_altered(site.folder)
    state = open_for_writing(site.config(), site.name, "test", 0.0)
    try:
        with pytest.raises(StoreError, match="is indexed with the model hash-64"):
            Repair(state, site.config(), other, lambda: 1e9).heal()
    finally:
        state.close()


BY_NAMES = {
    *(Seam.INDEX_WRITTEN, Seam.INDEX_CHECKED, Seam.INDEX_NAMED, Seam.MANIFEST_WRITTEN),
    Seam.INDEX_DROPPED,
}
"""Steps inside of writing an index file, or of dropping some, which is done by names."""


def test_folder_that_takes_the_place_of_the_repaired_one_is_left_as_it_is(
    site: Site, tmp_path: Path
) -> None:
    """Also where that has the same damage: whoever made it may be at it."""
    for hurt in (
        damage.generation_lost,
        damage.chunks_altered,
        damage.vectors_unused_short,
        damage.record_status,
        damage.index_of_no_generation,
    ):
        hurt(site.folder)
    passed: list[Seam] = []
    with listening(passed.append):
        shutil.copytree(site.state, tmp_path / "whole")
        Site(site.origin, tmp_path / "whole").repair()
    assert {Seam.RECORDS_COMMITTED, Seam.SWITCHED, Seam.TIDIED} <= set(passed)
    for number, seam in enumerate(passed):
        if seam in BY_NAMES:
            continue
        place = Site(site.origin, tmp_path / f"{number}-{seam}")
        shutil.copytree(site.state, place.state)
        swap = Swap(place, at=number)
        with listening(swap), suppress(StoreError):
            place.repair()
            assert number == len(passed) - 1, f"{seam}: it went on"
        assert contents(place.folder) == contents(swap.control), (number, seam)


@dataclass
class Swap:
    """Listener that puts a copy in the place of a site's folder at step number ``at``."""

    place: Site
    at: int

    @property
    def control(self) -> Path:
        """A copy that nobody knows of."""
        return self.place.state / "control"

    def __call__(self, seam: Seam) -> None:
        """Count the step."""
        if self.at == 0:
            aside = self.place.state / "aside"
            self.place.folder.rename(aside)
            shutil.copytree(aside, self.place.folder)
            shutil.copytree(aside, self.control)
        self.at -= 1


def contents(folder: Path) -> dict[str, Any]:
    """Return the index files of a site, and what its databases say."""
    found: dict[str, Any] = {path.name: path.read_bytes() for path in (folder / "index").iterdir()}
    for name in ("records.sqlite", "corpus.sqlite"):
        with closing(sqlite3.connect(folder / name)) as conn:
            found[name] = list(conn.iterdump())
    return found


def undecidable(pair: tuple[Damage, Damage]) -> bool:
    """Tell what leaves nothing to heal from: rows are other than text, or both copies are lost."""
    names = {hurt.__name__ for hurt in pair}
    return "vectors_altered" in names and any(name.startswith("index_") for name in names)


@pytest.mark.parametrize("seed", range(8))
def test_two_damages_at_once(seed: int, site: Site) -> None:
    """All that does not take the text itself is healed without a crawl."""
    before, answers = site.passages(), site.answers()
    choice = random.Random(seed)
    first, second = choice.sample([hurt for hurt in DAMAGES if hurt not in LOST], 2)
    if undecidable((first, second)):
        pytest.skip("nothing tells which vector is right")
    first(site.folder)
    second(site.folder)
    told = f"{first.__name__}, {second.__name__}"
    assert damages(site.repair().left) == [], told
    assert site.found() == [], told
    assert (site.passages(), site.answers()) == (before, answers), told


def test_repair_that_is_killed_is_done_again(site: Site, tmp_path: Path) -> None:
    """SIGKILL at each seam, of a repair that goes through all of them."""
    before, answers = site.passages(), site.answers()
    for hurt in (damage.chunks_altered, damage.vectors_deleted, damage.record_status):
        hurt(site.folder)
    line = [
        sys.executable,
        "-m",
        "tests.support.kill_repair",
        str(site.state),
        site.name,
        str(tmp_path / "k"),
    ]
    subprocess.run(line, cwd=REPO, env=environment(), check=True, timeout=300)
    killed = {path.name for path in (tmp_path / "k").iterdir()}
    assert killed == set(Seam) - {Seam.STAGED, Seam.CONTENT_KEPT, Seam.REPORTED}
    for name in sorted(killed):
        again = Site(site.origin, tmp_path / "k" / name)
        assert damages(again.repair().left) == [], name
        assert again.found() == [], name
        assert (again.passages(), again.answers()) == (before, answers), name
        # None of those that have the altered text.
        assert again.generations() == [4], name
