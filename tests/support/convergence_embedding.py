"""The stateful test with late embedding: budgets, embedding apart, endpoints that fail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import rule

from freshcrawl.clock import make_clock
from freshcrawl.core.report import RunReport
from freshcrawl.embed_site import SiteEmbedding
from freshcrawl.stores.base import EmbeddingError
from tests.support.convergence import Convergence
from tests.support.convergence_steps import changes, days, faults, some_changes
from tests.support.convergence_views import view_of
from tests.support.cuts import WatchedEmbedder
from tests.support.in_process import NAME, Ended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.stores.base import Matrix
    from tests.support.site_server import Faults

LATE = "late"
"""Start of what is counted here."""
limits = st.sampled_from([0, 1, 4, 12])
"""Passages that may be embedded; 0: as many as there are, or none where that is left to embed."""
batches = st.sampled_from([1, 2, 4])


class Unsteady(WatchedEmbedder):
    """The same model at an endpoint that fails once it has embedded ``left`` batches."""

    left: ClassVar[int] = 0

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised float32 row a text.

        Raises:
            EmbeddingError: it fails from now on.
        """
        if not Unsteady.left:
            raise EmbeddingError("the endpoint is down")
        Unsteady.left -= 1
        return super().encode(texts)


UNSTEADY = f"{Unsteady.__module__}.{Unsteady.__name__}"


class EmbeddedLate(Convergence):
    """What was let go waits for its vectors, over runs, and is published whole or not at all."""

    @rule(changes=changes, days=days, full=st.booleans(), limit=limits)
    def crawl_late(
        self, changes: list[tuple[str, int]], days: float, full: bool, limit: int
    ) -> None:
        """Crawl with a budget, or leave all embedding to the command."""
        setting = ("FRESHCRAWL_EMBED_RUN_CHUNKS", limit) if limit else ("FRESHCRAWL_EMBED_APART", 1)
        self.step(changes, days, full=full, settings=dict([setting]))
        self._count("with a budget" if limit else "apart")

    @rule(changes=changes, days=days, faults=faults)
    def crawl_apart_with_faults(
        self, changes: list[tuple[str, int]], days: float, faults: Faults
    ) -> None:
        """Crawl a site that is not well, and leave embedding to the command."""
        self.step(changes, days, full=True, faults=faults, settings={"FRESHCRAWL_EMBED_APART": 1})
        self._count("apart")

    @rule(changes=some_changes, days=days, left=batches)
    def crawl_while_the_endpoint_fails(
        self, changes: list[tuple[str, int]], days: float, left: int
    ) -> None:
        """Have a run find something of which an endpoint embeds but a part."""
        Unsteady.left = left
        settings = {"FRESHCRAWL_EMBEDDER_CLASS": UNSTEADY, "FRESHCRAWL_EMBED_BATCH": 2}
        self.step(changes, days, full=True, settings=settings)
        if not Unsteady.left:
            self._count("at a failing endpoint")

    @rule(limit=limits, left=st.sampled_from([1, 3, 1_000]))
    def embed(self, limit: int, left: int) -> None:
        """Work off what waits, as far as a budget and the endpoint allow."""
        if not (self.place.state / NAME / "records.sqlite").exists():
            return
        self.sound, Unsteady.left = False, left
        config = replace(
            self.config,
            embedder_class=UNSTEADY,
            embed_batch=2,
            embed_run_chunks=limit,
            vector_retention_days=36_500,
        )
        first = len(WatchedEmbedder.texts)
        done = SiteEmbedding(config, NAME, make_clock(self.offset), lambda _: None).run()
        before, self.view = self.view, view_of(self.config, self.now)
        report = RunReport("embed", self.now, status="ok")
        self.check(before, Ended(report, killed=False, embedded=WatchedEmbedder.texts[first:]))
        assert not limit or done.chunks_embedded <= limit
        if done.chunks_embedded:
            self.happened[f"{LATE} embed"] += 1
        self.sound = True

    def _count(self, how: str) -> None:
        if any(entry.released for entry in self.view.staged.values()):
            self.happened[f"{LATE} {how}"] += 1


KINDS = ("apart", "with a budget", "at a failing endpoint", "embed")


def check_late(happened: dict[str, int], least: int) -> None:
    """Each way to be late left something waiting, at least so often in an exploration."""
    rare = [kind for kind in KINDS if happened[f"{LATE} {kind}"] < least]
    assert not rare, f"too few runs were late: {rare}, {dict(happened)}"
