"""The index files of generations: written from rows, described by a manifest, dropped in time."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from freshcrawl.core.chunks import CHUNKER_VERSION
from freshcrawl.extract import EXTRACTOR_VERSION
from freshcrawl.policies import retention_policy
from freshcrawl.seams import Seam, reached
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Matrix, Snapshot

MADE_TODAY = {"extractor": EXTRACTOR_VERSION, "chunker": CHUNKER_VERSION}
"""What a manifest says of how its generation was read and cut."""
PROMPTS = "prompts"
"""What it says of what the embedder puts before texts and questions."""


def write_index(
    state: SiteState, snapshot: Snapshot, embedding: tuple[str, int], made: Mapping[str, Any]
) -> None:
    """Write the index file of a generation; ``embedding`` is its model and its dimension.

    Raises:
        StoreError: the site's folder was replaced, or the file cannot be written.
    """
    reached(Seam.ROWS_WRITTEN)
    state.check_own()  # the index is written by its name
    ids, matrix = gather_vectors(snapshot)
    manifest = {
        "generation": snapshot.generation,
        "run_id": snapshot.info()["run_id"],
        "model": embedding[0],
        "dimension": embedding[1],
        **made,
    }
    state.index.write(snapshot.generation, ids, matrix, manifest)


def made_as(state: SiteState, generation: int) -> dict[str, Any]:
    """Return what the manifest of a generation, if it is there, says of how that was made."""
    try:
        known = state.index.manifest(generation)
    except (OSError, StoreError):
        known = {}
    return {name: known[name] for name in (*MADE_TODAY, PROMPTS) if name in known}


def drop_old(state: SiteState, config: Config, now: float) -> int:
    """Drop what is past its retention: generations, versions of pages, vectors, index files.

    And what crashes left of the latter. Returns how many index files and manifests were dropped.

    Raises:
        StoreError: a store failed, or the site's folder was replaced.
        OSError: a file cannot be removed.
    """
    kept = state.corpus.retain(retention_policy(config, now))
    reached(Seam.ROWS_DROPPED)
    state.check_own()  # from here on files are opened and dropped by their names
    with closing(state.corpus.snapshot()) as current:
        # An older file has vectors of what was purged since; nobody needs it.
        oldest = current.forgotten().generation
    dropped = state.index.retain([number for number in kept if number >= oldest])
    reached(Seam.TIDIED)
    return dropped


def gather_vectors(snapshot: Snapshot) -> tuple[list[int], Matrix]:
    """Return the chunk ids of a generation, ascending, and their vectors, one row each."""
    import numpy as np

    pairs = list(snapshot.vectors())
    if not pairs:
        return [], np.empty((0, snapshot.info().get("dimension") or 0), dtype=np.float32)
    return [chunk_id for chunk_id, _ in pairs], np.vstack([vector for _, vector in pairs])
