"""A disk that is full: one line that says so, the old generation whole, and then convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.seams import Seam
from tests.support.faults import QUESTION, STAGING, Site, second_version
from tests.support.origin import Origin
from tests.support.project import export_without_clocks, report, scrapy
from tests.support.small_disk import SmallDisk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DISK_FULL = "the disk is full; free some space and run again"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site whose first version is published, for copies."""
    with Origin() as origin:
        site = Site(origin, tmp_path_factory.mktemp("full") / "state")
        site.write("orchard")
        assert site.crawl().returncode == 0
        yield site


@pytest.fixture(scope="module")
def after(published: Site, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a first crawl of the second version exports."""
    site = Site(published.origin, tmp_path_factory.mktemp("fresh") / "state")
    second_version(site)
    assert site.crawl().returncode == 0
    return site.rows()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with SmallDisk(tmp_path / "disk") as found:
        yield found


@pytest.fixture
def site(published: Site, disk: SmallDisk) -> Site:
    """The site with its state on a small disk, of which there is a second version now."""
    own = published.copied(disk.folder / "state")
    second_version(own)
    return own


def said_once(text: str, *words: str) -> None:
    """Check that one line says what is wrong and what to do, and no traceback does."""
    assert "Traceback" not in text
    lines = [line for line in text.splitlines() if all(word in line for word in words)]
    assert len(lines) == 1, text[-3000:]


def old_answers_whole(site: Site, before: list[dict[str, Any]]) -> None:
    assert site.rows() == before
    found = site.answers()
    assert len(found) == 3
    assert {text.split(",")[0] for text in found} == {f"The {QUESTION}"}


def converges(site: Site, expected: list[dict[str, Any]]) -> None:
    done = site.crawl()
    assert done.returncode == 0, done.stderr[-3000:]
    assert site.rows() == expected
    site.agrees()


SEAMS = [
    (STAGING, "records.sqlite: "),
    (Seam.STAGED, "corpus.sqlite: "),
    (Seam.ROWS_WRITTEN, ".faiss: "),
    (Seam.MANIFEST_NAMED, "corpus.sqlite: "),
    (Seam.SWITCHED, "records.sqlite: "),
]
OTHER_SEAMS = [
    (Seam.ENCODED, "corpus.sqlite: "),
    (Seam.VECTORS_KEPT, "corpus.sqlite: "),
    (Seam.CONTENT_KEPT, ".faiss: "),
    (Seam.INDEX_WRITTEN, ".json: "),
    (Seam.INDEX_NAMED, ".json: "),
]


def fails(site: Site, disk: SmallDisk, place: str, file: str) -> None:
    """Crawl with a disk that fills at a place, and check how that ends."""
    done = site.crawl_with(f"fill={disk.folder}", place)
    disk.fill()  # also what the process gave back when it ended
    assert done.returncode == 1, done.stderr[-3000:]
    said_once(done.stderr, file, DISK_FULL)
    assert site.last_run()[0] in {"failed", "running"}


def test_disk_that_fills_again_and_again(
    site: Site, disk: SmallDisk, after: list[dict[str, Any]]
) -> None:
    """Each run gets a step further than the one before."""
    before = site.rows()
    for place, file in SEAMS:
        fails(site, disk, place, file)
        if place == Seam.SWITCHED:
            assert site.rows() == after
        else:
            old_answers_whole(site, before)
        disk.make_room()
    converges(site, after)


@pytest.mark.nightly
@pytest.mark.parametrize(("place", "file"), [*SEAMS, *OTHER_SEAMS])
def test_disk_that_fills_while_a_run_publishes(
    place: str, file: str, site: Site, disk: SmallDisk, after: list[dict[str, Any]]
) -> None:
    before = site.rows()
    fails(site, disk, place, file)
    if place == Seam.SWITCHED:
        assert site.rows() == after
    else:
        old_answers_whole(site, before)
    assert report(site.state)["status"] in {"failed", "killed"}
    disk.make_room()
    converges(site, after)


def test_readers_on_a_full_disk(site: Site, disk: SmallDisk) -> None:
    """Also where SQLite cannot make the files it shares with a writer."""
    before = site.rows()
    disk.fill()
    assert not list(site.folder.glob("*-shm"))
    for args in (["query", QUESTION], ["status"], ["explain", f"{site.origin.url}p1"]):
        result = scrapy(*args, state=site.state)
        assert (result.returncode, result.stderr) == (0, ""), args
    exported = export_without_clocks(site.state)
    assert [row["text"] for row in exported] == [row["text"] for row in before]
    said_once(site.crawl().stderr, "records.sqlite", DISK_FULL)


def test_first_crawl_on_a_full_disk(
    published: Site, disk: SmallDisk, after: list[dict[str, Any]]
) -> None:
    site = Site(published.origin, disk.folder / "state")
    second_version(site)
    disk.fill()
    done = site.crawl()
    assert done.returncode == 1
    said_once(done.stderr, DISK_FULL)
    disk.make_room()
    converges(site, after)


@pytest.mark.nightly
def test_disk_that_fills_while_nothing_has_changed(published: Site, disk: SmallDisk) -> None:
    """What was found cannot be kept: that is a failure, and the next run finds it again."""
    site = published.copied(disk.folder / "state")
    site.write("orchard")
    before = site.rows()
    done = site.crawl_with(f"fill={disk.folder}", "freshcrawl.run:Run.commit")
    disk.fill()
    assert done.returncode == 1, done.stderr[-3000:]
    said_once(done.stderr, "records.sqlite", DISK_FULL)
    old_answers_whole(site, before)
    disk.make_room()
    converges(site, before)


@pytest.mark.nightly
@pytest.mark.parametrize("kib", [4, 24, 40, 64, 96, 128, 192, 256, 384, 512])
def test_disk_with_little_room(
    kib: int, site: Site, disk: SmallDisk, after: list[dict[str, Any]]
) -> None:
    """Wherever it hits, the answers are the old ones or the new ones, whole."""
    before = site.rows()
    disk.fill(kib)
    done = site.crawl()
    disk.fill()
    assert done.returncode in {0, 1}, done.stderr[-3000:]
    assert "Traceback" not in done.stderr
    assert site.rows() in (before, after)
    if done.returncode:
        assert DISK_FULL in done.stderr
    else:
        assert site.rows() == after
    disk.make_room()
    converges(site, after)
