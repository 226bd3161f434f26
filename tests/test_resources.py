"""Read-only state, descriptors and memory that run out: one line, old answers, convergence."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.config import Config
from freshcrawl.seams import Seam
from freshcrawl.state import open_for_reading, open_for_writing
from freshcrawl.stores.locks import LockedError
from tests.support.faults import QUESTION, STAGING, Site, run_with, second_version
from tests.support.origin import Origin
from tests.support.permissions import AS_OTHERS, needs_permissions
from tests.support.project import REPO, Result, command, environment, report, scrapy
from tests.support.small_disk import SmallDisk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOO_MANY = "too many files open; raise its limit"
ENOUGH_FILES = 64
"""What docs/operations.md promises."""
NO_MEMORY = "out of memory; give the process more"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site whose first version is published, for copies."""
    with Origin() as origin:
        site = Site(origin, tmp_path_factory.mktemp("resources") / "state")
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
def site(published: Site, tmp_path: Path) -> Site:
    """The site with a state of its own, of which there is a second version now."""
    own = published.copied(tmp_path / "state")
    second_version(own)
    return own


def said(text: str, *words: str) -> None:
    """Check that a line says what is wrong and what to do, and no traceback does."""
    assert "Traceback" not in text, text[-3000:]
    assert [line for line in text.splitlines() if all(word in line for word in words)], text[-3000:]


def converges(site: Site, expected: list[dict[str, Any]]) -> None:
    done = site.crawl()
    assert done.returncode == 0, done.stderr[-3000:]
    assert site.rows() == expected
    site.agrees()


READERS = [["query", QUESTION, "--json"], ["status"], ["export", "--format", "jsonl"]]


# -- state that can only be read ---------------------------------------------------------------


def test_state_on_a_read_only_file_system(published: Site, tmp_path: Path) -> None:
    with SmallDisk(tmp_path / "disk") as disk:
        site = published.copied(disk.folder / "state")
        expected = site.rows()
        disk.read_only(True)
        site.origin.paths()
        for args in READERS:
            result = scrapy(*args, state=site.state)
            assert (result.returncode, result.stderr) == (0, ""), args
            assert result.stdout
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        assert [row["text"] for row in lines] == [row["text"] for row in expected]
        refused = site.crawl()
        said(refused.stderr, ".lock", "mounted for reading only", "FRESHCRAWL_STATE_DIR")
        assert (refused.returncode, site.origin.paths()) == (1, [])
        disk.read_only(False)
        converges(site, expected)


@pytest.mark.nightly
def test_killed_run_on_a_file_system_that_is_read_only_now(site: Site, tmp_path: Path) -> None:
    """What is in ``-wal`` alone is read too, or else its want is told."""
    with SmallDisk(tmp_path / "disk") as disk:
        own = site.copied(disk.folder / "state")
        line = command(own.crawl_args, own.state, "hash", 0, None)[3:]
        subprocess.run(
            [sys.executable, "-m", "tests.support.crash_at", "freshcrawl.run:Run.adopt", *line],
            cwd=REPO, env=environment(), capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        wal = own.folder / "corpus.sqlite-wal"
        assert wal.stat().st_size
        disk.read_only(True)
        assert {text.split()[1] for text in own.texts()} == {"meadow"}
        disk.read_only(False)
        (own.folder / "corpus.sqlite-shm").unlink()
        disk.read_only(True)
        result = scrapy("query", QUESTION, state=own.state)
        assert (result.returncode, result.stdout) == (1, "")
        said(result.stderr, "corpus.sqlite", "only where the folder can be written")
        disk.read_only(False)
        assert {text.split()[1] for text in own.texts()} == {"meadow"}


@needs_permissions
def test_state_of_another_user(published: Site, tmp_path: Path) -> None:
    """Who may only read it is answered, and cannot crawl."""
    site = published.copied(tmp_path / "state")
    for path in (site.state, *site.state.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(path.name for path in site.state.rglob("*"))
    for args in READERS[:1]:
        result = as_other(*args, state=site.state)
        assert (result.returncode, result.stderr) == (0, ""), args
    refused = as_other(*site.crawl_args, state=site.state)
    assert refused.returncode == 1
    said(refused.stderr, ".lock", "must be writable by this user")
    assert sorted(path.name for path in site.state.rglob("*")) == before
    for path in (site.state, *site.state.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_reader_that_shares_nothing_keeps_writers_out(published: Site, tmp_path: Path) -> None:
    """Else it would see a file that changes below it."""
    with SmallDisk(tmp_path / "disk") as disk:
        site = published.copied(disk.folder / "state")
        disk.fill()
        config = Config(state_dir=str(site.state))
        held = open_for_reading(config, site.name)
        disk.make_room()
        with pytest.raises(LockedError):
            open_for_writing(config, site.name, "crawl", 0.0)
        held.close()
        open_for_writing(config, site.name, "crawl", 0.0).close()


def as_other(*args: str, state: Path) -> Result:
    """Run a command to which file permissions apply, whoever runs the tests."""
    done = subprocess.run(
        [*AS_OTHERS, *command(args, state, "hash", 0, None)],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


# -- descriptors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        Seam.ROWS_WRITTEN,
        *(
            pytest.param(place, marks=pytest.mark.nightly)
            for place in (
                "freshcrawl.robots:RobotsMiddleware.policy",
                "freshcrawl.run:Run.commit",
                Seam.STAGED,
                Seam.INDEX_NAMED,
                Seam.SWITCHED,
            )
        ),
    ],
)
def test_no_descriptor_is_left(
    place: str, site: Site, published: Site, after: list[dict[str, Any]]
) -> None:
    before = published.rows()
    done = site.crawl_with("no-files", place)
    assert done.returncode in {0, 1}, done.stderr[-3000:]
    if done.returncode:
        said(done.stderr, TOO_MANY)
    assert site.rows() in (before, after)
    converges(site, after)


@pytest.mark.nightly
@pytest.mark.parametrize("number", [64, 40, 32, 24, 20, 16])
def test_few_descriptors(
    number: int, site: Site, published: Site, after: list[dict[str, Any]]
) -> None:
    done = site.crawl_with(f"files={number}", "start")
    assert done.returncode in ({0} if number >= ENOUGH_FILES else {0, 1}), done.stderr[-3000:]
    assert site.rows() in (published.rows(), after)
    converges(site, after)


@pytest.mark.parametrize(
    "place",
    [
        "freshcrawl.answers:search",
        pytest.param("freshcrawl.state:open_for_reading", marks=pytest.mark.nightly),
    ],
)
def test_reader_without_descriptors(place: str, published: Site) -> None:
    result = run_with("no-files", place, "query", QUESTION, state=published.state)
    assert (result.returncode, result.stdout) == (1, "")
    said(result.stderr, "freshcrawl: ", TOO_MANY)
    assert result.stderr.count("\n") == 1


def test_no_descriptor_is_leaked(published: Site, tmp_path: Path) -> None:
    """Several sites in one process: when it ends, it has none of their files open."""
    state, sites = tmp_path / "state", tmp_path / "sites.toml"
    with Origin() as origin:
        other = Site(origin, state)
        other.write("hedge")
        tables = (
            f'[sites.s{n}]\nurl = "{found.url}"\n'
            for n, found in enumerate((origin, published.origin))
        )
        sites.write_text("".join(tables))
        settings = {"FRESHCRAWL_SITES": sites}
        line = command(("crawl", "docs", "-a", "full=1"), state, "hash", 0, settings)[3:]
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.open_files", str(state), *line],
            cwd=REPO, env=environment(), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "open: []" in done.stdout
    assert len(list(state.glob("*/index/*.faiss"))) == 2


# -- memory ------------------------------------------------------------------------------------


IN_MEMORY = (
    "freshcrawl.pipelines.index:staged_content:3",
    Seam.ROWS_WRITTEN,
    Seam.SWITCHED,
)
MORE_IN_MEMORY = (
    "freshcrawl.ledger:Ledger.commit:2",
    "freshcrawl.spiders.docs:PageAnswers._read:3",
    "freshcrawl.pipelines.normalize:extract:3",
    Seam.ENCODED,
    Seam.INDEX_WRITTEN,
    Seam.MANIFEST_NAMED,
)


def test_memory_that_runs_out_again_and_again(
    site: Site, published: Site, after: list[dict[str, Any]]
) -> None:
    before = published.rows()
    for place in IN_MEMORY:
        runs_out(site, place)
        assert site.rows() == (after if place == Seam.SWITCHED else before)
    converges(site, after)


@pytest.mark.nightly
@pytest.mark.parametrize("place", [*IN_MEMORY, *MORE_IN_MEMORY])
def test_memory_that_runs_out(
    place: str, site: Site, published: Site, after: list[dict[str, Any]]
) -> None:
    runs_out(site, place)
    assert site.rows() == (after if place == Seam.SWITCHED else published.rows())
    converges(site, after)


def runs_out(site: Site, place: str) -> None:
    """Crawl with memory that runs out at a place, and check how that ends."""
    done = site.crawl_with("memory", place)
    assert done.returncode == 1, done.stderr[-3000:]
    said(done.stderr, NO_MEMORY)
    status, error = site.last_run()
    assert (status, NO_MEMORY in error) == ("failed", True)


@pytest.mark.nightly
@pytest.mark.parametrize("kib", [64, 256, 1024, 4096])
def test_real_memory_limit(
    kib: int, site: Site, published: Site, after: list[dict[str, Any]]
) -> None:
    """What a library does then is not ours to say (some abort); what stays on the disk is."""
    site.crawl_with(f"memory-limit={kib}", Seam.STAGED)
    assert site.rows() in (published.rows(), after)
    converges(site, after)


@pytest.mark.nightly
def test_scrapys_own_memory_limit_ends_a_run_in_order(
    site: Site, after: list[dict[str, Any]]
) -> None:
    limit = {"MEMUSAGE_LIMIT_MB": 1, "MEMUSAGE_CHECK_INTERVAL_SECONDS": 0.1}
    done = site.crawl(settings=limit)
    assert done.returncode == 4, done.stderr[-3000:]
    assert "memusage_exceeded" in json.dumps(report(site.state))
    converges(site, after)


# -- what fails is told once, whatever fails after it --------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["ENOSPC", "EIO", "EROFS"])
def test_error_of_the_system_in_a_publish(
    name: str, site: Site, published: Site, after: list[dict[str, Any]]
) -> None:
    done = site.crawl_with(f"error={name}", Seam.INDEX_WRITTEN)
    assert done.returncode == 1
    said(done.stderr, ".faiss: cannot be written")
    assert site.rows() == published.rows()
    shutil.rmtree(site.folder / "index")
    (site.folder / "index").mkdir()
    assert not any((site.folder / "index").iterdir())
    converges(site, after)


# -- the databases -------------------------------------------------------------------------------

DATABASES = ("records.sqlite", "corpus.sqlite")


@pytest.mark.nightly
@pytest.mark.parametrize("file", DATABASES)
def test_database_that_another_program_holds(
    file: str, site: Site, published: Site, after: list[dict[str, Any]]
) -> None:
    with closing(sqlite3.connect(site.folder / file, isolation_level=None)) as foreign:
        foreign.execute("BEGIN EXCLUSIVE")
        done = site.crawl()
        foreign.execute("ROLLBACK")
    assert done.returncode == 1
    said(done.stderr, f"{file}: ", "another process is writing to it")
    assert site.rows() == published.rows()
    converges(site, after)


@pytest.mark.nightly
@pytest.mark.parametrize("file", DATABASES)
def test_database_that_is_taken_away_during_a_run(
    file: str, site: Site, after: list[dict[str, Any]]
) -> None:
    done = site.crawl_with(f"remove={site.folder / file}", STAGING)
    assert done.returncode == 1
    said(done.stderr, f"{file}: ", "was taken away or replaced")
    converges(site, after)


@pytest.mark.nightly
@pytest.mark.parametrize("file", DATABASES)
def test_database_that_is_damaged_during_a_run(
    file: str, site: Site, published: Site, after: list[dict[str, Any]]
) -> None:
    """It is told and never made anew, unless SQLite still knew each page and wrote it again."""
    first = site.crawl_with(f"garble={site.folder / file}", STAGING)
    done = site.crawl()
    assert file == "records.sqlite" or done.returncode == 1
    if done.returncode:
        said(first.stderr + done.stderr, f"{file}: ", "damaged")
        for path in site.folder.glob(f"{file}*"):
            path.unlink()
        shutil.copyfile(published.folder / file, site.folder / file)
    converges(site, after)
