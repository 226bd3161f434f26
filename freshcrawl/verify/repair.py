"""Heals what ``verify`` finds, in the order of a publish: corpus, index file, records.

Each step is durable by itself and does nothing the second time, so that a repair that was
killed is only run again. What is found is looked at again after each round, as one damage may
hide another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.core.published import Edit
from freshcrawl.ledger import Ledger
from freshcrawl.publishing import Publisher
from freshcrawl.seams import Seam, reached
from freshcrawl.state import INDEX
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.corpus_repair import CorpusRepair
from freshcrawl.stores.http_embedding import HttpEmbedder
from freshcrawl.verify.checking import check_databases, examine
from freshcrawl.verify.contents import read_kept
from freshcrawl.verify.findings import Finding, Kind, is_mended
from freshcrawl.verify.mending_records import READ_ANEW, RecordChanges, settle_records
from freshcrawl.verify.mending_vectors import settle_vectors
from freshcrawl.verify.records import DROPPED
from freshcrawl.verify.vectors import unused_damaged
from freshcrawl.verify.view import open_view

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Embedder
    from freshcrawl.verify.view import View

ROUNDS = 6
"""Looks at the state, the last of which mends nothing."""
ROWS = {Kind.GENERATION_BEHIND, Kind.CHUNKS_STRAY, Kind.CHUNKS, Kind.VECTORS, Kind.VECTORS_DIFFER}
"""What is wrong with rows that several generations may have."""
RUN_ID = "repair"
"""What stands in ``generations`` in place of a run's id."""


@dataclass(slots=True)
class Healed:
    """What a repair did."""

    found: list[Finding] = field(default_factory=list)
    """What was wrong when it began."""
    left: list[Finding] = field(default_factory=list)
    """What it could not mend, and what the next crawl has to do."""


class Repair:
    """Heals one site, whose lock ``state`` holds."""

    def __init__(self, state: SiteState, config: Config, embedder: Embedder, clock: Clock) -> None:
        if state.folder is None or not isinstance(state.corpus, SqliteCorpus):
            raise StoreError(f"{state.name}: only what is on disk can be repaired")
        self._state = state
        self._folder: Path = state.folder
        self._config = config
        self._embedder = embedder
        self._clock = clock
        self._corpus = CorpusRepair(state.corpus)
        self._publisher = Publisher(state, config, lambda: embedder)

    def heal(self) -> Healed:
        """Mend what can be mended. Blocking.

        Raises:
            StoreError: a store failed, or the configured model is not that of the site.
        """
        healed = Healed()
        damaged = check_databases(self._folder)
        if damaged:
            return Healed(damaged, damaged)
        self._publisher.check_model()
        if isinstance(self._embedder, HttpEmbedder):
            # It may have been asked for nothing yet, and then does not know.
            self._embedder.expect(self._publisher.dimension(self._embedder))
        for number in range(ROUNDS):
            with open_view(self._folder, self._config.chunk_tokens) as view:
                self._state.check_own()  # it was opened by its name
                found = examine(view, self._embedder)
                if not number:
                    healed.found = found
                healed.left = found
                if number == ROUNDS - 1 or not self._mend(view, found):
                    break
        return healed

    def _mend(self, view: View, found: Sequence[Finding]) -> bool:
        """Do one round; tell whether there was anything that can be mended."""
        found = [finding for finding in found if is_mended(finding)]
        if not found:
            return False
        kinds = {finding.kind for finding in found}
        changes = RecordChanges(view, self._clock())
        cut_off = kinds & {Kind.ROLLBACK, Kind.FORGOTTEN}
        if cut_off and self._finish(view, found, changes):
            return True  # all else is looked at in its light
        published = self._mend_rows(view, found, changes)
        # A row that is mended may make older generations whole again.
        distrusted = Kind.OLD_GENERATION in kinds and not kinds & ROWS
        if distrusted:
            wheres = [f.where for f in found if f.kind == Kind.OLD_GENERATION]
            self._corpus.distrust(int(where.split()[-1]) for where in wheres)
        if not published and kinds & {Kind.INDEX, Kind.VECTORS_DIFFER}:
            self._write_index()
        settle_records(view, found, changes)
        changes.write(self._state)
        self._state.check_own()
        for finding in found:
            if finding.kind == Kind.INDEX_UNKNOWN:
                (self._folder / INDEX / finding.where.partition("/")[2]).unlink(missing_ok=True)
        if published or distrusted:
            self._publisher.tidy(self._clock())
        return True

    def _finish(self, view: View, found: Sequence[Finding], changes: RecordChanges) -> bool:
        """Bring records in step with what was cut off; False if they cannot be read.

        That is a rollback or a forget. First of all: what is tidied up later may be the
        generation before a rollback, which says which pages that changed.
        """
        if any(not name.startswith(DROPPED) for name in view.bad_rows):
            return False
        settle_records(view, [f for f in found if f.kind == Kind.ROW], changes)
        changes.write(self._state)
        Ledger(self._state, self._clock()).commit_records()
        reached(Seam.RECORDS_COMMITTED)
        return True

    def _mend_rows(self, view: View, found: Sequence[Finding], changes: RecordChanges) -> bool:
        """Mend ``corpus.sqlite``; tell whether that took a new generation."""
        by_kind: dict[Kind, list[str]] = {}
        for finding in found:
            by_kind.setdefault(finding.kind, []).append(finding.where)
        if Kind.GENERATION_BEHIND in by_kind:
            embedding = (self._embedder.model, self._embedder.dimension)
            newest = view.corpus.newest_row()
            self._corpus.restore_generation(newest, embedding, self._clock())
            return True  # all else is looked at in its light
        if Kind.CHUNKS_STRAY in by_kind:
            self._corpus.drop_strays()
        damaged = [view.published[key].content for key in by_kind.get(Kind.CONTENT_DAMAGED, ())]
        if damaged or Kind.CONTENT_OLD in by_kind:
            self._corpus.drop_content([*damaged, *by_kind.get(Kind.CONTENT_OLD, ())])
        if Kind.VECTORS_UNUSED in by_kind:
            self._corpus.drop_vectors(self._embedder.model, unused_damaged(view))
        published = self._mend_chunks(view, by_kind, changes)
        alone = not by_kind.keys() & {Kind.CHUNKS, Kind.CHUNKS_STRAY}
        if Kind.COUNTS in by_kind and alone and not published and view.current:
            self._corpus.recount(view.current.number)
            for key in view.unchecked:
                changes.change(key, **READ_ANEW)
        return published

    def _mend_chunks(
        self, view: View, by_kind: dict[Kind, list[str]], changes: RecordChanges
    ) -> bool:
        """Make vectors right, then publish the pages whose chunks are wrong."""
        if not by_kind.keys() & {Kind.CHUNKS, Kind.VECTORS, Kind.VECTORS_DIFFER, Kind.INDEX}:
            return False
        edits = {key: self._cut(view, key) for key in by_kind.get(Kind.CHUNKS, ())}
        added = [chunk for edit in edits.values() for chunk in edit.chunks]
        batch = self._config.embed_batch
        lost = settle_vectors(view, self._state, self._embedder, added, batch)
        live = {page.key for page in view.live()} - edits.keys()
        for key in sorted(live.intersection(key for keys in lost.values() for key in keys)):
            # Neither text nor vector: what cannot be found leaves until the page is read again.
            chunks = [c for c in view.corpus.snapshot.chunks(key) if c.embed_digest not in lost]
            edits[key] = Edit(view.published[key], chunks)
            changes.change(key, **READ_ANEW)
        if not edits:
            return False
        self._publish(list(edits.values()))
        return True

    def _cut(self, view: View, key: str) -> Edit:
        """Return the edit that makes a page's chunks those of its content."""
        page = view.published[key]
        kept = read_kept(view, page)
        return Edit(page, kept.chunks(self._embedder) if kept else [])

    def _publish(self, edits: Sequence[Edit]) -> None:
        embedder = self._embedder
        self._state.corpus.publish(
            edits,
            run_id=RUN_ID,
            model=embedder.model,
            dimension=embedder.dimension,
            published_at=self._clock(),
            build=lambda snapshot: self._publisher.write_index(snapshot, embedder),
            distrust=True,
        )
        reached(Seam.SWITCHED)

    def _write_index(self) -> None:
        """Write the file of the current generation anew, in its place."""
        snapshot = self._state.corpus.snapshot()
        try:
            self._publisher.write_index(snapshot, self._embedder)
        finally:
            snapshot.close()
