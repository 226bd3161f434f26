"""Index files and manifests against the rows that they were made of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.core.words import count
from freshcrawl.state import INDEX
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.faiss_audit import FaissAudit
from freshcrawl.stores.faiss_index import FaissIndexStore
from freshcrawl.verify.findings import Finding, Kind
from freshcrawl.verify.vectors import read_vector

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.stores.base import Matrix
    from freshcrawl.stores.corpus_audit import GenerationRow
    from freshcrawl.verify.view import View

NAME = re.compile(r"(\d+)\.(?:faiss|json)(\.tmp)?")
SAYS = re.compile(r"the file is damaged, it (.*?)(?:;|$)")


@dataclass(slots=True)
class Comparison:
    """An index file beside the rows of its generation."""

    problem: str = ""
    """What is wrong with the file, ``""`` for nothing."""
    vectors: dict[str, Matrix] = field(default_factory=dict)
    """Its vectors by embed digest, of those passages whose row has another, or none."""
    differ: set[str] = field(default_factory=set)
    """Embed digests whose row has a usable vector, and another one."""
    sealed: bool = False
    """Whether the manifest's sha256 is that of the file."""


def check_index(view: View) -> Iterator[Finding]:
    """Compare the files of all kept generations, and look for files of others."""
    for generation in view.generations:
        number, is_current = generation.number, generation == view.current
        where = f"index/{number}.faiss"
        purged = number < view.forgotten.generation
        if not is_current and (purged or not any(_files(view.folder, number))):
            continue  # as if deleted by hand: an older generation needs none
        found = compare(view, generation)
        if not (found.problem or found.differ) or number not in view.corpus.kept_now():
            continue
        if not is_current:
            what = found.problem or f"{count(len(found.differ), 'vector')} differ from the rows"
            yield Finding(Kind.OLD_GENERATION, f"generation {number}", what)
        elif found.problem:
            yield Finding(Kind.INDEX, where, found.problem)
        else:
            what = f"{count(len(found.differ), 'vector')} differ from those in corpus.sqlite"
            yield Finding(Kind.VECTORS_DIFFER, where, what)
    yield from _check_unknown(view)


def compare(view: View, generation: GenerationRow) -> Comparison:
    """Compare the index file of a generation with its rows."""
    found = Comparison()
    store, number = FaissIndexStore(view.folder / INDEX), generation.number
    try:
        manifest = store.manifest(number)
        told = (manifest.get("generation"), manifest.get("model"), manifest.get("dimension"))
        if told != (number, generation.model, generation.dimension):
            found.problem = "its manifest is that of another generation or model"
        elif manifest.get("run_id", generation.run_id) != generation.run_id:
            found.problem = "its manifest is that of another run"  # no reader takes it
        store.open(number)
        found.sealed = True
    except FileNotFoundError as error:
        lacks = "manifest" if str(error.filename).endswith(".json") else "file"
        found.problem = f"the {lacks} is missing"
    except StoreError as error:
        told_by = SAYS.search(str(error))
        found.problem = f"it {told_by[1]}" if told_by else str(error)
    try:
        _compare_vectors(view, generation, found)
    except FileNotFoundError:
        found.problem = "the file is missing"
    except StoreError as error:
        found.problem = found.problem or f"it {error}"
    return found


def _compare_vectors(view: View, generation: GenerationRow, found: Comparison) -> None:
    import numpy as np

    audit = FaissAudit(view.folder / INDEX / f"{generation.number}.faiss")
    if audit.dimension != generation.dimension:
        found.problem = f"its vectors have {audit.dimension} dimensions, not {generation.dimension}"
        return
    places = {number: place for place, number in enumerate(audit.ids)}
    wanted = 0
    for number, _, digest, data in view.corpus.vectors_at(generation.number, generation.model):
        wanted += 1
        place = places.pop(number, None)
        if place is None:
            found.problem = found.problem or "it lacks passages that the rows have"
            continue
        vector, row = audit.vector(place), read_vector(data, generation.dimension)
        if row is None or not np.array_equal(row, vector):
            found.vectors[digest] = vector
            if row is not None:
                found.differ.add(digest)
    if places:
        found.problem = found.problem or f"it has {count(len(places), 'vector')} of no passage"
    elif len(audit.ids) != wanted and not found.problem:
        found.problem = f"it has {len(audit.ids)} vectors for {count(wanted, 'passage')}"


def _check_unknown(view: View) -> Iterator[Finding]:
    """Look for files of generations that are not kept."""
    paths = sorted((view.folder / INDEX).glob("*"))
    kept = view.corpus.kept_now()  # read after the names: a publish may be under way
    newest = max(kept, default=0)
    for path in paths:
        name = NAME.fullmatch(path.name)
        if name is None:
            continue
        number, draft = int(name[1]), name[2]
        purged = number < view.forgotten.generation
        if draft or purged or number not in kept:
            ahead = number > newest + 1
            what = (
                f"of a generation that was never published; the newest is {newest}"
                if ahead
                else "left by a publish or a forget that was cut off, or is under way"
            )
            yield Finding(Kind.INDEX_UNKNOWN, f"index/{path.name}", what, damage=ahead)


def _files(folder: Path, number: int) -> list[Path]:
    return [*(folder / INDEX).glob(f"{number}.faiss"), *(folder / INDEX).glob(f"{number}.json")]
