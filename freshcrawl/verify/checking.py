"""One look at all of a site's state, which writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.embedding_config import DEFAULT_CHUNK_TOKENS
from freshcrawl.state import CORPUS, INDEX, RECORDS
from freshcrawl.stores.records_audit import database_damage
from freshcrawl.verify.findings import Finding, Kind
from freshcrawl.verify.index import check_index
from freshcrawl.verify.records import check_records
from freshcrawl.verify.rows import check_rows
from freshcrawl.verify.vectors import check_vectors
from freshcrawl.verify.view import open_view

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder
    from freshcrawl.verify.view import View


def verify(
    state: SiteState, embedder: Embedder, chunk_tokens: int = DEFAULT_CHUNK_TOKENS
) -> list[Finding]:
    """Compare a site's records, published pages, passages, vectors, content and files.

    Needs no lock, and of ``embedder`` only the tokenizer; ``chunk_tokens`` is the setting's.
    Findings that are no ``damage`` are what a run that was cut off, or is under way, has left
    for the next. In memory there is nothing to compare.

    Raises:
        StoreError: a file cannot be read, for other reasons than damage.
    """
    return verify_folder(state.folder, embedder, chunk_tokens) if state.folder else []


def verify_folder(
    folder: Path, embedder: Embedder, chunk_tokens: int = DEFAULT_CHUNK_TOKENS
) -> list[Finding]:
    """Do what ``verify`` does, also where a database is too damaged to be opened."""
    damaged = check_databases(folder)
    if damaged:
        return damaged
    with open_view(folder, chunk_tokens) as view:
        return examine(view, embedder)


def examine(view: View, embedder: Embedder) -> list[Finding]:
    """Return all that is not as it should be, in the order in which it was looked at."""
    return [
        # Files first: a run that publishes meanwhile drops those of older generations.
        *check_index(view),
        *check_vectors(view),
        *check_rows(view, embedder),
        *check_records(view),
    ]


def check_databases(folder: Path) -> list[Finding]:
    """Have SQLite look for damage in its files.

    Raises:
        StoreError: a file cannot be read.
    """
    findings = []
    published = any((folder / INDEX).glob("*.json"))
    for name in (RECORDS, CORPUS):
        path = folder / name
        if not path.exists():
            continue
        emptied = published and path.stat().st_size == 0
        what = "it is empty" if emptied else database_damage(path)
        if what:
            findings.append(Finding(Kind.DATABASE, name, what))
    return findings
