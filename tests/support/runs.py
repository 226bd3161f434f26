"""A Run over stores in memory, for tests of what it decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from freshcrawl.config import Config
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.published import Edit, Published, Staged
from freshcrawl.run import Run
from freshcrawl.site_tables import make_site
from freshcrawl.state import SiteState, open_in_memory
from tests.support.embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = "https://docs.example.com/"
MODEL = "tests.support.embedder.HashEmbedder"


@dataclass
class Clock:
    """A clock that a test moves."""

    time: float = 1_000_000.0

    def __call__(self) -> float:
        """Return the time that the test has set."""
        return self.time


@dataclass
class Bench:
    """One site in memory, over which runs are made one after the other."""

    clock: Clock = field(default_factory=Clock)
    state: SiteState = field(default_factory=lambda: open_in_memory("docs"))
    settings: dict[str, Any] = field(default_factory=dict)
    site: dict[str, Any] = field(default_factory=dict)

    def run(self, *, full: bool = False) -> Run:
        """Start a run."""
        config = Config(embedder_class=MODEL, **self.settings)
        site = make_site({"url": ROOT, **self.site}, "test")
        return Run(site, config, self.state, self.clock, full=full)

    def publish(self, *names: str, status: Status = Status.LIVE) -> None:
        """Publish pages without chunks, as an earlier run would have left them."""
        edits = [Edit(published(name, status, self.clock.time)) for name in names]
        model = HashEmbedder()
        self.state.corpus.publish(
            edits,
            run_id="before",
            model=model.model,
            dimension=model.dimension,
            published_at=self.clock.time,
            build=lambda snapshot: None,
        )
        for name in names:
            record = PageRecord(
                key_of(name), ROOT + name, status, interval=86_400.0,
                last_checked=self.clock.time, next_due=self.clock.time + 86_400.0,
                etag='"1"', validator_url=ROOT + name, validator_digest=digest_of(name),
            )  # fmt: skip
            run = self.run()
            record.recipe, record.made_by = run.recipe, run.made_by
            self.state.records.put(f"page:{record.key}", record.to_json())
        self.state.records.commit()


def key_of(name: str) -> str:
    return f"docs.example.com/{name}"


def digest_of(name: str) -> str:
    return f"digest of {name}"


def published(name: str, status: Status, changed_at: float) -> Published:
    return Published(key_of(name), ROOT + name, status, digest_of(name), changed_at=changed_at)


def removal(name: str, status: Status = Status.GONE, alias_of: str = "") -> Staged:
    return Staged(key_of(name), ROOT + name, status, "gone", 0.0, alias_of=alias_of)


def text(name: str, digest: str = "new", canonical: str = "") -> Staged:
    return Staged(
        key_of(name), ROOT + name, Status.LIVE, "changed", 0.0, digest=digest, canonical=canonical
    )


def stage(run: Run, entries: Iterable[Staged]) -> None:
    for entry in entries:
        run.stage(entry)
