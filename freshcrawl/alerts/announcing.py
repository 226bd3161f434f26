"""What was not told yet, put into the outbox: found by what is stored, not by what a run thinks.

``meta:announced`` has the generation whose pages were told, what became of pages since they left
the answers (``later``, a status by key), and the runs that were told. Whoever opens a site for
writing and has a receiver finds what came since, whatever published it, and notes all in one
transaction.
"""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from freshcrawl.alerts.forgotten_pages import ANNOUNCED, take
from freshcrawl.alerts.outbox import Outbox
from freshcrawl.core.events import (
    as_it_stands,
    forgotten_event,
    in_batches,
    page_event,
    page_type,
    run_event,
    run_types,
)
from freshcrawl.core.pages import Status
from freshcrawl.problems import run_remedies

if TYPE_CHECKING:
    from collections.abc import Callable

    from freshcrawl.alerts.webhook import Webhook
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Published
    from freshcrawl.core.report import RunReport
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Snapshot

    Pair = tuple[Published | None, Published | None]

logger = logging.getLogger(__name__)

RUNNING = "running"


class Announcer:
    """Puts into a site's outbox what its receiver was not told; durable with the next commit.

    ``page_of`` returns the record of a key, as it will be committed.
    """

    def __init__(
        self, state: SiteState, webhook: Webhook, page_of: Callable[[str], PageRecord | None]
    ) -> None:
        self._state, self._webhook, self._page_of = state, webhook, page_of
        self._outbox = Outbox(state.records)
        mark = state.records.get(ANNOUNCED)
        self._generation = None if mark is None else int(mark["generation"])
        self._runs: list[str] = [] if mark is None else list(mark["runs"])
        self._later: dict[str, str] = {} if mark is None else dict(mark.get("later", {}))
        self._looked_back = False

    def announce(self, generation: int, now: float, own: RunReport | None = None) -> None:
        """Put in what came since the last call; ``own`` is the report that is being committed.

        The first time that a site has a receiver, what was before is not told.
        """
        before = (self._generation, list(self._runs), self._later)
        # First: a page that was let in again since is told of as new, after this.
        self._tell_forgotten(generation, now)
        if self._generation is None:
            self._generation = generation
            self._runs = [report.run_id for report in self._state.reports()]
            self._later = self._all_later()
        if self._generation != generation or own is None or own.status != RUNNING:
            self._tell_pages(generation, now, own)
            self._generation = generation
        for report in [*self._earlier(own), *([own] if own else [])]:
            if report.status != RUNNING and report.run_id not in self._runs:
                self._tell_run(report, now)
                self._runs.append(report.run_id)
        if (self._generation, self._runs, self._later) != before:
            mark = {"generation": self._generation, "runs": self._runs, "later": self._later}
            self._state.records.put(ANNOUNCED, mark)

    def _earlier(self, own: RunReport | None) -> list[RunReport]:
        """Return the kept reports of other runs, once; forget told runs that are not kept."""
        if self._looked_back:
            return []
        self._looked_back = True
        reports = self._state.reports()
        kept = {report.run_id for report in reports}
        self._runs = [run_id for run_id in self._runs if run_id in kept]
        return [report for report in reports if own is None or report.run_id != own.run_id]

    def _tell_run(self, report: RunReport, now: float) -> None:
        run, site = report.as_contract(), self._state.name
        events = [
            run_event(site, kind, run, run_remedies(run, site), now)
            for kind in run_types(run)
            if kind in self._webhook.types
        ]
        self._put(events, report.run_id, report.generation, now)

    def _tell_forgotten(self, generation: int, now: float) -> None:
        events = [forgotten_event(self._state.name, page) for page in take(self._state.records)]
        chosen = [event for event in events if event["type"] in self._webhook.types]
        self._put(chosen, "forget", generation, now)

    def _tell_pages(self, generation: int, now: float, own: RunReport | None) -> None:
        since = self._generation or 0
        if since > generation:
            logger.warning(
                "%(site)s: generation %(since)d was told by webhook and is not there any more: an "
                "older copy was put back; what differs is not told",
                {"site": self._state.name, "since": since},
            )
            return
        with closing(self._state.corpus.snapshot()) as snapshot:
            kept = snapshot.generations()
            exact = since in {0, generation} or (bool(kept) and since >= kept[0])
            events = self._page_events(snapshot, self._pairs(snapshot, since))
            run_id = str(snapshot.info()["run_id"])
        if since == generation and own is not None:
            run_id = own.run_id
        chosen = [event for event in events if event["type"] in self._webhook.types]
        self._put(chosen, run_id, generation, now, exact=exact)

    def _pairs(self, snapshot: Snapshot, since: int) -> list[Pair]:
        """Return what was told of a page and its row, of those of which there is to tell."""
        changed = list(snapshot.changed_since(since)) if since != snapshot.generation else []
        keys = {page.key for pair in changed for page in pair if page is not None}
        others = [(page, page) for page in snapshot.pages() if page.status != Status.LIVE]
        pairs: list[Pair] = []
        later = {}
        for old, row in [*changed, *((o, n) for o, n in others if n.key not in keys)]:
            new = as_it_stands(row, self._page_of(row.key) if row else None)
            if new is not None and new is not row:
                later[new.key] = str(new.status)
            if old is not None and old.status != Status.LIVE and old.key in self._later:
                old = replace(old, status=self._later[old.key])  # noqa: PLW2901
            if page_type(old, new):
                pairs.append((old, new))
        self._later = later
        return pairs

    def _all_later(self) -> dict[str, str]:
        """Return what became of pages that were out of the answers already, by key."""
        with closing(self._state.corpus.snapshot()) as snapshot:
            self._pairs(snapshot, snapshot.generation)
        return self._later

    def _page_events(self, snapshot: Snapshot, pairs: list[Pair]) -> list[dict[str, Any]]:
        moves = self._moves(pairs)
        came_from = {record.alias_of: record.url for record in moves.values()}
        times: dict[int, float] = {}
        events = []
        for old, new in pairs:
            number = new.from_gen if new else snapshot.generation
            if number not in times:
                times[number] = snapshot.published_at(number)
            key = (new or old).key  # type: ignore[union-attr]
            record, later = self._page_of(key), key in self._later
            target = self._page_of(moves[key].alias_of) if key in moves else None
            event = page_event(
                self._state.name,
                old,
                new,
                record,
                at=record.last_checked if record and later else times[number],
                generation=number,
                moved_to=target.url if target else "",
                moved_from=came_from.get(key, ""),
                later=later,
            )
            events += [event] if event else []
        return events

    def _moves(self, pairs: list[Pair]) -> dict[str, PageRecord]:
        """Return the records of the pages that moved, by key."""
        keys = [new.key for _, new in pairs if new is not None and new.status == Status.ALIAS]
        return {key: record for key in keys if (record := self._page_of(key)) is not None}

    def _put(
        self,
        events: list[dict[str, Any]],
        run_id: str,
        generation: int,
        now: float,
        *,
        exact: bool = True,
    ) -> None:
        size, site = self._webhook.batch, self._state.name
        batches = in_batches(
            site, events, size, run_id=run_id, generation=generation, at=now, exact=exact
        )
        self._outbox.add(batches, now)
