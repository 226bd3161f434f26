"""Texts that wait for their vectors: what each is worth, and how many may be embedded now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from freshcrawl.core.embedding_plan import Waiting, allowance
from freshcrawl.core.pages import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.config import Config
    from freshcrawl.core.published import Staged
    from freshcrawl.ledger import Ledger

Worth = Callable[["Staged", tuple[str, ...]], Waiting]
"""Tells what a page's work is worth, of which texts are missing (``core.embedding_plan``)."""


def waits_for_vectors(entry: Staged) -> bool:
    """Tell staged work that guards have let go and that waits for its vectors only."""
    return entry.released and entry.status == Status.LIVE


def waiting_since(staged: Iterable[Staged]) -> float:
    """Return when the first of the texts was found that wait for their vectors; 0 for none."""
    return min((e.waits_since or e.staged_at for e in staged if waits_for_vectors(e)), default=0.0)


def worth_in(ledger: Ledger) -> Worth:
    """Return what tells the worth of a site's pages, as of now: any thread may call it later."""
    lists = ledger.listings.times_listed()
    live = set(ledger.live_keys())

    def worth(entry: Staged, missing: tuple[str, ...]) -> Waiting:
        return Waiting(
            entry.key,
            missing,
            is_live=entry.key in live,
            since=entry.waits_since or entry.staged_at,
            lists=lists[entry.key],
            depth=entry.key.rstrip("/").count("/"),
        )

    return worth


def left_to_embed(config: Config, spent_today: int, spent_in_run: int) -> int | None:
    """Return how many passages may still be embedded, None: any number."""
    return allowance(
        spent_today, spent_in_run, a_run=config.embed_run_chunks, a_day=config.embed_day_chunks
    )
