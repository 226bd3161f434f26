"""Published rows: generations, counts, and the chunks of each page against its content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.words import count
from freshcrawl.stores.corpus_tables import chunk_row
from freshcrawl.verify.contents import check_content, check_unused_content
from freshcrawl.verify.findings import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.stores.base import Embedder
    from freshcrawl.verify.contents import Kept
    from freshcrawl.verify.view import View


def check_rows(view: View, embedder: Embedder) -> Iterator[Finding]:
    """Compare rows with each other, and with the content that they were cut from."""
    current = view.current
    newest = view.corpus.newest_row()
    number = current.number if current else 0
    if newest > number:
        what = f"rows of generation {newest} are there, but the newest generation is {number}"
        yield Finding(Kind.GENERATION_BEHIND, f"generation {newest}", what)
    for key, chunks in view.corpus.strays():
        what = f"{count(chunks, 'passage')} of a page that is not in the answers"
        yield Finding(Kind.CHUNKS_STRAY, key, what)
    for page in view.live():
        kept, findings = check_content(view, page)
        yield from findings
        if kept is not None:
            view.made_by[page.key] = kept.content.made_by
        if kept is not None and can_be_cut(view, kept, embedder):
            yield from _check_chunks(view, kept, embedder)
        else:
            view.unchecked.append(page.key)
    yield from check_unused_content(view)
    if current:
        yield from _check_counts(view, current.pages, current.chunks)
    if view.unchecked:
        what = (
            f"the passages of {count(len(view.unchecked), 'page')} could only be counted: kept "
            "content is gone, or was made by another version, model or chunk size"
        )
        yield Finding(Kind.NOT_CHECKED, f"generation {number}", what, damage=False)


def can_be_cut(view: View, kept: Kept, embedder: Embedder) -> bool:
    """Tell whether cutting a page's content must give its chunks."""
    model = view.current.model if view.current else ""
    return kept.is_cut_for(view.chunk_tokens) and model == embedder.model


def _check_chunks(view: View, kept: Kept, embedder: Embedder) -> Iterator[Finding]:
    wanted = {chunk.id: chunk_row(chunk) for chunk in kept.chunks(embedder)}
    found = view.corpus.chunk_rows(kept.page.key)
    missing = len(wanted.keys() - found.keys())
    extra = len(found.keys() - wanted.keys())
    altered = sum(found[number] != wanted[number] for number in found.keys() & wanted.keys())
    told = [
        f"{number} {word}"
        for number, word in ((missing, "missing"), (extra, "not of it"), (altered, "altered"))
        if number
    ]
    if told:
        what = f"of the {count(len(wanted), 'passage')} of its text: {', '.join(told)}"
        yield Finding(Kind.CHUNKS, kept.page.key, what)


def _check_counts(view: View, pages: int, chunks: int) -> Iterator[Finding]:
    found = view.corpus.counts()
    if found != (pages, chunks) and view.current:
        what = (
            f"{count(found[0], 'page')} and {count(found[1], 'passage')} are there, "
            f"it was published with {pages} and {chunks}"
        )
        yield Finding(Kind.COUNTS, f"generation {view.current.number}", what)
