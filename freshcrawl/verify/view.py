"""Both databases of a site as of one moment, beside whoever writes to them."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from freshcrawl.core.forgetting import Forgotten
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.published import Staged
from freshcrawl.embedding_config import DEFAULT_CHUNK_TOKENS
from freshcrawl.forgotten import MARKS
from freshcrawl.rolled_back import IN_STEP
from freshcrawl.staging import unpack_blocks
from freshcrawl.state import CORPUS, RECORDS
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus_audit import CorpusAudit, GenerationRow
from freshcrawl.stores.records_audit import RecordsAudit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.core.published import Published
    from freshcrawl.core.rollback import Rollback
    from freshcrawl.core.versions import Version

ATTEMPTS = 50
SITE = "meta:site"


@dataclass(slots=True)
class View:
    """What is known and what is published, at one moment."""

    folder: Path
    corpus: CorpusAudit
    generations: list[GenerationRow]
    """Those that are kept, ascending."""
    published: dict[str, Published]
    pages: dict[str, PageRecord] = field(default_factory=dict)
    staged: dict[str, Staged] = field(default_factory=dict)
    """Staged work without its bulk."""
    rollback: Rollback | None = None
    """The last one, if records are not in step with it: it was cut off."""
    forgotten: Forgotten = field(default_factory=Forgotten)
    """Marks of the pages that were purged for good."""
    site: dict[str, Any] = field(default_factory=dict)
    """The site's table, as of its last run."""
    work: dict[str, bool] = field(default_factory=dict)
    """By key of a ``work:`` row: whether it has blocks that can be read."""
    bad_rows: list[str] = field(default_factory=list)
    """Names of the rows that are no JSON object of their kind."""
    made_by: dict[str, str] = field(default_factory=dict)
    """How the kept content of live pages was made, by key; filled by ``check_rows``."""
    chunk_tokens: int = DEFAULT_CHUNK_TOKENS
    """Size of chunks that is set today."""
    unchecked: list[str] = field(default_factory=list)
    """Keys of live pages whose chunks could only be counted; filled by ``check_rows``."""

    @property
    def current(self) -> GenerationRow | None:
        """The current generation, None before the first publish."""
        return self.generations[-1] if self.generations else None

    def live(self) -> list[Published]:
        """Return the pages that are in the answers, by key."""
        return [page for page in self.published.values() if page.status == Status.LIVE]

    def versions(self, key: str) -> list[Version]:
        """Return the kept versions of a page, newest first."""
        return self.corpus.snapshot.versions(key)

    def is_waiting(self, key: str) -> bool:
        """Tell whether the next check of a page downloads it, and keeps and publishes it anew."""
        record = self.pages.get(key)
        return record is not None and not record.made_by


@contextmanager
def open_view(folder: Path, chunk_tokens: int = DEFAULT_CHUNK_TOKENS) -> Iterator[View]:
    """Read both databases as of one moment; ``chunk_tokens`` is the setting's.

    The corpus is opened while nobody commits to the records, so that what both show was
    so at one time.

    Raises:
        StoreError: a file cannot be read, or a writer never paused.
    """
    for _ in range(ATTEMPTS):
        with (
            closing(RecordsAudit(folder / RECORDS)) as records,
            closing(CorpusAudit(folder / CORPUS)) as corpus,
        ):
            if records.moved():
                continue
            published = {page.key: page for page in corpus.snapshot.pages()}
            view = View(folder, corpus, corpus.generations(), published)
            view.chunk_tokens = chunk_tokens
            view.rollback = corpus.snapshot.rollback()
            view.forgotten = corpus.snapshot.forgotten()
            for name, row in records.rows():
                _take(view, name, row)
            records.close()  # a reader of old rows keeps SQLite from tidying up
            yield view
            return
    raise StoreError(f"{folder}: it is written to all the time; try again later")


def _take(view: View, name: str, row: dict[str, Any] | None) -> None:
    prefix, _, key = name.partition(":")
    try:
        if row is None:
            view.bad_rows.append(name)
        elif prefix == "page":
            view.pages[key] = PageRecord.from_json(row)
        elif prefix == "staged":
            view.staged[key] = Staged.from_json(row)
        elif prefix == "work":
            view.work[key] = _is_whole(row)
        elif name == IN_STEP:
            if view.rollback is not None and row.get("generation") == view.rollback.generation:
                view.rollback = None
        elif name == MARKS:
            view.forgotten = view.forgotten.joined(Forgotten.from_json(row))
        elif name == SITE:
            view.site = row
    except TypeError:  # fields without a default are not there
        view.bad_rows.append(name)


def _is_whole(work: dict[str, Any]) -> bool:
    """Tell whether the blocks of staged work can be read."""
    try:
        unpack_blocks(work["blocks"])
    except Exception:  # base64, zlib, JSON or fields: it is of no use
        return False
    return True
