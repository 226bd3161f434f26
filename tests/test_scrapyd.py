"""The project on a real Scrapyd: deployed as an egg, run by schedule, read from elsewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from freshcrawl.stores.locks import SiteLock
from tests.support.held_site import PAGES, Site
from tests.support.origin import Origin
from tests.support.project import POLITENESS, export, report
from tests.support.scrapyd import Scrapyd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import SiteFactory
    from tests.support.nginx import NginxSite

pytestmark = [pytest.mark.scrapyd, pytest.mark.nginx]

TEXTS = {
    "index.html": "Start here to learn how the tool is installed.",
    "guide/config.html": "Options are read from a file beside the program.",
    "guide/errors.html": "Each error names the option that caused it.",
}
PAGE = "<html><head><title>{name}</title></head><body><main><h1>{name}</h1><p>{text}</p></main>"

# Under names of their own: a PYTHONPATH with the repository in it would hide the egg.
EMBEDDER = Path(__file__).parent / "support" / "embedder.py"
WITNESS = '''\
"""The hash embedder, which also writes down where the code that uses it comes from."""

import json
from pathlib import Path

from scrapy.utils.conf import closest_scrapy_cfg

import freshcrawl
from rig_embedder import HashEmbedder

SEEN = Path(__file__).with_name("witness.json")


class WitnessEmbedder(HashEmbedder):
    def __init__(self, model, revision):
        super().__init__(model, revision)
        seen = {"package": freshcrawl.__file__, "scrapy_cfg": closest_scrapy_cfg()}
        SEEN.write_text(json.dumps(seen))
'''
SETTINGS = {**POLITENESS, "FRESHCRAWL_EMBEDDER_CLASS": "rig_witness.WitnessEmbedder"}


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    """Start a Scrapyd that the project is deployed to."""
    with Scrapyd(tmp_path_factory.mktemp("scrapyd") / "server") as server:
        shutil.copy(EMBEDDER, server.lib / "rig_embedder.py")
        (server.lib / "rig_witness.py").write_text(WITNESS)
        server.deploy()
        yield server


@pytest.fixture
def site(nginx_site: SiteFactory, tmp_path: Path) -> NginxSite:
    """Serve three pages."""
    for name, text in TEXTS.items():
        path = tmp_path / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(name=name, text=text))
    started = nginx_site()
    started.deploy(tmp_path / "pages")
    return started


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_egg_has_the_spider(scrapyd: Scrapyd) -> None:
    assert scrapyd.spiders() == ["docs"]


def test_job_runs_from_the_egg_and_its_index_is_read_from_the_repository(
    scrapyd: Scrapyd, site: NginxSite, state: Path
) -> None:
    settings = {**SETTINGS, "FRESHCRAWL_STATE_DIR": state}
    job = scrapyd.run(settings, url=site.url)
    assert job.exit_code == 0, job.log[-3000:]
    assert "Traceback" not in job.log

    seen = json.loads((scrapyd.lib / "witness.json").read_text())
    [egg] = files(scrapyd.folder / "eggs")
    assert egg in Path(seen["package"]).parents
    assert seen["scrapy_cfg"] == ""

    assert [path.name for path in state.iterdir()] == [f"127.0.0.1-{site.port}"]
    run = report(state)
    assert (run["complete"], run["new"], run["generation"]) == (True, len(TEXTS), 1)
    found = {row["url"].removeprefix(site.url): row["text"] for row in export(state)}
    assert found.keys() == TEXTS.keys()
    assert all(TEXTS[name] in text for name, text in found.items())

    site.clear()
    again = scrapyd.run(settings, url=site.url)
    assert again.exit_code == 0, again.log[-3000:]
    assert sorted(r.path for r in site.requests()) == ["/robots.txt", "/sitemap.xml"]
    run = report(state)
    assert (run["not_due"], run["fetched"], run["generation"]) == (len(TEXTS), 0, 1)


def test_job_without_a_state_folder_ends_with_one_line_and_writes_nothing(
    scrapyd: Scrapyd, site: NginxSite
) -> None:
    before = files(scrapyd.folder)
    job = scrapyd.run(SETTINGS, url=site.url)
    assert job.exit_code == 2
    last = job.log.splitlines()[-1]
    assert "FRESHCRAWL_STATE_DIR=state is relative and there is no scrapy.cfg here" in last
    assert "Traceback" not in job.log
    assert {path.name for path in files(scrapyd.folder) - before} == {f"{job.id}.log"}
    assert site.requests() == []


def test_job_on_a_site_in_use_says_so_in_its_log(
    scrapyd: Scrapyd, site: NginxSite, state: Path
) -> None:
    with SiteLock(state / f"127.0.0.1-{site.port}").acquire("reindex", since=0.0):
        job = scrapyd.run({**SETTINGS, "FRESHCRAWL_STATE_DIR": state}, url=site.url)
    assert job.exit_code == 5
    assert "is in use by `reindex`" in job.log
    assert "Traceback" not in job.log
    assert site.requests() == []


def test_two_jobs_for_one_site_at_once(scrapyd: Scrapyd, state: Path) -> None:
    """One crawls; the other ends while that is still at it, with the reason in its log."""
    settings = {**SETTINGS, "FRESHCRAWL_STATE_DIR": state}
    with Origin() as origin:
        site = Site(origin)
        gate = site.hold(PAGES[20])
        jobs = {scrapyd.schedule(settings, url=origin.url) for _ in range(2)}
        refused = scrapyd.first_of(*jobs)
        assert refused.exit_code == 5
        assert "is in use by `crawl` (process " in refused.log
        assert "Traceback" not in refused.log
        assert gate.reached.wait(30)
        site.open()
        [crawl] = jobs - {refused.id}
        done = scrapyd.first_of(crawl)
    assert done.exit_code == 0, done.log[-3000:]
    assert report(state)["new"] == len(PAGES)
