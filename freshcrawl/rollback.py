"""Going back: an earlier generation is published again, and stays until it is released."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from freshcrawl.core.published import Edit
from freshcrawl.core.report import iso
from freshcrawl.core.rollback import Rollback, differing, release_command
from freshcrawl.generations import made_as
from freshcrawl.ledger import Ledger
from freshcrawl.publishing import Publisher
from freshcrawl.rolled_back import differing_pages, rows_of
from freshcrawl.seams import Seam, reached
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder, Snapshot


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What a rollback did."""

    site: str
    generation: int
    """The new generation, which equals ``of``."""
    of: int
    before: int
    pages: int
    chunks: int
    differing: int
    """Pages that are published otherwise than before, and so are due."""


def generations(state: SiteState) -> dict[str, Any]:
    """Return the kept generations of a site, newest first, and what it is pinned to."""
    with closing(state.corpus.snapshot()) as current:
        rollback, number = current.rollback(), current.generation
        kept = {generation: current.info(generation) for generation in current.generations()}
    rows = []
    for generation, info in reversed(kept.items()):
        of = rollback.of if rollback and rollback.generation == generation else None
        rows.append(
            {
                "generation": generation,
                "published_at": iso(info["published_at"]),
                "run_id": info["run_id"],
                "pages": info["pages"],
                "chunks": info["chunks"],
                "current": generation == number,
                "rolled_back_to": of,
            }
        )
    pinned = rollback is not None and rollback.pinned
    return {
        "site": state.name,
        "generation": number,
        "pinned": rollback.of if rollback is not None and pinned else None,
        "release": release_command(state.name) if pinned else "",
        "generations": rows,
    }


def roll_back(
    state: SiteState,
    config: Config,
    embedder: Callable[[], Embedder],
    generation: int,
    now: float,
) -> RolledBack:
    """Publish the pages and chunks of ``generation`` again, and pin them. Blocking.

    Nothing is embedded. If the same rollback was cut off after its switch, it is completed.

    Raises:
        StoreError: it cannot be gone back to; the message says why.
    """
    ledger, publisher = Ledger(state, now), Publisher(state, config, embedder)
    done = ledger.rollback
    if not (
        done and done.pinned and done.of == generation and done.generation == ledger.generation
    ):
        done = _publish(state, publisher, ledger, embedder(), generation=generation, now=now)
        reached(Seam.SWITCHED)
        ledger = Ledger(state, now)
    ledger.commit_records()
    reached(Seam.RECORDS_COMMITTED)
    publisher.tidy(now)
    with closing(state.corpus.snapshot()) as current:
        info = current.info()
    numbers = (done.generation, done.of, done.before)
    changed = differing_pages(state)
    return RolledBack(state.name, *numbers, info["pages"], info["chunks"], changed)


def release(state: SiteState, now: float) -> int:
    """Let runs publish again; return how many pages are due because of it.

    These are the pages with staged work and those that differ from what was published before:
    the next run asks for them first, and publishes what it finds, or what was found before.

    Raises:
        StoreError: the site is not rolled back.
    """
    ledger = Ledger(state, now)
    rollback = ledger.rollback
    if rollback is None or not rollback.pinned:
        raise StoreError(f"{state.name} is not rolled back: there is nothing to release")
    keys = {k for k, page in ledger.published.items() if page.from_gen == rollback.generation}
    if before := rows_of(state.corpus, rollback.origin):
        keys |= differing(before, ledger.published)
    keys = (keys | ledger.staged.keys()) & ledger.pages.keys()
    for key in keys:
        ledger.make_due(key)
    # Due before they are let go: a kill in between leaves the rollback, with pages due.
    ledger.commit_records()
    reached(Seam.RECORDS_COMMITTED)
    state.corpus.release(now)
    return len(keys)


def _publish(
    state: SiteState,
    publisher: Publisher,
    ledger: Ledger,
    embedder: Embedder,
    *,
    generation: int,
    now: float,
) -> Rollback:
    current = ledger.generation
    if not current:
        raise StoreError(f"{state.name} has published nothing yet")
    if generation == current:
        raise StoreError(f"generation {generation} of {state.name} is the current one")
    last = ledger.rollback
    in_a_row = last is not None and (last.pinned or last.generation == current)
    origin = last.origin if last is not None and in_a_row else current
    with closing(state.corpus.snapshot(generation)) as old:
        info = old.info()
        if info["model"] != embedder.model:
            raise StoreError(
                f"generation {generation} was made with the model {info['model']}, not with "
                f"{embedder.model}: to go back to it, set FRESHCRAWL_EMBED_MODEL to that model"
            )
        _refuse_damaged(old, info)
        edits = _edits(state, old, ledger)
        made = made_as(state, old.generation)
        rows = {page.key for page in old.pages()}
    rollback = Rollback(current + 1, generation, current, origin, now)
    state.corpus.publish(
        edits,
        run_id=f"rollback-to-{generation}",
        model=info["model"],
        dimension=info["dimension"],
        published_at=now,
        build=lambda snapshot: publisher.write_index(snapshot, embedder, made),
        withdrawn=ledger.published.keys() - rows,
        rollback=rollback,
    )
    return rollback


def _edits(state: SiteState, old: Snapshot, ledger: Ledger) -> list[Edit]:
    """Return what makes the pages that are published now as they were."""
    rows = {page.key: page for page in old.pages()}
    changed = differing(rows, ledger.published) & rows.keys()
    edits = {key: Edit(rows[key]) for key in changed}
    with closing(state.corpus.snapshot()) as current:
        for key, found in groupby(old.chunks(), key=attrgetter("key")):
            chunks = list(found)
            if key in edits or chunks != list(current.chunks(key)):
                edits[key] = Edit(rows[key], chunks)
    return list(edits.values())


def _refuse_damaged(old: Snapshot, info: dict[str, Any]) -> None:
    """Check that a generation is whole.

    Raises:
        StoreError: something of it is missing.
    """
    pages = sum(page.status == "live" for page in old.pages())
    chunks, vectors = sum(1 for _ in old.chunks()), sum(1 for _ in old.vectors())
    found = (pages, chunks, vectors)
    if found != (info["pages"], info["chunks"], info["chunks"]):
        raise StoreError(
            f"generation {old.generation} is damaged: {pages} of {info['pages']} pages, {chunks} "
            f"of {info['chunks']} passages and {vectors} vectors are there; choose another one"
        )
