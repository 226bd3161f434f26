"""A forget that is killed has done nothing, or is completed by whoever writes to the site next."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from freshcrawl.core.pages import Status
from freshcrawl.forgetting import forget
from freshcrawl.reader import SiteReader
from freshcrawl.seams import Seam
from freshcrawl.stores import sqlitefile
from freshcrawl.verify import Kind, damages
from freshcrawl.verify.repair import Repair
from tests.support.in_process import NAME
from tests.support.origin import Origin, page
from tests.support.project import REPO, command, environment, scrapy
from tests.support.quick_site import MODEL, NOW, QuickSite
from tests.support.site_model import key_of, url_of
from tests.support.verified import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "The zirconium vault opens with the word heliotrope."
PATHS = ("/a", "/b", "/secret")
URL, KEY = url_of("/secret"), key_of("/secret")
PASSED = [
    *(Seam.ROWS_WRITTEN, Seam.INDEX_WRITTEN, Seam.INDEX_CHECKED, Seam.INDEX_NAMED),
    *(Seam.MANIFEST_WRITTEN, Seam.MANIFEST_NAMED, Seam.SWITCHED, Seam.RECORDS_COMMITTED),
    *(Seam.ROWS_DROPPED, Seam.INDEX_DROPPED, Seam.TIDIED),
]
"""Seams of a forget."""


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def served(folder: Path, runner: asyncio.Runner) -> QuickSite:
    site = QuickSite(folder, runner)
    for path in PATHS:
        site.serve(path, f"The text of {path} is about valves.")
    site.serve("/secret", SECRET)
    site.on_sitemap(*PATHS)
    return site


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, runner: asyncio.Runner) -> Path:
    """Return a folder with the site as a forget left it that was killed, a copy a seam."""
    folder = tmp_path_factory.mktemp("killed")
    site = served(folder / "site", runner)
    site.crawl()
    site.serve("/a", "Another text about valves.")
    site.crawl()
    line = ("-m", "tests.support.kill_forget", str(site.place.state), NAME, URL, str(folder / "at"))
    subprocess.run([sys.executable, *line], cwd=REPO, env=environment(), check=True)
    return folder / "at"


@pytest.fixture
def site(killed: Path, tmp_path: Path, runner: asyncio.Runner, seam: Seam) -> QuickSite:
    site = served(tmp_path, runner)
    site.serve("/a", "Another text about valves.")
    shutil.copytree(killed / seam, site.place.state)
    return site


def is_switched(seam: Seam) -> bool:
    order = list(Seam)
    return order.index(seam) >= order.index(Seam.SWITCHED)


def is_stored(folder: Path) -> bool:
    return any(SECRET.encode() in p.read_bytes() for p in folder.rglob("*") if p.is_file())


def assert_forgotten(site: QuickSite) -> None:
    assert site.findings() == []
    assert site.urls() == set(PATHS) - {"/secret"}
    with closing(site.reading()) as state:
        record = state.page(KEY)
        assert record is not None
        assert record.status == Status.FORGOTTEN
        assert not any(URL in urls for r in state.reports() for urls in r.urls.values())
    assert len(list((site.folder / "index").iterdir())) == 2


def test_a_forget_passes_these_seams(killed: Path) -> None:
    assert {path.name for path in killed.iterdir()} == set(PASSED)


@pytest.mark.parametrize("seam", PASSED)
def test_the_same_command_completes_it(site: QuickSite, seam: Seam) -> None:
    found = site.findings()
    assert damages(found) == []
    assert (Kind.FORGOTTEN in {finding.kind for finding in found}) == (seam == Seam.SWITCHED)
    assert site.urls() == set(PATHS) - ({"/secret"} if is_switched(seam) else set())
    done = site.writing(lambda state, own: forget(state, own, URL, NOW))
    assert [page["key"] for page in done.pages] == ([] if is_switched(seam) else [KEY])
    assert_forgotten(site)
    assert not is_stored(site.folder)
    site.crawl()
    assert not site.asked("/secret")
    assert_forgotten(site)


@pytest.mark.parametrize("seam", PASSED)
def test_so_does_the_next_crawl_once_it_is_switched(site: QuickSite, seam: Seam) -> None:
    site.crawl()
    assert site.asked("/secret") == (not is_switched(seam))
    if is_switched(seam):
        assert_forgotten(site)
        assert not is_stored(site.folder)
    else:
        assert site.findings() == []
        assert site.urls() == set(PATHS)


@pytest.mark.parametrize("seam", PASSED)
def test_and_a_repair(site: QuickSite, seam: Seam) -> None:
    site.writing(lambda state, own: Repair(state, own, MODEL, time.time).heal())
    if is_switched(seam):
        assert_forgotten(site)
    assert site.findings() == []


def test_readers_follow_and_those_at_work_finish(
    tmp_path: Path, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlitefile, "BUSY_SECS", 0.2)
    monkeypatch.setitem(sqlitefile._OPTIONS, "timeout", 0.2)
    site = served(tmp_path, runner)
    site.crawl()
    reader = SiteReader(site.config, NAME)
    with reader.current() as view:
        done = site.writing(lambda state, own: forget(state, own, URL, NOW))
        assert "corpus.sqlite" in done.logs_in_use
        [chunk] = view.snapshot.chunks(KEY)
        assert chunk.text == SECRET
        assert chunk.id in dict(view.index.search(MODEL.encode([SECRET])[0], 3))
    with reader.current() as view:
        assert list(view.snapshot.chunks(KEY)) == []
        assert len(view.index) == 2
    again = site.writing(lambda state, own: forget(state, own, URL, NOW))
    assert again.logs_in_use == []
    assert not is_stored(site.folder)
    reader.close()


def test_without_room_for_a_copy_it_is_purged_all_the_same(
    tmp_path: Path, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = served(tmp_path, runner)
    site.crawl()
    monkeypatch.setattr("freshcrawl.stores.compacting.room_needed", lambda path: 1 << 60)
    done = site.writing(lambda state, own: forget(state, own, URL, NOW))
    assert done.without_room == ["records.sqlite", "corpus.sqlite"]
    assert_forgotten(site)
    assert not is_stored(site.folder)


def test_older_copy_of_the_corpus_is_told_and_mended_by_forgetting_again(
    tmp_path: Path, runner: asyncio.Runner, caplog: pytest.LogCaptureFixture
) -> None:
    site = served(tmp_path, runner)
    site.crawl()
    corpus = site.folder / "corpus.sqlite"
    copy = corpus.read_bytes()
    site.writing(lambda state, own: forget(state, own, URL, NOW))
    corpus.write_bytes(copy)
    [damage] = (f for f in damages(site.findings()) if f.kind == Kind.FORGOTTEN_STORED)
    assert damage.where == KEY
    assert damage.remedy == f"none: run scrapy forget https://{KEY}"
    site.crawl()
    assert not site.asked("/secret")
    assert f"run scrapy forget http://{KEY} --site docs" in caplog.text
    with closing(site.reading()) as state:
        record = state.page(KEY)
    assert record is not None
    assert record.status == Status.FORGOTTEN
    site.writing(lambda state, own: forget(state, own, f"https://{KEY}", NOW))
    assert_forgotten(site)


@pytest.mark.parametrize("name", ["records.sqlite", "corpus.sqlite"])
def test_the_mark_outlives_either_database(
    name: str, tmp_path: Path, runner: asyncio.Runner
) -> None:
    site = served(tmp_path, runner)
    site.crawl()
    site.writing(lambda state, own: forget(state, own, URL, NOW))
    (site.folder / name).unlink()
    for _ in range(2):
        site.crawl()
        assert not site.asked("/secret")
        assert site.urls() == set(PATHS) - {"/secret"}
        assert site.findings() == []


def test_with_the_real_command(tmp_path: Path) -> None:
    with Origin() as origin:
        origin["/a"] = page("A", "The text of a page.")
        origin["/secret"] = page("Secret", SECRET)
        origin.serve_sitemap("/a", "/secret")
        site = Site(origin, tmp_path / "state")
        site.crawl()
        url = f"{origin.url}secret"
        planned = scrapy("forget", url, "--dry-run", state=site.state)
        assert (planned.returncode, planned.stderr) == (0, "")
        assert planned.stdout == (
            f"{site.name}: 1 page would be forgotten\n  {url}  live\n  nothing was changed\n"
        )
        assert is_stored(site.folder)
        line = command(("forget", url), site.state, "hash", 0, None)
        where = "freshcrawl.stores.compacting:compact_file"
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.crash_at", where, *line[3:]],
            cwd=REPO, env=environment(), capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
        assert site.found() == []
        again = scrapy("forget", url, state=site.state)
        assert (again.returncode, again.stderr) == (0, "")
        assert "1 page forgotten before" in again.stdout
        assert f"to let them in again: scrapy forget --undo {url}" in again.stdout
        assert not is_stored(site.folder)
        asked = len(origin.paths())
        crawled = scrapy(
            "crawl", "docs", "-a", f"url={origin.url}", "-a", "full=1", state=site.state
        )
        assert crawled.returncode == 0, crawled.stderr[-2000:]
        assert "/secret" not in origin.paths()[asked:]
        status = scrapy("status", state=site.state)
        assert "1 live, 1 forgotten" in status.stdout
        unknown = scrapy("forget", f"{origin.url}nothing", state=site.state)
        assert (unknown.returncode, unknown.stdout) == (1, "")
        assert unknown.stderr.count("\n") == 1
