"""``scrapy verify`` as an operator runs it: what it says, exit codes, and that it only reads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from freshcrawl.verify import Kind
from tests.support import damage
from tests.support.origin import Origin, page
from tests.support.project import REPO, command, environment, scrapy
from tests.support.verified import LONG, Site
from tests.test_stores_locks import holder as holding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site of three pages after its first crawl."""
    with Origin() as origin:
        for path in ("/a", "/b", "/c"):
            origin[path] = page(path, f"The text of {path}.")
        origin.serve_sitemap("/a", "/b", "/c")
        site = Site(origin, tmp_path_factory.mktemp("command") / "state")
        site.crawl()
        yield site


@pytest.fixture
def site(crawled: Site, tmp_path: Path) -> Site:
    """A copy of it for one test."""
    shutil.copytree(crawled.state, tmp_path / "state")
    return Site(crawled.origin, tmp_path / "state")


def test_sound_site(site: Site) -> None:
    done = scrapy("verify", state=site.state)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{site.name}: nothing damaged\n", "")
    done = scrapy("verify", "--repair", "--json", state=site.state)
    wanted = {"sites": [{"site": site.name, "findings": [], "healed": []}]}
    assert (done.returncode, json.loads(done.stdout)) == (0, wanted)


def test_looking_writes_nothing_and_repair_heals(site: Site) -> None:
    damage.index_missing(site.folder)
    damage.record_status(site.folder)
    files = {path: path.read_bytes() for path in site.folder.rglob("*") if path.is_file()}
    done = scrapy("verify", state=site.state)
    assert (done.returncode, done.stderr) == (1, "")
    first, *lines = done.stdout.splitlines()
    assert first == f"{site.name}: 2 damaged"
    assert lines[0] == "  damage index-damaged: index/1.faiss: the file is missing"
    assert lines[1].strip().startswith("--repair: writes it anew")
    assert "its record says gone, it is published as live" in lines[2]
    assert {path: path.read_bytes() for path in files if path.exists()} == files
    done = scrapy("verify", "--repair", "--site", site.name, state=site.state)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{site.name}: 2 findings repaired, nothing damaged\n")
    assert scrapy("verify", state=site.state).returncode == 0


def test_json_names_what_is_left(site: Site) -> None:
    damage.row_of_run_no_json(site.folder)
    damage.row_of_noise_no_json(site.folder)
    done = scrapy("verify", "--repair", "--json", state=site.state)
    [told] = json.loads(done.stdout)["sites"]
    assert done.returncode == 1
    [left], [healed] = told["findings"], told["healed"]
    assert (left["kind"], left["level"]) == ("row-damaged", "damage")
    assert left["where"].startswith("run:")
    assert "delete that row by hand" in left["repair"]
    assert healed["where"].startswith("noise:")


def test_damaged_databases_are_named_and_left_and_stop_no_other_site(site: Site) -> None:
    paths = []
    for number, name in enumerate(("records.sqlite", "corpus.sqlite") * 2):
        folder = site.state / f"site-{number}"
        shutil.copytree(site.folder, folder)
        paths.append(folder / name)
        if number < 2:
            damage.database_zeroed(folder, name)
        else:
            paths[-1].write_bytes(b"")
    data = [path.read_bytes() for path in paths]
    for options in ((), ("--repair",)):
        done = scrapy("verify", *options, state=site.state)
        assert (done.returncode, done.stderr) == (1, "")
        assert f"{site.name}: nothing damaged" in done.stdout
        for path in paths:
            assert f"{path.parent.name}: 1 damaged\n  damage database-damaged: {path.name}: " in (
                done.stdout
            )
        assert done.stdout.count("put a backup in its place") == len(paths)
        assert [path.read_bytes() for path in paths] == data


def test_site_that_another_process_writes_to(site: Site) -> None:
    damage.index_missing(site.folder)
    with holding(site.folder):
        assert site.damage() == {Kind.INDEX}
        done = scrapy("verify", "--repair", state=site.state)
    assert done.returncode == 5
    assert "is in use by" in done.stderr


def test_unknown_sites_and_arguments(site: Site) -> None:
    done = scrapy("verify", "--site", "nowhere", "--repair", state=site.state)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no state of a site 'nowhere' in {site.state}; known: {site.name}" in done.stderr
    assert not (site.state / "nowhere").exists()
    assert scrapy("verify", "--repiar", state=site.state).returncode == 2
    none = scrapy("verify", "--repair", state=site.state / "none")
    assert (none.returncode, none.stdout) == (0, f"no site yet in {site.state / 'none'}\n")


def test_model_is_not_loaded_to_look_or_to_write_an_index(site: Site) -> None:
    damage.index_missing(site.folder)
    code = (
        "import sys\nfrom scrapy.cmdline import execute\n"
        "try: execute()\nfinally: print('torch' in sys.modules, file=sys.stderr)"
    )
    line = command(("verify", "--repair"), site.state, "hash", 0, None)
    done = subprocess.run(
        [sys.executable, "-c", code, *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "False\n")


@pytest.mark.nightly
def test_real_model_heals_its_own_vectors(tmp_path: Path) -> None:
    """Also where only half of them are doubted, so that their batches are others than before."""
    with Origin() as origin:
        origin["/a"] = page("/a", *LONG)
        origin["/b"] = page("/b", *LONG[:30])
        origin.serve_sitemap("/a", "/b")
        url = f"url={origin.url}"
        done = scrapy("crawl", "docs", "-a", url, state=tmp_path, embedder="real")
        assert done.returncode == 0, done.stderr
    [folder] = (path.parent for path in tmp_path.glob("*/records.sqlite"))
    index = damage.index(folder).read_bytes()
    for hurt in (damage.vectors_deleted, damage.vectors_altered, damage.index_foreign_sealed):
        hurt(folder)
        for options, code in (((), 1), (("--repair",), 0), ((), 0)):
            done = scrapy("verify", *options, state=tmp_path, embedder="real")
            assert done.returncode == code, done.stderr
        assert damage.index(folder).read_bytes() == index
