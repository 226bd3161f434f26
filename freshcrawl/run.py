"""One run over one site: what is due, what may be asked conditionally, what was found."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from freshcrawl.accounts import add_up, nothing_checked, nothing_found
from freshcrawl.alerts.telling import alerts_of
from freshcrawl.backlog import left_to_embed, waits_for_vectors
from freshcrawl.clock import new_run_id
from freshcrawl.core.embedding_plan import day_of
from freshcrawl.core.evidence import SITE_POLICIES, Policies
from freshcrawl.core.pages import Cause, PageRecord, Status, Verdict
from freshcrawl.core.proofs import Proof, noted
from freshcrawl.core.report import ENDED_EARLY, RunReport
from freshcrawl.core.robots_meta import OURS
from freshcrawl.core.schedule import is_due, reschedule
from freshcrawl.failures import fatal_of
from freshcrawl.ledger import Ledger
from freshcrawl.policies import noise_rules, schedule_policy
from freshcrawl.progress import Snapshot
from freshcrawl.publishing import Publisher, PublishResult
from freshcrawl.reading import made_by, recipe
from freshcrawl.rescoping import apply_policies, rescope
from freshcrawl.sightings import Sightings
from freshcrawl.state import make_embedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from freshcrawl.backlog import Worth
    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.listings import Source
    from freshcrawl.core.published import Staged
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder

BELIEVED_LATER = frozenset({Verdict.CHANGED, Verdict.MOVED, Verdict.EXCLUDED, Verdict.GONE})
"""Verdicts that the end of a run may find to be of all pages at once, and so of none."""
TAKEN_BACK = ("last_checked", "canonical", "shown_digest", "difference", "cause", "proofs")
"""Fields that a body sets; they stand as before if it turns out to be no content."""


class Run:
    """One run over one site.

    The ledger holds what is known; here is decided what to ask for and what an
    answer changes. Nothing is durable before ``commit``.

    Raises:
        StoreError: the site is indexed with another model, or the model cannot be found.
    """

    def __init__(
        self,
        site: SiteConfig,
        config: Config,
        state: SiteState,
        clock: Clock,
        *,
        full: bool = False,
        dry_run: bool = False,
    ) -> None:
        self.site = site
        self.config = config = config.for_site(site.policies)
        self.clock = clock
        self.full = full
        self.dry_run = dry_run
        self.policies = Policies(
            missing_runs=config.missing_runs,
            confirm=config.guard_confirm_hours * 3_600,
            **{name: getattr(site, name) for name in SITE_POLICIES},
        )
        self.agent = OURS
        """Name by which robots metas and headers address us."""
        self.schedule = schedule_policy(config)
        self.noise = noise_rules(config)
        now = clock()
        self.report = RunReport(new_run_id(now), now, full=full, dry_run=dry_run)
        self.ledger = Ledger(state, now)
        self.report.generation = self.ledger.generation
        self.report.first_crawl = not self.ledger.generation
        if self.ledger.rollback is not None and self.ledger.pinned:
            self.report.pinned = self.ledger.rollback.reason(site.name)
        self.sightings = Sightings(self.ledger, site, config, self.report, clock)
        self._recipes: dict[bool, str] = {}
        self.was_live = set(self.ledger.live_keys())
        """Pages that were in the answers before this run."""
        self.handled: set[str] = set()
        self.counted: dict[str, str] = {}
        """Counter by key of the pages that the report counts under a verdict."""
        self.taken = 0
        """Pages to be asked for in this run, as far as is known."""
        self.concluded = 0
        """Those whose outcome is recorded."""
        self.on_fatal: Callable[[Exception], None] = lambda error: None
        """Called with what ends the run as failed."""
        self.stopping = False
        """Asked to stop: a request that fails now says nothing of its page."""
        self.rejections: dict[str, str] = {}
        """What the bodies were that this run rejected, by key."""
        self.before_change: dict[str, dict[str, Any]] = {}
        """What records said that this run's new and changed texts have replaced, by key."""
        self.listed_before: dict[str, dict[str, Source | None]] = {}
        """What those pages listed before (``Listings.of_page``), by key."""
        self.hubs: set[str] = set()
        """Pages with links that are asked for whether they list pages that nothing else does."""
        self.witnesses: set[str] = set()
        """Pages that were asked for only to see whether they say what changed ones do."""
        self._embedder: Embedder | None = None
        self.publisher = Publisher(state, config, self.embedder)
        if not config.embed_apart:
            self.publisher.check_model()
        rescope(self)
        apply_policies(self, state.site_table())
        self.alerts = alerts_of(config, state, clock, self.ledger.pages.get)

    def progress(self) -> Snapshot:
        """Return how far the run is. Any thread may call."""
        return Snapshot(self.concluded, self.taken, *self.publisher.embedding.progress)

    @property
    def now(self) -> float:
        """Epoch seconds, by the run's clock."""
        return self.clock()

    def embedder(self) -> Embedder:
        """Return the embedder, made when first asked for."""
        if self._embedder is None:
            self._embedder = make_embedder(self.config)
        return self._embedder

    def cutter(self) -> Embedder | None:
        """Return what texts are cut for, None where that is left to ``scrapy embed``."""
        return None if self.config.embed_apart else self.embedder()

    def publish(self, rows: list[Staged], worth: Worth) -> PublishResult:
        """Publish staged work, whole, within what may be embedded. Blocking; in any thread.

        ``worth`` is ``backlog.worth_in`` of the ledger, as of the event loop.

        Raises:
            StoreError: the model differs from that of the site, or a store failed.
            PublishInterrupted: the publisher was interrupted.
        """
        run_id = self.report.run_id
        if self.config.embed_apart:
            return self.publisher.publish_without_model(rows, run_id, self.clock)
        spent = self.publisher.spent_on(day_of(self.now))
        left = left_to_embed(self.config, spent, self.publisher.embedding.made)
        return self.publisher.publish(rows, run_id, self.clock, allowance=left, worth=worth)

    @property
    def recipe(self) -> str:
        """What identifies how bodies are read in this run."""
        follows = self.sightings.follows_links
        if follows not in self._recipes:
            self._recipes[follows] = recipe(self.site, links=follows)
        return self._recipes[follows]

    @property
    def made_by(self) -> str:
        """What identifies how pages are read and cut in this run."""
        return made_by(self.site, self.config.chunk_tokens)

    def take(self, key: str, *, confirm: bool = False) -> bool:
        """Tell whether to fetch a key now, once a run; ``confirm`` asks whatever its due time."""
        if key in self.handled or self.ledger.is_forgotten(key):
            return False
        if not confirm and not self.is_due(key):
            return False
        self.handled.add(key)
        self.taken += 1
        return True

    def take_out(self, key: str) -> bool:
        """Take a key that is not due out of this run; tell whether it will not be fetched in it."""
        if key not in self.handled and not self.is_due(key):
            self.handled.add(key)
            return True
        return False

    def is_due(self, key: str) -> bool:
        """Tell whether a key should be checked in this run."""
        record = self.ledger.pages[key]
        if self.full and not record.left_out:
            return record.status != Status.GONE or self.ledger.listings.lists(key)
        return is_due(record, self.ledger.staged.get(key), self.schedule, self.now)

    def due_keys(self) -> list[str]:
        """Return the keys that are due and were not taken yet, sorted."""
        return sorted(
            key for key in self.ledger.pages if key not in self.handled and self.is_due(key)
        )

    def validators(self, key: str, url: str) -> dict[str, str]:
        """Return the conditional headers for a request of ``url``; empty if none may be sent.

        They go only to the exact URL that sent them, only if the body would be
        read and cut today as it was then, and only while the content they came with is
        the one that is published (or the page is excluded and nothing is).
        """
        record = self.ledger.pages.get(key)
        if record is None or (record.validator_url, record.recipe) != (url, self.recipe):
            return {}
        if self.ledger.is_older(key, self.made_by):
            return {}
        if self.ledger.is_live(key):
            current = record.validator_digest == self.ledger.published[key].version
        else:
            # A body that excludes its page has no digest; one that was never published has.
            hidden = record.status == Status.HIDDEN and record.cause == Cause.NOINDEX
            out = record.status == Status.EXCLUDED or hidden
            current = out and not record.validator_digest
        if not current:
            return {}
        headers = {"If-None-Match": record.etag, "If-Modified-Since": record.last_modified}
        return {name: value for name, value in headers.items() if value}

    # -- outcomes ----------------------------------------------------------

    def believes_later(self, verdict: str) -> bool:
        """Tell whether the run's end may find that what a verdict is of was no page."""
        return verdict in BELIEVED_LATER or (verdict == Verdict.NEW and bool(self.was_live))

    def checked(
        self, key: str, verdict: str, *, count_as: str | None = None, **changes: Any
    ) -> PageRecord:
        """Update a page's record after an outcome and set when to look again.

        The report counts it as ``count_as`` (``""``: not at all), else as the verdict.
        """
        record = self.ledger.pages[key]
        self.concluded += 1
        now = self.now
        failed = verdict in {Verdict.FAILED, Verdict.REJECTED}
        values = {
            "last_attempt": now,
            "last_verdict": str(verdict),
            "failures": record.failures + 1 if failed else 0,
            "failing_since": (record.failing_since or self.report.started_at) if failed else 0.0,
            "checks": record.checks + 1,
            "changes": record.changes + (verdict in {Verdict.CHANGED, Verdict.LINKS_ONLY}),
            **({} if failed else {"last_checked": now}),
            **changes,
        }
        since = now - record.last_checked
        moved_again = verdict == record.last_verdict == Verdict.MOVED
        if self.believes_later(verdict):
            self.before_change[key] = {name: getattr(record, name) for name in TAKEN_BACK}
        self.ledger.set(key, **values)
        listed = self.ledger.listings.lists(key)
        # A move that was known and still leads nowhere is no other change.
        taught = Verdict.UNCHANGED if moved_again else verdict
        reschedule(record, taught, now, self.schedule, since=since, listed=listed)
        self.count_page(key, str(verdict) if count_as is None else count_as)
        return record

    def prove(self, key: str, proof: Proof, at: float) -> None:
        """Keep in a page's record what shows that it is to leave, or is kept by policy only."""
        record = self.ledger.pages[key]
        self.ledger.set(key, proofs=noted(record, proof, at, self.report.run_id))

    def count_page(self, key: str, name: str) -> None:
        """Count a page under a verdict ("" for none), and no more under the one before."""
        if before := self.counted.pop(key, ""):
            self.count(before, -1)
        if name:
            self.counted[key] = name
            self.count(name)

    def count(self, name: str, by: int = 1) -> None:
        """Add to a counter of the report."""
        setattr(self.report, name, getattr(self.report, name) + by)

    def stage(self, entry: Staged) -> None:
        """Keep a change until it is published."""
        began, apart = self.report.started_at, self.schedule.confirm
        self.ledger.stage(entry, self.report.run_id, began, apart)

    def adopt(self, result: PublishResult) -> None:
        """Take what was published into the ledger and the report."""
        self.ledger.adopt(result.pages, result.generation)
        self.report.generation = result.generation
        self.report.chunks_pending = result.missing
        self.report.embed_problem = result.problem
        self.report.chunks_reused += result.reused
        self.report.chunks_removed += result.removed

    def finish(self, reason: str) -> None:
        """Complete the report before the last commit."""
        self.report.finish_reason = reason
        if reason != "finished":
            self.report.incomplete(f"{ENDED_EARLY} ({reason})")
        listed = self.ledger.listings.listed() & self.ledger.pages.keys()
        self.report.discovered = len(listed)
        self.report.not_due = sum(not self.is_due(key) for key in listed - self.handled)
        # A run that was cut off could not know.
        for problem in (nothing_found(self), nothing_checked(self)) if reason == "finished" else ():
            if problem:
                self.report.incomplete(problem)
        self.report.chunks_embedded = self.publisher.embedding.made
        self.report.pending_embed = sum(waits_for_vectors(e) for e in self.ledger.staged.values())
        if self.report.embed_problem:
            self.report.incomplete(f"embedding stopped: {self.report.embed_problem}")
        add_up(self)
        self.report.complete = not self.report.incomplete_reasons
        self.report.torch_imported = "torch" in sys.modules
        self.report.finished_at = self.now

    def ends_for(self, error: BaseException | None) -> bool:
        """Tell whether an error is this machine's, not a page's: it ends the run as failed."""
        fatal = fatal_of(error)
        if fatal is not None:
            self.on_fatal(fatal)
        return fatal is not None

    def commit(self) -> None:
        """Make progress durable; a dry run keeps nothing."""
        if not self.dry_run:
            self.alerts.announce(self.ledger.generation, self.report)
            self.ledger.commit(self.report, self.site)
