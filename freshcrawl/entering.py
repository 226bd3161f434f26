"""Texts of pages that are to enter the answers: what stands in front of pages is none."""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING

from freshcrawl.core.pages import Status
from freshcrawl.core.simhash import OTHER_BITS, hamming
from freshcrawl.core.trust import essence_digest

if TYPE_CHECKING:
    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

NEIGHBOURS = 10
"""Pages on each side, by address, whose texts are compared."""


def said(entry: Staged) -> str:
    """Return what identifies a staged text, whatever page it is of."""
    return entry.essence or entry.digest


def groups(run: Run) -> dict[str, list[Staged]]:
    """Return the staged texts of pages that are not in the answers, by what they say.

    Empty for a site that had no answers before this run: its pages know no other text. What a
    rollback took away and comes back was in the answers, and is not among them.
    """
    found: dict[str, list[Staged]] = {}
    for entry in run.ledger.staged.values() if run.was_live else ():
        out = entry.status == Status.LIVE and not run.ledger.is_live(entry.key)
        if out and not run.ledger.brings_back(entry):
            found.setdefault(said(entry), []).append(entry)
    return found


def is_strange(run: Run, entries: list[Staged]) -> bool:
    """Tell whether one of ``groups`` is of several pages, and their text like none in the answers.

    Pages of some sites differ in numbers and names only; a wall is like none of them.
    """
    return len(entries) > 1 and not _is_like_others(run, entries[0])


def _is_like_others(run: Run, entry: Staged) -> bool:
    """Tell whether a text is much that of a page in the answers, or just that of a neighbour."""
    pages = sorted(run.ledger.live_keys())
    published = run.ledger.published
    if any(hamming(published[key].simhash, entry.simhash) < OTHER_BITS for key in pages):
        return True
    here = bisect(pages, entry.key)
    near = pages[max(0, here - NEIGHBOURS) : here + NEIGHBOURS]
    return any(_essence(run, key) == said(entry) for key in near)


def _essence(run: Run, key: str) -> str:
    page, blocks = run.ledger.published[key], run.ledger.published_blocks(key)
    text = "\n\n".join(block.plain for block in blocks or ())
    return essence_digest((page.title,), text, page.url)


def began(run: Run, entries: list[Staged]) -> float:
    """Return when the first of some texts was fetched; that of an earlier run is of no moment."""
    if any(entry.run_id != run.report.run_id for entry in entries):
        return run.now + 1.0
    return min(entry.changed_at for entry in entries)


def refused_texts(run: Run) -> dict[str, str]:
    """Return what was refused of pages, this run or since they last answered, and of which.

    Texts are named as ``said`` names them; one that is suddenly short by its digest too.
    """
    found: dict[str, str] = {}
    for record in run.ledger.pages.values():
        if record.failures:
            short = record.doubt if not record.doubt.get("believed") else {}
            texts = (record.refused, short.get("essence", ""), short.get("digest", ""))
            found.update((text, record.key) for text in texts if text)
    return found


def doubtful(run: Run) -> set[str]:
    """Return the pages that are not in the answers and whose text only the run's end can judge."""
    refused = refused_texts(run)
    return {
        entry.key
        for text, entries in groups(run).items()
        for shared in [is_strange(run, entries)]
        for entry in entries
        if shared or text in refused or entry.digest in refused
    }


def ask_again(run: Run) -> None:
    """Make the pages due of which a run that was cut off has left texts that it could not judge."""
    for key in doubtful(run):
        run.ledger.make_due(key)
