"""Chunk reuse: what edits of real pages make each chunker embed again.

Run as ``python -m benchmarks.chunks``; writes ``docs/benchmarks/chunks.md`` and
ends with 1 if a target is missed.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.chunk_edits import VERSIONS, Author, Edit, Page, pages_of, releases
from benchmarks.chunk_measures import Reuse, Shape
from benchmarks.chunk_peers import Piece, chunkers
from benchmarks.chunk_report import OURS, Run, passed, report
from freshcrawl.core.chunks import SPECIAL_TOKENS
from freshcrawl.core.pieces import Tokens
from freshcrawl.stores.embedding import SentenceTransformerEmbedder
from freshcrawl.stores.model_files import MINILM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SEED = 20_261_130
EDITS = 200
LONG_EDITS = 60
RESULT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "chunks.md"
MEASURED_WITH = ("langchain-text-splitters", "semantic-text-splitter", "tokenizers")


def main() -> int:
    """Measure, write the report, and return 0 if every target is met."""
    embedder = SentenceTransformerEmbedder(MINILM)
    tokens = Tokens(embedder.token_offsets)
    both = {
        name: (pages_of(name, old), pages_of(name, new)) for name, (old, new) in VERSIONS.items()
    }
    pages = [page for _, new in both.values() for page in new.values()]
    author = Author(pages, tokens, SEED)
    tables = {
        "paragraphs": list(author.paragraphs(EDITS)),
        "long": list(author.long_blocks(LONG_EDITS)),
        "releases": list(releases(both)),
    }
    room = embedder.max_tokens - SPECIAL_TOKENS
    runs = {}
    for name, cut in chunkers(embedder.token_offsets, embedder.max_tokens).items():
        print(name, file=sys.stderr)
        runs[name] = measure(cut, pages, tables, tokens, room)
    versions = {name: version(name) for name in MEASURED_WITH}
    text = report(runs, len(pages), embedder.max_tokens, versions)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text, "utf-8")
    print(text)
    return 0 if passed(runs[OURS]) else 1


def measure(
    cut: Callable[[Page], list[Piece]],
    pages: Iterable[Page],
    tables: dict[str, list[Edit]],
    tokens: Tokens,
    room: int,
) -> Run:
    """Return what one chunker does with all pages and all edits."""
    began = time.process_time()
    known = {page.url: (page, cut(page)) for page in pages}
    run = Run(Shape(), time.process_time() - began)
    for _, pieces in known.values():
        run.shape.add(pieces, tokens.count, room)

    def pieces_of(page: Page) -> list[Piece]:
        same, pieces = known.get(page.url, (None, []))
        return pieces if same is page else cut(page)

    for table, edits in tables.items():
        kinds = run.reuse.setdefault(table, {"all": Reuse()})
        for edit in edits:
            old, new = pieces_of(edit.before), pieces_of(edit.after)
            for kind in ("all", edit.kind):
                kinds.setdefault(kind, Reuse()).add(edit, old, new, tokens.count)
            run.edited.add(new, tokens.count, room)
    return run


if __name__ == "__main__":
    sys.exit(main())
