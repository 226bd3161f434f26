"""What of the gold of a page is not in its Markdown, to be read by who tunes the extractor."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.outputs import code_lines, parts_of
from benchmarks.scoring import leaked_at
from benchmarks.words import SIZE, block_grams, compact, grams, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.corpus import Page

_SHOWN = 6
_WIDTH = 160


def missed(page: Page, markdown: str) -> Iterator[str]:
    """Yield a line for each of the first misses of every kind."""
    gold, parts, tokens = page.gold, parts_of(markdown), words(markdown)
    there = set().union(*(grams(tokens, size) for size in range(1, SIZE + 1)))
    lost = [text for text in gold.text if set(block_grams([text])) - there]
    yield from _some("text", lost)
    wanted = Counter(line for code in gold.code for line in code_lines(code))
    wanted -= Counter(line for code in parts.code for line in code_lines(code))
    yield from _some("code", wanted)
    found = {tuple(words(cell)) for row in parts.rows for cell in row}
    cells = [cell for row in gold.rows for cell in row]
    yield from _some("cell", [cell for cell in cells if words(cell) and _key(cell) not in found])
    titles = set(map(_key, parts.headings))
    yield from _some("heading", [title for title in gold.headings if _key(title) not in titles])
    lines = "\n".join(map(compact, markdown.split("\n")))
    yield from _some("signature", [one for one in gold.signatures if compact(one) not in lines])
    yield from _some("leak", _runs(tokens, leaked_at(tokens, gold, page.html)))


def _key(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def _some(kind: str, texts: Iterable[str]) -> Iterator[str]:
    listed = list(texts)
    for text in listed[:_SHOWN]:
        yield f"  {kind}: {text[:_WIDTH]!r}"
    if len(listed) > _SHOWN:
        yield f"  {kind}: and {len(listed) - _SHOWN} more"


def _runs(tokens: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return the runs of leaked words."""
    runs: list[str] = []
    last = -2
    for at in places:
        if at == last + 1:
            runs[-1] += f" {tokens[at]}"
        else:
            runs.append(tokens[at])
        last = at
    return runs
