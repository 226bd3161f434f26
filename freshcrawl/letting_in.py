"""Pages that were forgotten, let in again at a person's word."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from freshcrawl.core.forgetting import Forgotten, is_url
from freshcrawl.core.pages import Status
from freshcrawl.explanation import key_in
from freshcrawl.forgetting import Forgetting, compiled_pattern
from freshcrawl.forgotten import KEPT, MARKS, marks_of
from freshcrawl.ledger import Ledger
from freshcrawl.seams import Seam, reached
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.corpus_forgetting import CorpusForgetting

if TYPE_CHECKING:
    from freshcrawl.state import SiteState


def let_in(state: SiteState, target: str, now: float, *, dry_run: bool) -> Forgetting:
    """Let pages in again: the next crawl that finds them fetches them as new.

    Raises:
        ConfigError: it is neither a URL nor a pattern.
        StoreError: it was not forgotten, or only by a pattern.
    """
    marks, done = marks_of(state), Forgetting(state.name, target, dry_run=dry_run)
    keys, patterns = _marked(state, target, marks)
    done.before = sorted(keys)
    with closing(state.corpus.snapshot()) as snapshot:
        done.generation = snapshot.generation
    if dry_run:
        return done
    if not isinstance(state.corpus, SqliteCorpus):
        raise StoreError(f"{state.name}: nothing is forgotten of what is not on disk")
    ledger = Ledger(state, now)
    for key in done.before:
        ledger.let_in(key)
    left = marks.without(keys, patterns)
    state.records.put(MARKS, left.to_json())
    if not left:
        ledger.listings.drop(KEPT)  # they list it again themselves
    # Before the marks of the corpus: a kill in between leaves the page forgotten.
    ledger.commit_records()
    reached(Seam.RECORDS_COMMITTED)
    CorpusForgetting(state.corpus).let_in(keys, patterns)
    return done


def _marked(state: SiteState, target: str, marks: Forgotten) -> tuple[set[str], set[str]]:
    """Return the keys and patterns whose marks are to go."""
    if not is_url(target):
        compiled_pattern(target)
        if target not in marks.patterns:
            known = ", ".join(repr(name) for name in marks.patterns) or "none"
            raise StoreError(f"{state.name}: nothing was forgotten by {target!r}; by: {known}")
        keys = {key for key, mark in marks.keys.items() if mark.pattern == target}
        # Pages that were found since have no mark of their own; one of another pattern gets
        # its record again when it is found again.
        later = (k for k, r in state.pages().items() if r.status == Status.FORGOTTEN)
        return keys.union(key for key in later if key not in marks.keys), {target}
    key = key_in(state, target) or ""
    mark = marks.of(key, target)
    if mark is None:
        raise StoreError(f"{state.name}: {target} is not forgotten")
    if mark.pattern in marks.patterns:
        raise StoreError(
            f"{state.name}: {target} was forgotten by the pattern {mark.pattern!r}: undo that"
        )
    return {key}, set()
