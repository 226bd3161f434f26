"""What ``scrapy doctor`` says of a site's folder, sound and damaged; nothing in it changes."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.config import Config
from freshcrawl.core.report import RunReport
from freshcrawl.doctor.state import known_sitemaps, run_checks, state_checks
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import SiteLock, holder
from freshcrawl.stores.sqlitefile import connect_writer, quick_check
from tests.support.origin import Origin, page
from tests.support.project import scrapy
from tests.test_stores_locks import holder as holding

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODEL = "hash-64"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state folder with one site, as a crawl left it."""
    state = tmp_path_factory.mktemp("crawled") / "state"
    with Origin() as origin:
        for path in ("/a", "/b"):
            origin[path] = page(path, f"The text of {path}.")
        origin.serve_sitemap("/a", "/b")
        done = scrapy("crawl", "docs", "-a", f"url={origin.url}", state=state)
        assert done.returncode == 0, done.stderr[-2000:]
    return state


@pytest.fixture
def state(crawled: Path, tmp_path: Path) -> Path:
    """Return a copy of it that a test may damage."""
    return shutil.copytree(crawled, tmp_path / "state")


def folder_of(state: Path) -> Path:
    [folder] = state.iterdir()
    return folder


def examine(state: Path, model: str = MODEL) -> dict[str, str]:
    """Return level and words of each check by its name."""
    checks = state_checks(Config(state_dir=str(state)), folder_of(state).name, model)
    return {check.name: f"{check.level} {check.what}" for check in checks}


def files(state: Path) -> dict[str, bytes]:
    return {str(p.relative_to(state)): p.read_bytes() for p in state.rglob("*") if p.is_file()}


def test_a_sound_site_stays_as_it_is(state: Path) -> None:
    before = files(state)
    assert examine(state) == {
        "lock": "ok nobody writes to it",
        "files": "ok records.sqlite, corpus.sqlite: no damage found",
        "last run": "ok complete",
        "index": "ok generation 1: 2 passages, all in the index file",
    }
    assert files(state) == before


def test_a_site_without_state(tmp_path: Path) -> None:
    [check] = state_checks(Config(state_dir=str(tmp_path)), "docs", MODEL)
    assert (check.level, check.what) == ("ok", "not crawled yet")
    assert list(tmp_path.iterdir()) == []


def scribble(path: Path) -> None:
    """Overwrite all pages of an SQLite file but the first."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def spoil(path: Path) -> None:
    path.write_text("no database, but long enough to look at it " * 99)


@pytest.mark.parametrize("name", ["records.sqlite", "corpus.sqlite"])
@pytest.mark.parametrize("damage", [scribble, spoil])
def test_damaged_files(name: str, damage: Callable[[Path], None], state: Path) -> None:
    damage(folder_of(state) / name)
    found = examine(state)
    assert set(found) == {"lock", "files"}
    assert found["files"].startswith("fail ")
    assert name in found["files"]


def of_another_run(path: Path) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "run_id": "another"}))


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("1.json", of_another_run, "was made for other rows"),
        ("1.faiss", lambda path: path.unlink(), "index file of generation 1 is missing"),
        ("1.json", lambda path: path.unlink(), "index file of generation 1 is missing"),
        ("1.faiss", cut, "is not as long as its manifest says"),
        ("1.json", spoil, "is not JSON"),
    ],
)
def test_index_files(name: str, damage: Callable[[Path], None], words: str, state: Path) -> None:
    damage(folder_of(state) / "index" / name)
    found = examine(state)["index"]
    assert found.startswith("warn ")
    assert words in found


def test_index_that_does_not_fit_its_generation(state: Path) -> None:
    conn = connect_writer(folder_of(state) / "corpus.sqlite")
    conn.execute("DELETE FROM chunks WHERE id = (SELECT min(id) FROM chunks)")
    conn.close()
    assert examine(state)["index"] == "fail generation 1 has 1 passage, its index file 2"


def test_index_of_another_model(state: Path) -> None:
    assert examine(state, "other@1")["index"] == (
        "fail it was made with the model hash-64, not with other@1"
    )
    assert examine(state, "")["index"].startswith("ok ")  # the model could not be found


def test_who_writes_is_told_and_not_disturbed(state: Path) -> None:
    folder = folder_of(state)
    with holding(folder) as process:
        assert f"process {process.pid}" in examine(state)["lock"]
        assert examine(state)["lock"].startswith("ok in use by `crawl docs`")
    assert examine(state)["lock"] == "ok nobody writes to it"  # killed: its name is left behind
    assert (folder / ".lock").stat().st_size > 0
    with SiteLock(folder).acquire("crawl", 0.0):
        assert "`crawl`" in holder(folder)
    assert holder(folder) == ""
    assert holder(folder / "nowhere") == ""


def report(**values: Any) -> RunReport:
    return RunReport("run", 1.0, **{"status": "ok", **values})


@pytest.mark.parametrize(
    ("reports", "running", "expected"),
    [
        ([], False, ["ok none yet"]),
        ([report(status="failed"), report(complete=True)], False, ["ok complete"]),
        ([report(status="running")], True, ["ok is under way"]),
        ([report(status="running")], False, ["warn was killed"]),
        ([report(status="killed")], False, ["warn was killed"]),
        ([report(status="failed", error="disk full")], False, ["fail failed: disk full"]),
        ([report(held=3, held_reasons=["3 of 9"])], False, ["warn 3 pages held: 3 of 9"]),
        (
            [report(held=1, held_reasons=["x"], incomplete_reasons=["a", "b"])],
            False,
            ["warn 1 page held: x", "warn incomplete: a; b"],
        ),
    ],
)
def test_last_runs(reports: list[RunReport], running: bool, expected: list[str]) -> None:
    checks = run_checks(reports, running=running)
    assert len(checks) == len(expected)
    for check, words in zip(checks, expected, strict=True):
        assert f"{check.level} {check.what}".startswith(words)
        assert bool(check.advice) == (check.level != "ok")


def test_known_sitemaps(state: Path) -> None:
    config, name = Config(state_dir=str(state)), folder_of(state).name
    [url] = known_sitemaps(config, name)
    assert url.endswith("/sitemap.xml")
    assert known_sitemaps(config, "nowhere") == []
    spoil(folder_of(state) / "records.sqlite")
    assert known_sitemaps(config, name) == []


def test_looking_for_damage_takes_no_longer_than_allowed(tmp_path: Path) -> None:
    path = tmp_path / "large.sqlite"
    conn = connect_writer(path)
    conn.executescript(
        "CREATE TABLE t (a PRIMARY KEY, b); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
        " WHERE i < 20000) INSERT INTO t SELECT i, hex(randomblob(64)) FROM n"
    )
    conn.close()
    assert quick_check(path, 60.0)
    assert not quick_check(path, 0.0)
    scribble(path)
    with pytest.raises(StoreError, match="put a backup in its place"):
        quick_check(path, 60.0)
