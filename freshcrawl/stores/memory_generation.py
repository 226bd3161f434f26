"""One generation of the corpus in dicts, and the versions of pages across generations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from freshcrawl.core.pages import Status
from freshcrawl.core.versions import Version, past_retention

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from freshcrawl.core.published import Chunk, Edit, Published
    from freshcrawl.core.versions import Retention

Versions = dict[str, list[Version]]
"""Versions of pages by key, newest first."""


@dataclass
class Generation:
    """One published version of a site; never changed once it is in a corpus."""

    number: int = 0
    run_id: str = ""
    model: str = ""
    dimension: int = 0
    published_at: float = 0.0
    pages: dict[str, Published] = field(default_factory=dict)
    chunks: dict[str, list[Chunk]] = field(default_factory=dict)
    """Live chunks by key, in order."""

    def all_chunks(self) -> Iterator[Chunk]:
        """Yield live chunks by (key, ordinal)."""
        for key in sorted(self.chunks):
            yield from self.chunks[key]

    def digests(self) -> set[str]:
        """Return the embed digests of the live chunks."""
        return {chunk.embed_digest for chunk in self.all_chunks()}

    def fill(self, before: Generation, edits: Sequence[Edit], withdrawn: Collection[str]) -> None:
        """Take what stands in ``before``, changed by ``edits``, without the keys ``withdrawn``."""
        self.pages, self.chunks = dict(before.pages), dict(before.chunks)
        for edit in edits:
            self._apply(edit, before)
        for key in withdrawn:
            self.pages.pop(key, None)
            self.chunks.pop(key, None)

    def _apply(self, edit: Edit, before: Generation) -> None:
        """Put one page in; what is equal stays the object of ``before``."""
        key = edit.page.key
        stands = before.pages.get(key)
        page = replace(edit.page, from_gen=stands.from_gen if stands else self.number)
        self.pages[key] = page if page == stands else replace(page, from_gen=self.number)
        self.chunks.pop(key, None)
        if edit.page.status == Status.LIVE and edit.chunks:
            chunks = [
                replace(c, embed_text="", heading_path=list(c.heading_path)) for c in edit.chunks
            ]
            self.chunks[key] = sorted(chunks, key=lambda chunk: chunk.ordinal)


def trusted(generations: Sequence[Generation], after: Generation) -> list[Generation]:
    """Return those generations, of which ``after`` is the next, without a chunk that it closes."""
    closed = [
        chunk
        for chunk in generations[-1].all_chunks()
        if chunk not in after.chunks.get(chunk.key, ())
    ]
    return [of for of in generations if not any(c in of.chunks.get(c.key, ()) for c in closed)]


def note_versions(versions: Versions, before: Generation, after: Generation) -> None:
    """Close the versions that ``after`` does not have any more, and open its new ones."""
    for key in before.pages.keys() | after.pages.keys():
        old, new = before.pages.get(key), after.pages.get(key)
        if old == new:
            continue
        rows = versions.setdefault(key, [])
        if old is not None:
            rows[0] = replace(rows[0], to_gen=after.number, left_at=after.published_at)
        if new is not None:
            rows.insert(0, Version(new, None, after.published_at))


def drop_versions(versions: Versions, oldest_kept: int, retention: Retention) -> None:
    """Drop the versions that are past their retention."""
    for key, rows in list(versions.items()):
        gone = past_retention(rows, oldest_kept, retention)
        versions[key] = [version for version in rows if version not in gone]
        if not versions[key]:
            del versions[key]
