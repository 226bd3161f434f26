"""kill -9 at the worst moments: the next run converges and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.seams import Seam
from tests.support.origin import Origin, page
from tests.support.project import (
    REPO,
    command,
    environment,
    export_without_clocks,
    report,
    scrapy,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import SiteFactory
    from tests.support.nginx import NginxSite

pytestmark = pytest.mark.nginx

# Small steps, so that a site of two dozen pages has several commits and publishes.
SMALL_STEPS = {"FRESHCRAWL_COMMIT_EVERY": 3, "FRESHCRAWL_PUBLISH_GROWTH_RATIO": 0.1}


def crawl(site: NginxSite | Origin, state: Path, *args: str) -> None:
    done = scrapy(
        "crawl", "docs", "-a", f"url={site.url}", *args, state=state, settings=SMALL_STEPS
    )
    assert done.returncode == 0, done.stderr[-3000:]


def crash(seam: str, site: NginxSite | Origin, state: Path, *args: str) -> None:
    """Crawl in a process that is killed when it reaches ``seam``."""
    line = command(("crawl", "docs", "-a", f"url={site.url}", *args), state, "hash", 0, SMALL_STEPS)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.crash_at", seam, *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]


def undisturbed(site: NginxSite | Origin, folder: Path) -> list[dict[str, Any]]:
    """Return what a first crawl of the site as it is now exports."""
    crawl(site, folder)
    return export_without_clocks(folder)


SWITCHED = str(Seam.SWITCHED)


def test_site_that_goes_back_after_a_crash_at_the_switch(
    nginx_site: SiteFactory, state: Path, alembic_trees: tuple[Path, Path], tmp_path: Path
) -> None:
    old, new = alembic_trees
    site = nginx_site()
    site.deploy(old)
    crawl(site, state)
    before = export_without_clocks(state)
    site.deploy(new)
    crash(SWITCHED, site, state, "-a", "full=1")
    assert export_without_clocks(state) != before, "the crash came before the switch"
    site.deploy(old)
    crawl(site, state, "-a", "full=1")
    assert export_without_clocks(state) == before == undisturbed(site, tmp_path / "fresh")


def test_old_validators_do_not_hide_the_way_back(
    nginx_site: SiteFactory, state: Path, alembic_trees: tuple[Path, Path]
) -> None:
    """The same with the old files' own times: the server would answer 304 to the old ETag."""
    old, new = alembic_trees
    site = nginx_site()
    site.deploy(old)
    crawl(site, state)
    before = export_without_clocks(state)
    times = {path: path.stat().st_mtime for path in site.web.folder.rglob("*.html")}
    site.deploy(new)
    crash(SWITCHED, site, state, "-a", "full=1")
    site.deploy(old)
    for path, moment in times.items():
        os.utime(path, (moment, moment))
    crawl(site, state, "-a", "full=1")
    assert export_without_clocks(state) == before


def test_link_change_that_was_staged_but_not_published_is_not_lost(
    state: Path, tmp_path: Path
) -> None:
    """The text is the published one all along; only what is shown differs."""
    with Origin() as origin:
        origin.serve_sitemap("/a")
        origin["/a"] = page("A", 'See <a href="https://example.com/1">there</a>.')
        crawl(origin, state)
        origin["/a"] = page("A", 'See <a href="https://example.com/2">there</a>.')
        crash(Seam.STAGED, origin, state, "-a", "full=1")
        crawl(origin, state, "-a", "full=1")
        rows = export_without_clocks(state)
        assert rows == undisturbed(origin, tmp_path / "fresh")
        assert "https://example.com/2" in rows[0]["text"]


def test_resumed_first_crawl_fetches_only_the_rest(
    nginx_site: SiteFactory, state: Path, alembic_trees: tuple[Path, Path]
) -> None:
    site = nginx_site()
    site.deploy(alembic_trees[0])
    crash("freshcrawl.run:Run.commit:4", site, state)
    # Without the page that cannot exist, which tells dead pages of new ones.
    pages = {f"/{path.relative_to(site.web.folder)}" for path in site.web.folder.rglob("*.html")}
    done = {r.path for r in site.requests()} & pages
    site.clear()
    crawl(site, state)
    again = {r.path for r in site.requests()} & pages
    assert done | again == pages
    assert len(again) < len(pages)
    assert report(state)["complete"]
