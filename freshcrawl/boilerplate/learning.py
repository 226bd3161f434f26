"""What a site's boilerplate is learned from: the newest text of its pages, as it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core import boilerplate
from freshcrawl.core.boilerplate import BODY, Boilerplate
from freshcrawl.core.pages import Status
from freshcrawl.staging import unpack_blocks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from freshcrawl.core.blocks import Block
    from freshcrawl.core.boilerplate import PagePrints
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

SAMPLES = 20
"""Blocks, and pages that are looked at for them, of which the beginning is kept for reading."""


def staged_pages(run: Run) -> Iterator[Staged]:
    """Yield staged text of pages on which no main element was found."""
    for entry in list(run.ledger.staged.values()):
        if entry.status == Status.LIVE and entry.generator == BODY:
            yield entry


def published_pages(run: Run) -> Iterator[str]:
    """Yield the published pages of that kind for which no newer text is staged."""
    ledger = run.ledger
    for key in ledger.live_keys():
        entry = ledger.staged.get(key)
        if ledger.pages[key].generator == BODY and (entry is None or entry.status != Status.LIVE):
            yield key


def newest_versions(run: Run, gone: Collection[str]) -> dict[str, str]:
    """Return the versions of the pages to learn from, by key."""
    published = run.ledger.published
    versions = {key: published[key].version for key in published_pages(run) if key not in gone}
    versions |= {entry.key: entry.digest + entry.links_digest for entry in staged_pages(run)}
    return {key: versions[key] for key in boilerplate.sample_of(versions)}


def learn(run: Run, gone: Collection[str]) -> Boilerplate:
    """Return what the newest versions have in common; ``basis`` is left to the caller."""
    keys = list(newest_versions(run, gone))
    found = boilerplate.learn(prints for key in keys if (prints := _prints(run, key)))
    return Boilerplate(found, pages=len(keys), samples=_samples(run, keys, found))


def _prints(run: Run, key: str) -> PagePrints | None:
    blocks = _blocks(run, key)
    ledger = run.ledger
    page = ledger.staged[key] if _is_staged(run, key) else ledger.published[key]
    return boilerplate.page_prints(page.title, blocks) if blocks else None


def _is_staged(run: Run, key: str) -> bool:
    entry = run.ledger.staged.get(key)
    return entry is not None and entry.status == Status.LIVE


def _blocks(run: Run, key: str) -> list[Block]:
    """Return all blocks of the newest version of a page; none if they are not kept."""
    if _is_staged(run, key):
        [entry] = run.ledger.whole([run.ledger.staged[key]])
        return unpack_blocks(entry.blocks)
    content = run.ledger.published_content(key)
    return content.all_blocks() if content and content.generator == BODY else []


def _samples(run: Run, keys: Sequence[str], found: Sequence[str]) -> list[str]:
    """Return the beginnings of some of the blocks that were found."""
    texts: dict[str, str] = {}
    for key in keys[:SAMPLES]:
        for block in _blocks(run, key):
            texts.setdefault(boilerplate.fingerprint(block), " ".join(block.plain.split())[:80])
    return sorted(texts[print_] for print_ in found if print_ in texts)[:SAMPLES]
