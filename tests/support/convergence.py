"""The stateful test: a site that changes, runs that are disturbed, and what must hold."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections import Counter
from typing import Any, ClassVar
from unittest.mock import patch

import hypothesis
from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.internal.conjecture.engine import ConjectureRunner
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from freshcrawl.config import Config
from tests.support import convergence_checks as checks
from tests.support.convergence_readers import Reader
from tests.support.convergence_steps import (
    changes,
    cuts,
    days,
    faults,
    publish_cuts,
    seeds,
    some_changes,
)
from tests.support.convergence_views import Versions, View, view_of
from tests.support.cuts import Cut, WatchedEmbedder
from tests.support.in_process import EMBEDDER, Ended, Place, work_folder
from tests.support.settling import same_as_first_crawl, settle
from tests.support.site_model import SiteModel
from tests.support.site_server import Faults, SiteServer

DAY = 86_400.0
EXAMPLES = 50
"""Examples in every run of the tests."""
STEPS = 8
READERS = 2


class Convergence(RuleBasedStateMachine):
    """Steps are crawls; each comes after changes of the site and a wait."""

    happened: ClassVar[Counter[str]] = Counter()
    """Examples that held to their end, and runs, all and those that a kind of cut or fault struck.

    Of one exploration.
    """

    @initialize(
        seed=seeds,
        size=st.integers(5, 40),
        by_links=st.sampled_from([False, False, False, True]),
        nested=st.booleans(),
        absent=st.sampled_from(["keep", "hide", "delete"]),
        missing_runs=st.sampled_from([1, 1, 2, 3]),
        commit_every=st.sampled_from([1, 3, 10]),
    )
    def begin(
        self,
        *,
        seed: int,
        size: int,
        by_links: bool,
        nested: bool,
        absent: str,
        missing_runs: int,
        commit_every: int,
    ) -> None:
        """Make the site and an empty state."""
        self.sound = True
        self.site = SiteModel(seed, size, by_links=by_links, nested=nested)
        self.server = SiteServer(self.site)
        # Of a site known by its links, sources are read one by one: what lists a page is
        # a matter of when they were read.
        self.absent, self.missing_runs = "keep" if by_links else absent, missing_runs
        table = (
            f'url = "http://docs.test/"\nabsent = "{self.absent}"\nmissing_runs = {missing_runs}\n'
            f'discovery = "{"links" if by_links else "sitemap"}"\n'
        )
        self.folder = work_folder("freshcrawl-convergence-")
        self.place = Place(self.folder / "site", table)
        self.first = Place(self.folder / "first", table)
        self.settings: dict[str, Any] = {
            "FRESHCRAWL_COMMIT_EVERY": commit_every,
            "FRESHCRAWL_EMBED_BATCH": 8,
            "FRESHCRAWL_GUARD_CHANGED_MIN": 8,
            "FRESHCRAWL_VECTOR_RETENTION_DAYS": 36_500,
        }
        self.config = Config(state_dir=str(self.place.state), embedder_class=EMBEDDER)
        self.embedder = WatchedEmbedder()
        self.versions = Versions(self.embedder)
        self.generations = checks.Generations(self.config.generations_kept)
        self.runner = asyncio.Runner()
        self.readers: list[Reader] = []
        self.view = View()
        self.offset = 0.0
        WatchedEmbedder.texts.clear()

    @property
    def now(self) -> float:
        """Epoch seconds by the runs' clock."""
        return time.time() + self.offset

    # -- steps ----------------------------------------------------------------

    @rule(changes=changes, days=days, full=st.booleans())
    def crawl_well(self, changes: list[tuple[str, int]], days: float, full: bool) -> None:
        """Crawl with nothing in the way."""
        self.step(changes, days, full=full)

    @rule(changes=changes, days=days, full=st.booleans(), faults=faults)
    def crawl_with_faults(
        self, changes: list[tuple[str, int]], days: float, full: bool, faults: Faults
    ) -> None:
        """Crawl a site that is not well."""
        self.step(changes, days, full=full, faults=faults)

    @rule(changes=changes, days=days, full=st.booleans(), cut=cuts)
    def crawl_cut(self, changes: list[tuple[str, int]], days: float, full: bool, cut: Cut) -> None:
        """Crawl until something cuts the run."""
        self.step(changes, days, full=full, cut=cut)

    @rule(changes=some_changes, days=days, cut=publish_cuts)
    def publish_cut(self, changes: list[tuple[str, int]], days: float, cut: Cut) -> None:
        """Have a run find something, and cut it while it publishes that."""
        self.step(changes, days, full=True, cut=cut)

    # Without preconditions: what a run did would decide what Hypothesis may draw next, and the
    # same draws would not always make the same history.
    @rule(back=st.integers(0, 2))
    def hold(self, back: int) -> None:
        """Begin to read the current generation or an earlier one, and go on while runs publish.

        Where enough do, the one that has read longest ends.
        """
        if len(self.readers) == READERS:
            self.readers.pop(0).close()
        elif self.view.generation:
            self.readers.append(Reader(self.config, back))

    def step(self, changes: list[tuple[str, int]], days: float, **how: Any) -> Ended:
        """Change the site, let time go by, crawl, and check all that must hold."""
        self.sound = False
        for kind, number in changes:
            self.change(kind, number)
        self.offset += days * DAY
        torch = "torch" in sys.modules
        ended = self.crawl(self.place, **how)
        assert torch or "torch" not in sys.modules, "torch was loaded"
        before, self.view = self.view, view_of(self.config, self.now)
        self.check(before, ended)
        self.sound = True
        return ended

    def change(self, kind: str, number: int) -> None:
        """Change the site in one way; up to ``number`` pages."""
        if kind in {"new_frame", "new_banner"}:
            getattr(self.site, kind)()
        elif kind == "add":
            for _ in range(min(number, 3)):
                self.site.add()
        else:
            for page in self.site.pick(number, documents=kind != "bring_back"):
                getattr(self.site, kind)(page)

    def crawl(self, place: Place, **how: Any) -> Ended:
        """Crawl into a place at this moment."""
        self.happened["crawls"] += 1
        settings = {
            **self.settings,
            "FRESHCRAWL_CLOCK_OFFSET_SECS": self.offset,
            **how.pop("settings", {}),
        }
        ended = place.crawl(self.runner, self.server, settings, now=self.now, **how)
        self.happened.update(ended.struck)
        return ended

    def check(self, before: View, ended: Ended) -> None:
        """Check all that must hold after a run."""
        view, server = self.view, self.server
        checks.check_index(view)
        checks.check_whole(view, server, self.versions)
        checks.check_left(before, view, server, self.absent, self.missing_runs)
        checks.check_guarded(before, view, server)
        checks.check_records(before, view, after=ended)
        checks.check_absence(view, server)
        checks.check_embedded(ended, before.kept, self.embedder.model)
        checks.check_kept(before.kept, view)
        for reader in self.readers:
            reader.check()
        self.generations.note(view)
        self.generations.check(self.place.state, view)
        checks.check_verified(self.config, self.embedder)

    def teardown(self) -> None:
        """Let the site hold still until nothing is due: the answers are those of a first crawl."""
        if not hasattr(self, "runner"):
            return
        try:
            if self.sound:
                settle(self)
                same_as_first_crawl(self)
                self.happened["examples"] += 1
        finally:
            for reader in self.readers:
                reader.close()
            self.runner.close()
            shutil.rmtree(self.folder, ignore_errors=True)


def explore(
    examples: int,
    *,
    seed: int | None = None,
    shrink: bool = True,
    of: type[Convergence] = Convergence,
) -> Counter[str]:
    """Try examples, the same at each call unless there is a ``seed``; return what happened.

    Raises:
        AssertionError: something did not hold; without ``shrink``, in the first example found.
            Or there were fewer examples.
    """
    happened = Counter[str]()
    machine = type(of.__name__, (of,), {"happened": happened})
    # Most of what Hypothesis tries are small mutations of the example before: a second
    # or more each for a history that is next to the same.
    with patch.object(ConjectureRunner, "generate_mutations_from", lambda runner, data: None):
        _explore(machine, examples, seed, shrink=shrink)
    assert happened["examples"] >= examples, f"only {happened['examples']} examples were tried"
    return happened


def _explore(machine: type[Convergence], examples: int, seed: int | None, *, shrink: bool) -> None:
    run_state_machine_as_test(
        hypothesis.seed(seed)(machine) if seed is not None else machine,
        settings=hypothesis.settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            derandomize=seed is None,
            database=None,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            report_multiple_bugs=False,
        ),
    )
