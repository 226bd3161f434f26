"""Seams: the named steps of the commit protocol, at which tests stop, fail or kill a process.

Nothing listens in production, where reaching a seam costs one comparison.
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Seam(StrEnum):
    """Steps in the order in which a run passes them; each names what is done by then.

    A run that publishes nothing passes those from ROWS_DROPPED on.
    """

    STAGED = "staged"
    """What may be published is known and its staged work is committed."""
    ENCODED = "encoded"
    """A batch of texts has vectors, in memory alone."""
    VECTORS_KEPT = "vectors-kept"
    """That batch is durable; once a batch."""
    CONTENT_KEPT = "content-kept"
    """Blocks and bodies are durable, seen by nobody."""
    ROWS_WRITTEN = "rows-written"
    """The transaction has closed old rows and opened new ones; nobody else sees it."""
    INDEX_WRITTEN = "index-written"
    """The index file is on the disk under its draft name."""
    INDEX_CHECKED = "index-checked"
    """It was read back, counted and searched."""
    INDEX_NAMED = "index-named"
    """It has its own name; no manifest yet."""
    MANIFEST_WRITTEN = "manifest-written"
    """The manifest is on the disk under its draft name."""
    MANIFEST_NAMED = "manifest-named"
    """The manifest has its own name, too; the transaction is still open."""
    SWITCHED = "switched"
    """The transaction is committed: readers see the new generation. Records do not know it.

    Edits that turn out to change nothing make no generation, and come here from CONTENT_KEPT.
    """
    RECORDS_COMMITTED = "records-committed"
    """Records and run report agree with the new generation."""
    ROWS_DROPPED = "rows-dropped"
    """Rows, vectors and content past their retention are gone, their index files are not."""
    INDEX_DROPPED = "index-dropped"
    """An index file past its retention is gone, its manifest is not; once a file."""
    TIDIED = "tidied"
    """Index files past the retention are gone, too, and what killed runs left in their folder."""
    REPORTED = "reported"
    """The run's complete report is committed."""


_listener: Callable[[Seam], None] | None = None


def reached(seam: Seam) -> None:
    """Tell the listener, if there is one, that a step is done. Any thread may call."""
    if _listener is not None:
        _listener(seam)


@contextmanager
def listening(listener: Callable[[Seam], None]) -> Iterator[None]:
    """Have ``listener`` called at each seam inside the block; what it raises, the step raises."""
    global _listener  # noqa: PLW0603
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
