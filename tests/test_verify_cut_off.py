"""Rollbacks and reindexes that were cut off: no damage, and completed by who writes next."""

from __future__ import annotations

import shutil
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.clock import make_clock
from freshcrawl.reindexing import Reindexing
from freshcrawl.rollback import roll_back
from freshcrawl.seams import Seam, listening
from freshcrawl.state import open_for_reading, open_for_writing
from freshcrawl.stored_sites import stored_site
from freshcrawl.verify import Kind
from freshcrawl.verify.repair import Repair
from tests.support import damage
from tests.support.origin import Answer, Origin, page
from tests.support.project import HASH_EMBEDDER, scrapy
from tests.support.verified import MODEL, Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = Callable[[Site], None]

OLDER = "tests.support.older.OlderReader"
PATHS = [f"/{name}" for name in "abcde"]


class Stopped(Exception):
    """Raised at a seam."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site of two generations; in the second a page is new, one gone and one edited."""
    with Origin() as origin:
        for path in PATHS:
            origin[path] = page(path, f"The text of {path}.", f"The last of {path}.")
        origin.serve_sitemap(*PATHS)
        site = Site(origin, tmp_path_factory.mktemp("cut-off") / "state")
        crawl(site)
        origin["/a"] = page("/a", "Another text.", "The last of /a.")
        origin["/b"] = Answer("gone", 410)
        origin["/new"] = page("/new", "The text of /new.", "The last of /new.")
        origin.serve_sitemap(*PATHS, "/new")
        crawl(site)
        yield site


@pytest.fixture(scope="module")
def older(crawled: Site, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The same site as an earlier release has left it, which lost the last block of each page."""
    site = Site(crawled.origin, tmp_path_factory.mktemp("older") / "state")
    crawl(site, FRESHCRAWL_EMBEDDER_CLASS=OLDER)
    return site


def crawl(site: Site, code: int = 0, **settings: str) -> None:
    url = f"url={site.origin.url}"
    args = ("crawl", "docs", "-a", url, "-a", "full=1")
    done = scrapy(*args, state=site.state, settings=settings)
    assert done.returncode == code, done.stderr[-3000:]


def copy(site: Site, folder: Path) -> Site:
    shutil.copytree(site.state, folder / "state")
    return Site(site.origin, folder / "state")


def go_back(site: Site) -> None:
    state = open_for_writing(site.config(), site.name, "test", 0.0)
    try:
        roll_back(state, site.config(), lambda: MODEL, 1, 1e9)
    finally:
        state.close()


def reindex(site: Site) -> None:
    config = replace(site.config(), embedder_class=HASH_EMBEDDER)
    state = open_for_writing(config, site.name, "test", 0.0)
    try:
        known = stored_site(config, state)
        assert known is not None
        Reindexing(state, known, config, make_clock()).run()
    finally:
        state.close()


def records(site: Site) -> dict[str, tuple[Any, ...]]:
    """Return of each page what a rollback and a reindex change in its record."""
    names = ("status", "reason", "next_due", "etag", "validator_digest", "made_by")
    state = open_for_reading(site.config(), site.name)
    try:
        return {
            key: tuple(getattr(record, name) for name in names)
            for key, record in state.pages().items()
        }
    finally:
        state.close()


def rolled_back_to(site: Site) -> int | None:
    """Return the generation that a site is pinned to."""
    state = open_for_reading(site.config(), site.name)
    try:
        with closing(state.corpus.snapshot()) as snapshot:
            rollback = snapshot.rollback()
    finally:
        state.close()
    return rollback.of if rollback is not None and rollback.pinned else None


def cut_off(site: Site, command: Command, at: int) -> None:
    """Run a command until it has passed so many steps and one more."""
    left = at

    def stop(seam: Seam) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Stopped

    with listening(stop), suppress(Stopped):
        command(site)
        pytest.fail(f"it has fewer than {at} steps")


CUT: dict[str, tuple[Command, set[Kind]]] = {
    "rollback": (go_back, {Kind.ROLLBACK, Kind.RECORD_STATUS, Kind.RECORD_UNPUBLISHED}),
    "reindex": (reindex, {Kind.RECORD_MADE_BY}),
}
"""What is cut off, and what a look finds after its switch."""


@pytest.mark.parametrize("name", CUT)
def test_cut_off_is_no_damage_and_is_completed(
    name: str, crawled: Site, older: Site, tmp_path: Path
) -> None:
    command, notes = CUT[name]
    site = older if command is reindex else crawled
    whole, passed = copy(site, tmp_path / "whole"), list[Seam]()
    with listening(passed.append):
        command(whole)
    assert whole.found() == []
    assert {Seam.SWITCHED, Seam.RECORDS_COMMITTED, Seam.TIDIED} <= set(passed)
    switched = passed.index(Seam.SWITCHED)
    for number, seam in enumerate(passed):
        cut = copy(site, tmp_path / str(number))
        cut_off(cut, command, number)
        assert cut.damage() == set(), seam
        if number == switched:
            assert {kind for kind, _ in cut.found()} == notes
        crawled_on = copy(cut, tmp_path / f"{number}-crawled")
        assert cut.repair().left == [] if number >= switched else True, seam
        wanted = whole if number >= switched else site
        assert (cut.passages(), records(cut)) == (wanted.passages(), records(wanted)), seam
        if number == switched:
            crawl(crawled_on, code=3 if command is go_back else 0)
            assert not notes & {kind for kind, _ in crawled_on.found()}


def test_repair_completes_a_rollback_among_damage(crawled: Site, tmp_path: Path) -> None:
    """Before it tidies up: what was published before says which pages are due."""
    whole = copy(crawled, tmp_path / "whole")
    passed = list[Seam]()
    with listening(passed.append):
        go_back(whole)
    cut = copy(crawled, tmp_path / "cut")
    cut_off(cut, go_back, passed.index(Seam.SWITCHED))
    for hurt in (damage.chunks_altered, damage.row_of_noise_no_json, damage.record_status):
        hurt(cut.folder)
    config = replace(cut.config(), generations_kept=1)
    state = open_for_writing(config, cut.name, "test", 0.0)
    try:
        assert Repair(state, config, MODEL, make_clock()).heal().left == []
    finally:
        state.close()
    assert (cut.found(), cut.generations()) == ([], [4])
    assert cut.passages() == whole.passages()
    assert records(cut).keys() == records(whole).keys()
    due = {key for key, (_, reason, *_) in records(whole).items() if "rolled back" in reason}
    assert len(due) == 3
    told = records(cut)
    assert {key: told[key] for key in due} == {key: records(whole)[key] for key in due}


def test_repair_of_a_site_that_is_rolled_back_keeps_it_so(crawled: Site, tmp_path: Path) -> None:
    site = copy(crawled, tmp_path)
    go_back(site)
    before = site.passages()
    for hurt in (damage.chunks_altered, damage.vectors_deleted, damage.index_missing):
        hurt(site.folder)
    assert site.repair().left == []
    assert (site.found(), site.passages()) == ([], before)
    assert (site.generations()[-1], rolled_back_to(site)) == (4, 1)
    crawl(site, code=3)
    assert (site.passages(), site.generations()[-1]) == (before, 4)
    assert site.damage() == set()
