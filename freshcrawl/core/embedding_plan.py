"""What to embed first, and how much of it a run may embed. Pure; times are epoch seconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from freshcrawl.core.pages import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from freshcrawl.core.published import Staged

PATIENCE_SECS = 7 * 86_400.0
"""A page that has waited for so long goes before all that wait for less."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A page whose text waits for vectors, and what it is worth to have it in the answers."""

    key: str
    missing: tuple[str, ...]
    """Embed digests of its passages without vectors, in the page's order, each once."""
    is_live: bool
    """Whether its old text answers meanwhile: that is wrong, where a new page is only missing."""
    since: float
    """When its published text was first found to be out of date, or the page was found."""
    lists: int = 0
    """Sources (sitemaps, pages with links) that list it."""
    depth: int = 0
    """Folders in its URL."""


def rank(pages: Iterable[Waiting], now: float) -> list[Waiting]:
    """Return the pages in the order in which they are to be embedded, the most valuable first.

    Pages that need nothing, then those that have waited for ``PATIENCE_SECS``, the oldest first;
    then pages whose old text answers, before pages that are new; of these the ones that most
    sources list, that are nearest to the root, and that wait for longest.
    """

    def place(page: Waiting) -> tuple[float | bool | str, ...]:
        waits_long = now - page.since >= PATIENCE_SECS
        return (
            bool(page.missing),
            not waits_long,
            page.since if waits_long else 0.0,
            not page.is_live,
            -page.lists,
            page.depth,
            page.since,
            page.key,
        )

    return sorted(pages, key=place)


def portions(
    ranked: Sequence[Waiting], allowance: int | None, size: int
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield ``(keys, digests)``: pages in order, and what is to be embedded for them.

    A portion has about ``size`` digests, or those of one longer page. What several pages have
    in common is embedded with the first of them. After ``allowance`` digests (None: no limit)
    the rest of a page is left to a later run; pages that are whole by then still come.
    """
    left = allowance
    known: set[str] = set()
    keys: list[str] = []
    digests: list[str] = []
    for page in ranked:
        todo = [digest for digest in page.missing if digest not in known]
        if left is not None:
            todo = todo[:left]
            left -= len(todo)
        if digests and len(digests) + len(todo) > size:
            yield keys, digests
            keys, digests = [], []
        known.update(todo)
        digests += todo
        keys.append(page.key)
    if keys:
        yield keys, digests


def without_movers(keys: Iterable[str], staged: Mapping[str, Staged], live: set[str]) -> set[str]:
    """Return those of ``keys`` that may be published together.

    Not a page that moved to one which is neither ``live`` nor among them: its text would be in
    the answers no more, and not yet again.
    """
    chosen = set(keys)
    moved = {key for key in chosen if staged[key].status == Status.ALIAS and staged[key].alias_of}
    while early := {key for key in moved if not _arrives(key, staged, chosen, live)}:
        chosen -= early
        moved -= early
    return chosen


def _arrives(key: str, staged: Mapping[str, Staged], chosen: set[str], live: set[str]) -> bool:
    """Tell whether a move ends at a page that answers, or nowhere that anybody waits for."""
    passed: set[str] = set()
    while key in staged and staged[key].status == Status.ALIAS and key not in passed:
        passed.add(key)
        key = staged[key].alias_of
    waits = key in staged and staged[key].status == Status.LIVE and key not in chosen
    return key in live or not waits


def day_of(now: float) -> str:
    """Return the ISO date (UTC) of a moment."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()


def allowance(spent_today: int, spent_in_run: int, *, a_run: int, a_day: int) -> int | None:
    """Return how many more passages may be embedded, None for any number; 0 for a limit is none."""
    rest = [
        limit - spent for limit, spent in ((a_run, spent_in_run), (a_day, spent_today)) if limit
    ]
    return max(min(rest), 0) if rest else None
