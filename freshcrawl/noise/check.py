"""A fetched body against the published one and the memory of noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core import volatile
from freshcrawl.core.changes import digests
from freshcrawl.core.noise import Check, Judgement, judge
from freshcrawl.core.noise_places import find_spots, skeletons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.core.blocks import Block
    from freshcrawl.core.noise_places import Spot
    from freshcrawl.core.published import Published, Staged
    from freshcrawl.items import PageItem
    from freshcrawl.run import Run


def check_noise(
    run: Run, item: PageItem, blocks: Sequence[Block], published: Published, before: Sequence[Block]
) -> Judgement:
    """Return whether a live page differs from what is published in proven noise only.

    ``blocks`` are those of the fetched body, ``before`` those that are
    published. Any thread may call; nothing is kept by it.
    """
    patterns = run.site.volatile_patterns
    if patterns:
        blocks = volatile.for_comparison(blocks, patterns)
        before = volatile.for_comparison(before, patterns)
    spots = _spots(item, blocks, published, before)
    times = (item.fetched_at, published.changed_at)
    observe = run.ledger.pages[item.key].recipe == run.recipe
    return _judged(run, item.key, times, spots, blocks, observe=observe)


def differs_in_noise(
    run: Run, entry: Staged, before: Sequence[Block], blocks: Sequence[Block]
) -> bool:
    """Tell whether ``blocks`` of a live page's staged text are ``before`` but for proven noise.

    As ``check_noise``, for text that is parted anew from the site's boilerplate.
    """
    patterns = run.site.volatile_patterns
    blocks = volatile.for_comparison(blocks, patterns)
    spots = find_spots(volatile.for_comparison(before, patterns), blocks)
    if not spots:
        return False
    times = (entry.staged_at, run.ledger.published[entry.key].changed_at)
    return _judged(run, entry.key, times, spots, blocks, observe=False).noise


def _judged(
    run: Run,
    key: str,
    times: tuple[float, float],
    spots: list[Spot] | None,
    blocks: Sequence[Block],
    *,
    observe: bool,
) -> Judgement:
    """Judge where a page differs; ``times``: when it was fetched, and when the published text."""
    memory = run.ledger.noise
    known = memory.page(key)
    present = frozenset(skeletons(blocks) if known else ())
    return judge(Check(*times, spots, present, observe=observe), known, memory.site, run.noise)


def _spots(
    item: PageItem, blocks: Sequence[Block], published: Published, before: Sequence[Block]
) -> list[Spot] | None:
    """Return where the body differs; None if URL, canonical page or title do, or any content."""
    # With the published blocks in place of the fetched ones, it would be the published version.
    place = (item.title, item.cited_url, item.canonical)
    left_out = item.document.left_out.values() if item.document else ()
    version = "".join(digests(place, before, left_out))
    return find_spots(before, blocks) if version == published.version else None
