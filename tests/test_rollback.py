"""Going back to an earlier generation, what crawls do meanwhile, and the way out."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.commands.rollback import Command
from freshcrawl.commands.status import CODES
from freshcrawl.compacting import compact
from freshcrawl.config import Config, ConfigError
from freshcrawl.core.pages import Status
from freshcrawl.core.report import iso
from freshcrawl.core.schedule import SchedulePolicy
from freshcrawl.core.versions import Retention
from freshcrawl.explanation import explain, page_lines
from freshcrawl.ledger import Ledger
from freshcrawl.problems import Problem, site_problems
from freshcrawl.reindexing import Reindexing
from freshcrawl.rollback import RolledBack, generations, release, roll_back
from freshcrawl.seams import Seam, listening
from freshcrawl.site_status import site_status
from freshcrawl.state import SiteState, make_embedder, open_for_reading, open_for_writing
from freshcrawl.stored_sites import stored_site
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.locks import LockedError
from freshcrawl.summary import standing_lines
from tests.support import held_site
from tests.support.held_site import last_run
from tests.support.origin import Answer, Origin, page
from tests.support.project import HASH_EMBEDDER, REPO, command, environment, scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.stores.corpus_snapshot import SqliteSnapshot

PATHS = [f"/p{number}" for number in range(8)]
NOW = time.time()


def exported(state: Path) -> list[dict[str, Any]]:
    """Return the exported rows without clocks, and so without what is judged by them."""
    rows = held_site.exported(state)
    return [{name: value for name, value in row.items() if name != "stale"} for row in rows]


def crawl(origin: Origin, state: Path, *args: str, code: int = 0) -> None:
    done = scrapy("crawl", "docs", "-a", f"url={origin.url}", *args, state=state)
    assert done.returncode == code, done.stderr[-3000:]


def words(number: int) -> str:
    return f"The valve of station {number} opens at {number + 20} bar and closes by itself."


def first_site(origin: Origin) -> None:
    for number, path in enumerate(PATHS):
        origin[path] = page(f"Page {number}", words(number))
    origin.serve_sitemap(*PATHS)


def second_site(origin: Origin) -> None:
    """One edit, one page gone, one moved, one new."""
    origin["/p1"] = page("Page 1", words(1), "A second valve was added in spring.")
    origin["/p2"] = Answer("gone", 410)
    origin["/p3"] = Answer("", 301, {"Location": "/moved"})
    origin["/moved"] = page("Page 3", words(3))
    origin["/new"] = page("New", "A page that was not there before the spring.")
    origin.serve_sitemap(*(path for path in PATHS if path not in {"/p2", "/p3"}), "/moved", "/new")


@dataclass
class Crawled:
    """A site in its second form, and the state of a crawl of each form."""

    origin: Origin
    state: Path
    rows: dict[int, list[dict[str, Any]]]
    """What each generation exports."""

    @property
    def site(self) -> str:
        """Its name."""
        [folder] = self.state.iterdir()
        return folder.name


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    state = tmp_path_factory.mktemp("crawled") / "state"
    with Origin() as origin:
        first_site(origin)
        crawl(origin, state)
        first = exported(state)
        second_site(origin)
        crawl(origin, state, "-a", "full=1")
        yield Crawled(origin, state, {1: first, 2: exported(state)})


@pytest.fixture
def copied(crawled: Crawled, tmp_path: Path) -> Crawled:
    """Return the site in its second form with a state of the test's own."""
    first_site(crawled.origin)  # pages that an earlier test edited
    second_site(crawled.origin)
    shutil.copytree(crawled.state, tmp_path / "state")
    return Crawled(crawled.origin, tmp_path / "state", crawled.rows)


def config_of(crawled: Crawled, **settings: Any) -> Config:
    return Config(state_dir=str(crawled.state), embedder_class=HASH_EMBEDDER, **settings)


def opened(crawled: Crawled) -> SiteState:
    return open_for_writing(config_of(crawled), crawled.site, "test", NOW)


def go_back(crawled: Crawled, generation: int, **settings: Any) -> RolledBack:
    config = config_of(crawled, **settings)
    with closing(opened(crawled)) as state:
        return roll_back(state, config, lambda: make_embedder(config), generation, NOW)


def path_of(key: str) -> str:
    return "/" + key.partition("/")[2]


def due(crawled: Crawled) -> set[str]:
    with closing(open_for_reading(config_of(crawled), crawled.site)) as state:
        return {path_of(key) for key, record in state.pages().items() if not record.next_due}


DIFFERING = {"/p1", "/p2", "/p3", "/moved", "/new"}


def test_the_site_has_two_generations_that_differ(crawled: Crawled) -> None:
    assert crawled.rows[1] != crawled.rows[2]
    with closing(open_for_reading(config_of(crawled), crawled.site)) as state:
        listed = generations(state)
    assert (listed["generation"], listed["pinned"]) == (2, None)
    assert [(row["generation"], row["pages"]) for row in listed["generations"]] == [(2, 8), (1, 8)]


def test_back_and_forth(copied: Crawled, tmp_path: Path) -> None:
    origin, state = copied.origin, copied.state
    done = scrapy("rollback", "1", state=state)
    assert done.returncode == 0, done.stderr
    assert "generation 3 is generation 1 again (8 pages, 8 passages); 5 pages" in done.stdout
    assert exported(state) == copied.rows[1]

    origin.paths()
    crawl(origin, state, code=3)
    assert exported(state) == copied.rows[1]
    asked = {each.path: each.headers for each in origin.asked}
    assert set(asked) >= DIFFERING
    assert not any("If-None-Match" in asked[path] for path in DIFFERING)
    report = last_run(state)
    assert report.pinned in report.held_reasons
    assert f"scrapy rollback --release --site {copied.site}" in report.pinned
    assert (report.generation, report.chunks_embedded) == (3, 0)
    with closing(open_for_reading(config_of(copied), copied.site)) as reader:
        status = site_status(reader, NOW, SchedulePolicy())
        explained = explain(reader, f"{origin.url}p1", NOW, SchedulePolicy())
    assert status["pinned"] == report.pinned
    problem = problems_of(status)[0]
    assert (CODES[problem.kind], problem.words) == (cli.HELD, report.pinned)
    assert report.pinned in standing_lines(status, copied.site)
    assert explained is not None
    assert "  found and waiting: new text" in page_lines(explained, NOW)

    # More changes meanwhile: a page that goes back to what is published, and one that does not.
    origin["/p1"] = page("Page 1", words(1))
    origin["/p4"] = page("Page 4", words(4), "It was painted.")
    crawl(origin, state, "-a", "full=1", code=3)
    assert exported(state) == copied.rows[1]

    released = scrapy("rollback", "--release", "--json", state=state)
    assert released.returncode == 0, released.stderr
    [told] = json.loads(released.stdout)["sites"]
    assert told["site"] == copied.site
    assert told["due"] >= 4
    crawl(origin, state)
    crawl(origin, tmp_path / "fresh")
    assert exported(state) == exported(tmp_path / "fresh")
    assert last_run(state).pinned == ""
    with closing(open_for_reading(config_of(copied), copied.site)) as reader:
        assert problems_of(site_status(reader, NOW, SchedulePolicy())) == []


def test_what_was_staged_is_published_though_the_site_does_not_answer(copied: Crawled) -> None:
    go_back(copied, 1)
    crawl(copied.origin, copied.state, code=3)
    with closing(opened(copied)) as state:
        release(state, NOW)
    answers = dict(copied.origin.answers)
    for path in ("/p1", "/moved", "/new"):
        copied.origin[path] = Answer("broken", 500)
    try:
        done = scrapy(
            "crawl", "docs", "-a", f"url={copied.origin.url}", state=copied.state,
            settings={"RETRY_TIMES": 0},
        )  # fmt: skip
    finally:
        copied.origin.answers.update(answers)
    # Two pages that are asked for comparison, as one has moved, do answer.
    assert done.returncode == 0, done.stderr[-3000:]
    assert "3 failed" in done.stderr
    assert exported(copied.state) == copied.rows[2]


KILLED_BEFORE = (
    Seam.ROWS_WRITTEN,
    Seam.INDEX_WRITTEN,
    Seam.INDEX_CHECKED,
    Seam.INDEX_NAMED,
    Seam.MANIFEST_NAMED,
)
KILLED_AFTER = (Seam.SWITCHED, Seam.RECORDS_COMMITTED, Seam.ROWS_DROPPED, Seam.TIDIED)


class Killed(BaseException):
    """Stands for the end of the process."""


def cut_off(crawled: Crawled, seam: Seam) -> None:
    def stop(reached: Seam) -> None:
        if reached == seam:
            raise Killed

    with pytest.raises(Killed), listening(stop):
        go_back(crawled, 1)


@pytest.mark.parametrize("seam", [*KILLED_BEFORE, *KILLED_AFTER])
def test_cut_off_and_done_again(copied: Crawled, seam: Seam) -> None:
    cut_off(copied, seam)
    switched = seam in KILLED_AFTER
    assert exported(copied.state) == copied.rows[1 if switched else 2]
    done = go_back(copied, 1)
    assert (done.generation, done.of, done.before, done.pages) == (3, 1, 2, 8)
    assert done.differing == len(DIFFERING)
    assert exported(copied.state) == copied.rows[1]
    assert due(copied) == DIFFERING
    names = sorted(path.name for path in (copied.state / copied.site / "index").iterdir())
    assert names == [f"{n}.{kind}" for n in (1, 2, 3) for kind in ("faiss", "json")]


@pytest.mark.parametrize("seam", KILLED_AFTER)
def test_cut_off_and_completed_by_whoever_is_next(copied: Crawled, seam: Seam) -> None:
    cut_off(copied, seam)
    with closing(opened(copied)) as state:
        ledger = Ledger(state, NOW)
        assert {path_of(k) for k, r in ledger.pages.items() if not r.next_due} == DIFFERING
        records = {path_of(key): record for key, record in ledger.pages.items()}
        assert {path: records[path].status for path in DIFFERING} == {
            **dict.fromkeys(("/p1", "/p2", "/p3"), Status.LIVE),
            **dict.fromkeys(("/moved", "/new"), Status.PENDING),
        }
        assert not any(records[path].etag or records[path].alias_of for path in DIFFERING)
        assert records["/p0"].etag
        assert ledger.pinned
        ledger.commit_records()
        ledger.make_due(next(iter(ledger.live_keys())))
    with closing(opened(copied)) as state:  # done once: clocks that a crawl sets then stay
        ledger = Ledger(state, NOW)
        for path in DIFFERING:
            ledger.set(next(k for k in ledger.pages if path_of(k) == path), next_due=5.0)
        ledger.commit_records()
        assert {r.next_due for k, r in Ledger(state, NOW).pages.items()} & {0.0} == set()


def test_release_cut_off_leaves_the_rollback_and_is_done_again(copied: Crawled) -> None:
    go_back(copied, 1)
    with closing(opened(copied)) as state:
        ledger = Ledger(state, NOW)
        for key in ledger.pages:
            ledger.set(key, next_due=2 * NOW)
        ledger.commit_records()

        def stop(reached: Seam) -> None:
            assert reached == Seam.RECORDS_COMMITTED
            raise Killed

        with pytest.raises(Killed), listening(stop):
            release(state, NOW)
    with closing(opened(copied)) as state:
        assert generations(state)["pinned"] == 1
        assert due(copied) == DIFFERING
        assert release(state, NOW) == len(DIFFERING)
        assert generations(state)["pinned"] is None
    assert due(copied) == DIFFERING
    crawl(copied.origin, copied.state)
    assert exported(copied.state) == copied.rows[2]


def test_folder_that_was_made_anew_meanwhile_is_left_alone(copied: Crawled) -> None:
    folder = copied.state / copied.site
    aside = copied.state.with_name("aside")
    before = list[dict[str, bytes]]()

    def replace_folder(reached: Seam) -> None:
        if reached == Seam.ROWS_WRITTEN:
            folder.rename(aside)
            shutil.copytree(aside, folder)
            before.append(contents(folder))

    with (
        pytest.raises(StoreError, match="the folder was deleted or replaced"),
        listening(replace_folder),
    ):
        go_back(copied, 1)
    assert [contents(folder)] == before
    with closing(open_for_reading(config_of(copied), copied.site)) as state:
        assert generations(state)["generation"] == 2


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_tidy_that_fails_is_told_and_the_rollback_stands(copied: Crawled) -> None:
    (copied.state / copied.site / "index" / "9.faiss").mkdir()
    done = scrapy("rollback", "1", "--json", state=copied.state)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("freshcrawl: old generations could not be dropped: ")
    assert done.stderr.count("\n") == 1
    [told] = json.loads(done.stdout)["sites"]
    assert (told["site"], told["generation"], told["of"]) == (copied.site, 3, 1)
    assert exported(copied.state) == copied.rows[1]


def test_compact_keeps_the_pin_and_what_is_pinned(copied: Crawled) -> None:
    go_back(copied, 1)
    config = config_of(copied, generations_kept=1, versions_kept=1, vector_retention_days=0)
    with closing(opened(copied)) as state:
        compact(state, config, NOW)
    assert exported(copied.state) == copied.rows[1]
    with closing(opened(copied)) as state:
        assert generations(state)["pinned"] == 1
        ledger = Ledger(state, NOW)
        assert all(ledger.published_content(key) for key in ledger.live_keys())
    crawl(copied.origin, copied.state, code=3)
    assert exported(copied.state) == copied.rows[1]


@pytest.mark.parametrize("settings", [{}, {"embed_model": "other"}], ids=["same", "other"])
def test_reindex_keeps_the_pin_and_what_is_pinned(
    copied: Crawled, settings: dict[str, str]
) -> None:
    go_back(copied, 1)
    config = config_of(copied, **settings)
    with closing(opened(copied)) as state:
        site = stored_site(config, state)
        assert site is not None
        done = Reindexing(state, site, config, lambda: NOW).run()
    assert done.changed == bool(settings)
    assert exported(copied.state) == copied.rows[1]
    with closing(opened(copied)) as state:
        assert generations(state)["pinned"] == 1
        assert set(map(path_of, Ledger(state, NOW).undone)) == DIFFERING
    of_crawl = {f"FRESHCRAWL_{name.upper()}": value for name, value in settings.items()}
    line = ("crawl", "docs", "-a", f"url={copied.origin.url}")
    crawled = scrapy(*line, state=copied.state, settings=of_crawl)
    assert crawled.returncode == 3, crawled.stderr[-3000:]
    assert exported(copied.state) == copied.rows[1]


def test_killed_process(copied: Crawled) -> None:
    line = command(("rollback", "1"), copied.state, "hash", 0, None)
    seam = "freshcrawl.ledger:Ledger.commit_records"
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.crash_at", seam, *line[3:]],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]
    assert exported(copied.state) == copied.rows[1]
    crawl(copied.origin, copied.state, code=3)
    assert exported(copied.state) == copied.rows[1]
    with closing(open_for_reading(config_of(copied), copied.site)) as state:
        # Pages that were asked for comparison may be there too.
        assert {path_of(entry.key) for entry in state.staged()} >= DIFFERING


def test_back_again_before_the_release(copied: Crawled) -> None:
    go_back(copied, 1, generations_kept=9)
    done = go_back(copied, 2, generations_kept=9)
    assert (done.generation, done.of, done.before) == (4, 2, 3)
    assert exported(copied.state) == copied.rows[2]
    with closing(opened(copied)) as state:
        assert generations(state)["pinned"] == 2
        ledger = Ledger(state, NOW)
        assert ledger.rollback is not None
        assert ledger.rollback.origin == 2
        release(state, NOW)
        assert generations(state)["pinned"] is None
    go_back(copied, 3, generations_kept=9)  # nothing was published in between
    with closing(opened(copied)) as state:
        again = Ledger(state, NOW).rollback
        assert again is not None
        assert (again.of, again.before, again.origin) == (3, 4, 2)


def test_published_rows_equal_those_of_the_generation(copied: Crawled) -> None:
    go_back(copied, 1, generations_kept=9)
    with closing(open_for_reading(config_of(copied), copied.site)) as state:
        found = []
        for generation in (1, 3):
            with closing(state.corpus.snapshot(generation)) as snapshot:
                rows = [row.to_json() | {"from_gen": 0} for row in snapshot.pages()]
                vectors = [(n, v.tobytes()) for n, v in snapshot.vectors()]
                found.append((rows, list(snapshot.chunks()), vectors))
        assert found[0] == found[1]
        assert len(state.index.open(3)) == len(found[0][2])


@pytest.mark.parametrize(
    ("generation", "said"),
    [
        (2, "generation 2 of .* is the current one"),
        (7, "generation 7 is not kept; kept: 1, 2"),
        (0, "generation 0 is not kept; kept: 1, 2"),
    ],
)
def test_refused(copied: Crawled, generation: int, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        go_back(copied, generation)
    assert exported(copied.state) == copied.rows[2]


def test_other_model_is_refused(copied: Crawled) -> None:
    with pytest.raises(StoreError, match=r"made with the model hash-64, not with other-64: .* set"):
        go_back(copied, 1, embed_model="other")


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM chunks WHERE rowid = (SELECT min(rowid) FROM chunks)",
        "DELETE FROM vectors",
        "DELETE FROM published WHERE to_gen IS NOT NULL",
    ],
)
def test_damaged_generation_is_refused(copied: Crawled, damage: str) -> None:
    with closing(opened(copied)) as state:
        writer = vars(state.corpus)["_writer"]
        writer.execute(damage)
    with pytest.raises(StoreError, match=r"generation 1 is damaged: .* choose another one"):
        go_back(copied, 1)


def test_nothing_to_release(copied: Crawled) -> None:
    with closing(opened(copied)) as state, pytest.raises(StoreError, match="not rolled back"):
        release(state, NOW)


def test_site_in_use_is_left(copied: Crawled) -> None:
    config = config_of(copied)
    with closing(opened(copied)), pytest.raises(LockedError, match="is in use by `test`"):
        cli.with_writer(config, copied.site, "rollback", NOW, lambda state, own: None)
    assert cli.report_error(LockedError("")) == cli.LOCKED


def test_one_site_must_be_meant(copied: Crawled) -> None:
    config = config_of(copied)
    assert cli.one_site(config, "") == copied.site
    shutil.copytree(copied.state / copied.site, copied.state / "other")
    with pytest.raises(ConfigError, match="several sites: name one with --site"):
        cli.one_site(config, "")
    with pytest.raises(StoreError, match="no state of a site 'nowhere'"):
        cli.with_writer(config, "nowhere", "rollback", NOW, lambda state, own: None)
    assert not (copied.state / "nowhere").exists()


def test_listing(copied: Crawled) -> None:
    go_back(copied, 1)
    done = scrapy("rollback", state=copied.state)
    assert done.returncode == 0
    assert "generation 3: " in done.stdout
    assert "(current, generation 1 again, pinned)" in done.stdout
    with closing(open_for_reading(config_of(copied), copied.site)) as state:
        told = generations(state)
    assert [row["generation"] for row in told["generations"]] == [3, 2, 1]
    assert told["generations"][0]["published_at"] == iso(NOW)
    assert told["pinned"] == 1


def test_listing_beside_a_retention(copied: Crawled, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = SqliteCorpus.snapshot
    with (
        closing(opened(copied)) as writer,
        closing(open_for_reading(config_of(copied), copied.site)) as state,
    ):

        def and_then_retain(corpus: SqliteCorpus, generation: int | None = None) -> SqliteSnapshot:
            found = snapshot(corpus, generation)
            writer.corpus.retain(Retention(1))
            return found

        monkeypatch.setattr(SqliteCorpus, "snapshot", and_then_retain)
        listed = generations(state)
        assert [row["generation"] for row in listed["generations"]] == [2, 1]
        assert [row["generation"] for row in generations(state)["generations"]] == [2]


def plain(title: str, words: str, footer: str) -> str:
    """Return a page without a main element."""
    return (
        f"<html><head><title>{title}</title></head><body><p>Menu of the works</p>"
        f"<h1>{title}</h1><p>{words}</p><p>{footer}</p></body></html>"
    )


@pytest.mark.nightly
def test_site_whose_boilerplate_is_another_by_then(state: Path, tmp_path: Path) -> None:
    """Pages are parted by a list that the generation gone back to did not have."""

    def deploy(footer: str, first: int = 0) -> None:
        for number, path in enumerate(PATHS[first:], first):
            origin[path] = plain(f"Page {number}", words(number), footer)

    with Origin() as origin:
        origin.serve_sitemap(*PATHS)
        deploy("Printed in the first year")
        crawl(origin, state)
        before = exported(state)
        deploy("Printed in the second year, on other paper")
        for _ in range(2):
            crawl(origin, state, "-a", "full=1")
        scrapy("rollback", "1", state=state)
        assert exported(state) == before
        crawl(origin, state, code=3)
        deploy("Printed in the third year", first=3)
        crawl(origin, state, "-a", "full=1", code=3)
        assert exported(state) == before
        scrapy("rollback", "--release", state=state)
        for _ in range(2):
            crawl(origin, state)
        crawl(origin, tmp_path / "fresh")
        assert exported(state) == exported(tmp_path / "fresh")


@pytest.mark.parametrize("args", [["x"], ["1", "2"], ["1", "--release"], ["-3"], ["³"]])
def test_wrong_usage(args: list[str]) -> None:
    release_it = "--release" in args
    given = argparse.Namespace(site="", json=False, release=release_it)
    with pytest.raises(UsageError):
        Command().run([arg for arg in args if arg != "--release"], given)


def problems_of(status: dict[str, Any]) -> list[Problem]:
    return site_problems(status, NOW, Config(check_run_hours=0))
