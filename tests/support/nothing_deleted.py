"""A trial: a site that gets into trouble for ten runs, and is well again after that."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from freshcrawl.answers import search
from freshcrawl.config import Config
from freshcrawl.core.pages import Status
from freshcrawl.core.urls import url_key
from freshcrawl.reader import SiteReader
from freshcrawl.state import open_for_reading
from tests.support import convergence_checks as checks
from tests.support.convergence_views import View, view_of
from tests.support.cuts import Cut, WatchedEmbedder
from tests.support.in_process import EMBEDDER, NAME, Ended, Place, work_folder
from tests.support.site_model import key_of
from tests.support.troubled_site import TroubledSite, none

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.troubled_site import Trouble

DAY = 86_400.0
RUNS = 10
MAX_AGE_DAYS = 7.0
HEALING_RUNS = 8
ANY = ("any",)
"""Of runs that are cut off it is not said which pages they get to."""
SETTINGS: dict[str, Any] = {
    "FRESHCRAWL_MAX_AGE_SECS": MAX_AGE_DAYS * DAY,
    "FRESHCRAWL_VECTOR_RETENTION_DAYS": 36_500,
}


if TYPE_CHECKING:
    MakeTrouble = Callable[[TroubledSite], Trouble]


@dataclass(frozen=True, slots=True)
class Case:
    """One trouble, and how the site is crawled meanwhile."""

    trouble: MakeTrouble
    days: float = 0.8
    """Between runs."""
    wait: float = 0.0
    """Days before the first of them, beyond ``days``."""
    full: bool = False
    table: dict[str, str] = field(default_factory=dict)
    """Keys of the site's table."""
    settings: dict[str, Any] = field(default_factory=dict)
    cut: Cut = field(default_factory=Cut)
    stale: tuple[str, ...] | None = None
    """Paths of the pages that must be marked stale in the end, and no others; None: all."""
    well: tuple[str, ...] = ()
    """Paths of pages that are not in trouble."""
    ends: str = ""
    """Scrapy's reason for which a run ends at least, if not by itself."""
    said: str = ""
    """What the last run must say of why it is not complete."""


class Trial:
    """One site and the state of its crawls."""

    def __init__(self, folder: Path, site: TroubledSite, table: dict[str, str]) -> None:
        lines = {"url": "http://docs.test/", "missing_runs": 1, **table}
        text = "".join(f"{name} = {_toml(value)}\n" for name, value in lines.items())
        self.site = site
        self.place = Place(folder, text)
        self.config = Config(state_dir=str(self.place.state), embedder_class=EMBEDDER)
        self.runner = asyncio.Runner()
        self.embedder = WatchedEmbedder()
        self.offset = 0.0

    @property
    def now(self) -> float:
        """Epoch seconds by the runs' clock."""
        return time.time() + self.offset

    def close(self) -> None:
        """End the trial."""
        self.runner.close()
        shutil.rmtree(self.place.folder, ignore_errors=True)

    def crawl(self, days: float = 0.0, **how: Any) -> Ended:
        """Let time go by and crawl."""
        self.offset += days * DAY
        settings = {
            **SETTINGS,
            "FRESHCRAWL_CLOCK_OFFSET_SECS": self.offset,
            **how.pop("settings", {}),
        }
        return self.place.crawl(self.runner, self.site, settings, now=self.now, **how)  # type: ignore[arg-type]

    def view(self) -> View:
        """Return what a reader finds."""
        return view_of(self.config, self.now)

    def kept(self) -> dict[str, set[str]]:
        """Return the embed digests of the vectors that are kept, by model."""
        with closing(sqlite3.connect(self.place.state / NAME / "corpus.sqlite")) as conn:
            found: dict[str, set[str]] = {}
            for model, digest in conn.execute("SELECT model, embed_digest FROM vectors"):
                found.setdefault(model, set()).add(digest)
            return found

    def left(self) -> list[str]:
        """Return what is left to do, in words."""
        with closing(open_for_reading(self.config, NAME)) as state:
            found = [f"{e.key}: staged ({e.held or 'not held'})" for e in state.staged()]
            return found + [
                f"{key}: {record.last_verdict} ({record.reason})"
                for key, record in state.pages().items()
                if record.status == Status.LIVE and (record.failures or record.missing_runs)
            ]

    # -- what must hold --------------------------------------------------------

    def check_answers(self) -> list[str]:
        """Find each page by its own text; return the paths of those that are said to be stale.

        Raises:
            AssertionError: a page is not found.
        """
        stale = []
        with closing(SiteReader(self.config, NAME)) as reader:
            with reader.current() as view:
                live = {p.key for p in view.snapshot.pages() if p.status == Status.LIVE}
            missing = self.site.keys - live
            assert not missing, f"{len(missing)} pages left the answers: {sorted(missing)}"
            for path, text in self.site.texts.items():
                hit = search(
                    *([reader], self.embedder, text.blocks[0][1], 1),
                    now=self.now,
                    max_ages={NAME: MAX_AGE_DAYS * DAY},
                )[0]
                assert url_key(hit.url) == key_of(path), f"{path} is not found, but {hit.url}"
                if hit.stale:
                    stale.append(path)
        return stale

    def suffer(self, case: Case) -> None:
        """Crawl ten times while the trouble lasts; no page may leave."""
        self.site.trouble = case.trouble(self.site)
        self.offset += case.wait * DAY
        stale: list[str] = []
        reasons: set[str] = set()
        for number in range(RUNS):
            known = self.kept()
            ended = self.crawl(case.days, full=case.full, settings=case.settings, cut=case.cut)
            try:
                assert ended.went_well, "the run failed"
                stale = self.check_answers()
                checks.check_embedded(ended, known, self.embedder.model)
            except AssertionError as error:
                raise AssertionError(f"run {number + 1}: {error}\n{_told(ended)}") from error
            assert ended.report is not None
            reasons.add(ended.report.finish_reason)
        assert not case.ends or case.ends in reasons, f"runs ended by {reasons}"
        assert ended.report is not None
        told = "; ".join(ended.report.incomplete_reasons)
        assert case.said in told, f"the last run is not complete because of {told!r}"
        expected = set(self.site.texts if case.stale is None else case.stale) - set(case.well)
        assert case.stale is ANY or set(stale) == expected, f"stale are {stale}"

    def heal(self) -> list[dict[str, Any]]:
        """Let the site be well and move on; return the answers once nothing is left to do.

        Raises:
            AssertionError: it does not come to that.
        """
        self.site.trouble = none
        self.site.moves_on()
        days = MAX_AGE_DAYS
        for _ in range(HEALING_RUNS):
            known = self.kept()
            ended = self.crawl(days)
            checks.check_embedded(ended, known, self.embedder.model)
            if not (left := self.left()):
                break
            days = 0.55
        assert not left, f"does not settle: {left}\n{_told(ended)}"
        self.crawl(MAX_AGE_DAYS)
        assert self.check_answers() == []
        view = self.view()
        checks.check_index(view)
        return view.rows


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _told(ended: Ended) -> str:
    report = ended.report
    if report is None:
        return "no report"
    counted = {
        name: value
        for name, value in report.as_contract().items()
        if value and isinstance(value, (int, list, dict)) and not name.startswith("saved")
    }
    return str(counted)


class Trials:
    """Trials that begin with the same first crawl, made once for each kind of site."""

    def __init__(self) -> None:
        import faiss

        faiss.omp_set_num_threads(1)  # searches are tiny, and cores are few
        self._folder = work_folder("freshcrawl-nothing-deleted-")
        self._begun: dict[tuple[bool, bool, str], Path] = {}
        self._healed: dict[tuple[bool, bool], list[dict[str, Any]]] = {}
        self._count = 0

    def close(self) -> None:
        """Remove what was made."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, case: Case, *, by_links: bool, tiny: bool = False, table: dict[str, str]) -> None:
        """Try a case on one kind of site."""
        trial = self._begin(by_links, tiny, {**table, **case.table})
        try:
            trial.suffer(case)
            rows = trial.heal()
        finally:
            trial.close()
        first = self._first_crawl_of_healed(by_links, tiny)
        told = checks.difference(rows, first)
        assert not told, told

    def _begin(self, by_links: bool, tiny: bool, table: dict[str, str]) -> Trial:
        trial = self._trial(TroubledSite(by_links=by_links, tiny=tiny), table)
        kind = (by_links, tiny, str(sorted(table.items())))
        if kind in self._begun:
            shutil.copytree(self._begun[kind], trial.place.state)
            return trial
        assert trial.crawl().went_well
        assert trial.check_answers() == []
        self._begun[kind] = self._folder / f"begun-{len(self._begun)}"
        shutil.copytree(trial.place.state, self._begun[kind])
        return trial

    def _trial(self, site: TroubledSite, table: dict[str, str]) -> Trial:
        self._count += 1
        return Trial(self._folder / str(self._count), site, table)

    def _first_crawl_of_healed(self, by_links: bool, tiny: bool) -> list[dict[str, Any]]:
        if (by_links, tiny) not in self._healed:
            site = TroubledSite(by_links=by_links, tiny=tiny)
            site.moves_on()
            with closing(self._trial(site, {})) as trial:
                trial.crawl()
                self._healed[by_links, tiny] = trial.view().rows
        return self._healed[by_links, tiny]
