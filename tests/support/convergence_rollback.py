"""The stateful test with somebody who goes back to kept generations, and releases them later."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from freshcrawl.rollback import release, roll_back
from freshcrawl.state import open_for_writing
from tests.support import convergence_checks as checks
from tests.support.convergence import Convergence
from tests.support.convergence_steps import changes, days
from tests.support.convergence_views import view_of
from tests.support.in_process import NAME

if TYPE_CHECKING:
    from freshcrawl.state import SiteState
    from tests.support.convergence_views import View
    from tests.support.in_process import Ended


class RolledBack(Convergence):
    """While a generation is pinned, no run changes the answers; once released, runs converge."""

    pinned = False
    released = False
    """Whether records know more than the answers, until a run went well."""

    @rule(back=st.integers(1, 2), changes=changes, days=days)
    def go_back(self, back: int, changes: list[tuple[str, int]], days: float) -> None:
        """Publish an earlier generation again unless one is pinned, and crawl."""
        if not self.pinned:
            if self.view.generation < 2:
                self.step(changes, days, full=False)
            if self.view.generation > 1:
                self._go_back(back)
        self.step(changes, days, full=False)

    def _go_back(self, back: int) -> None:
        with closing(self._open("rollback")) as state:
            with closing(state.corpus.snapshot()) as current:
                kept = current.generations()
            if len(kept) < 2:
                return
            of = kept[max(0, len(kept) - 1 - back)]
            with closing(state.corpus.snapshot(of)) as old:
                rows = {chunk.id: chunk.text for chunk in old.chunks()}
            config = replace(self.config, vector_retention_days=36_500)
            roll_back(state, config, lambda: self.embedder, of, self.now)
        self.pinned = True
        self.happened["rollback"] += 1
        self.view = view_of(self.config, self.now)
        assert {row["id"]: row["text"] for row in self.view.rows} == rows, "not what it was"
        self._check_stored()

    @rule()
    def release(self) -> None:
        """Let runs publish again, if one is pinned."""
        if self.pinned:
            with closing(self._open("rollback")) as state:
                release(state, self.now)
            self.pinned, self.released = False, True

    def check(self, before: View, ended: Ended) -> None:
        """Check what must hold after a run, pinned or not."""
        if self.pinned:
            self.happened["run while pinned"] += 1
            told = checks.difference(told_by(self.view), told_by(before))
            assert not told, f"answers changed while they were pinned: {told}"
            assert self.view.generation == before.generation, "a run published a pinned site"
            self._check_stored()
        elif self.released:
            self.released = not ended.went_well
            checks.check_whole(self.view, self.server, self.versions)
            self._check_stored()
        else:
            super().check(before, ended)

    def teardown(self) -> None:
        """Release what is pinned; then it settles as ever."""
        if self.__dict__.get("sound"):
            self.release()
        super().teardown()

    def _open(self, command: str) -> SiteState:
        return open_for_writing(self.config, NAME, command, self.now)

    def _check_stored(self) -> None:
        checks.check_index(self.view)
        self.generations.note(self.view)
        self.generations.check(self.place.state, self.view)
        for reader in self.readers:
            reader.check()
        checks.check_verified(self.config, self.embedder)


def told_by(view: View) -> list[dict[str, Any]]:
    """Return the rows without what a run may find out of them all the same: that they are stale."""
    return [{name: value for name, value in row.items() if name != "stale"} for row in view.rows]
