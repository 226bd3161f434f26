"""No run, however it ends, leaves anything that ``scrapy verify`` takes for damage."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.records_audit import RecordsAudit
from freshcrawl.stores.sqlite import SqliteRecordStore
from freshcrawl.verify import Kind, damages, verify_folder
from tests.support.origin import Answer, Origin, page
from tests.support.project import REPO, command, environment, scrapy
from tests.support.verified import DAY, MODEL, Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATHS = [f"/page-{n}" for n in range(34)]
SMALL_STEPS = {"FRESHCRAWL_COMMIT_EVERY": 2, "FRESHCRAWL_PUBLISH_GROWTH_RATIO": 0.1}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A site that was not crawled yet."""
    with Origin() as origin:
        for path in PATHS:
            origin[path] = page(path, f"The text of {path}.", f"The last of {path}.")
        origin.serve_sitemap(*PATHS)
        yield Site(origin, tmp_path / "state")


def edit(site: Site) -> None:
    """Change a page, take one away, and let one redirect."""
    site.origin["/page-1"] = page("/page-1", "Another text.")
    site.origin["/page-2"] = Answer("gone", 410)
    site.origin["/page-3"] = Answer("", 301, {"Location": "/page-4"})


def run(module: str, site: Site, *args: str, day: int = 0, code: int = 0) -> None:
    """Crawl by a module of the tests, whose arguments come first."""
    crawl = ("crawl", "docs", "-a", f"url={site.origin.url}")
    line = command(crawl, site.state, "hash", day * DAY, SMALL_STEPS)
    done = subprocess.run(
        [sys.executable, "-m", module, *args, *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == code, done.stderr[-3000:]


def test_at_every_seam_of_a_first_and_a_later_crawl(site: Site, tmp_path: Path) -> None:
    """What another process sees there is what SIGKILL would leave."""
    for day in (0, 30):
        log = tmp_path / f"log-{day}"
        run("tests.support.verify_at", site, str(log), str(site.state), day=day)
        seams = log.read_text().splitlines()
        assert {"staged", "rows-written", "index-named", "switched", "tidied"} <= set(seams)
        assert [line for line in seams if " " in line] == []
        assert site.found() == []
        edit(site)


def test_after_a_kill_the_next_run_or_a_repair_mends_what_is_left(
    site: Site, tmp_path: Path
) -> None:
    site.crawl()
    edit(site)
    run("tests.support.crash_at", site, "freshcrawl.run:Run.adopt", day=30, code=-signal.SIGKILL)
    found = verify_folder(site.folder, MODEL)
    assert damages(found) == []
    assert Kind.STAGED_DONE in {finding.kind for finding in found}
    repaired = Site(site.origin, tmp_path / "repaired")
    shutil.copytree(site.state, repaired.state)
    repaired.repair()
    assert repaired.found() == []
    site.crawl(day=30)
    assert site.found() == []
    assert repaired.passages() == site.passages()
    assert repaired.statuses() == site.statuses()


def test_records_are_read_again_if_they_moved(site: Site) -> None:
    site.folder.mkdir(parents=True)
    path = site.folder / "records.sqlite"
    store = SqliteRecordStore(path)
    store.put("page:a", {"key": "a", "url": "http://a"})
    store.commit()
    audit = RecordsAudit(path)
    assert not audit.moved()
    store.put("page:b", {"key": "b", "url": "http://b"})
    assert not audit.moved()
    store.commit()
    assert audit.moved()
    assert "page:b" not in dict(audit.rows())
    audit.close()
    store.close()


@pytest.mark.nightly
def test_beside_a_crawl(site: Site) -> None:
    """Read again and again while pages are published in between."""
    ended, wrong, looks = threading.Event(), [], 0

    def crawl() -> None:
        url = f"url={site.origin.url}"
        scrapy("crawl", "docs", "-a", url, state=site.state, settings=SMALL_STEPS)
        ended.set()

    thread = threading.Thread(target=crawl)
    thread.start()
    while not ended.is_set():
        if (site.folder / "records.sqlite").exists():
            wrong += damages(verify_folder(site.folder, MODEL))
            looks += 1
    thread.join()
    assert (wrong, site.found()) == ([], [])
    assert looks > 1


def test_held_work_and_pages_of_an_older_release(site: Site) -> None:
    older = {"FRESHCRAWL_EMBEDDER_CLASS": "tests.support.older.OlderChunker"}
    url = f"url={site.origin.url}"
    done = scrapy("crawl", "docs", "-a", url, state=site.state, settings=older)
    assert done.returncode == 0, done.stderr
    assert site.found() == [(Kind.NOT_CHECKED, False)]
    for path in PATHS[:20]:
        site.origin[path] = Answer("gone", 410)
    done = scrapy("crawl", "docs", "-a", url, "-a", "full=1", state=site.state)
    assert done.returncode == 3, done.stderr
    assert site.damage() == set()
    before = site.passages()
    assert site.repair().left == verify_folder(site.folder, MODEL)
    assert site.passages() == before
