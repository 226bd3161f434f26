"""The result of the benchmark of chunks, as Markdown."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.chunk_edits import VERSIONS
from benchmarks.chunk_measures import Reuse, Shape
from freshcrawl.core.chunks import CHUNKER_VERSION
from freshcrawl.extract import EXTRACTOR_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OURS = "freshcrawl"
MAX_RATIO = 1.3
TITLES = {
    "paragraphs": "Edits of paragraphs",
    "long": "Edits inside of long blocks and sections",
    "releases": "Real releases: pages that differ between two versions",
}


@dataclass(slots=True)
class Run:
    """What one chunker did."""

    shape: Shape
    seconds: float
    """Of processor time, for all pages."""
    edited: Shape = field(default_factory=Shape)
    """Of the pages after the edits."""
    reuse: dict[str, dict[str, Reuse]] = field(default_factory=dict)
    """By table and kind of edit; ``all`` for the sum."""


def passed(ours: Run) -> bool:
    """Tell whether every target is met."""
    return all(met for _, _, met in _targets(ours))


def report(
    runs: Mapping[str, Run], pages: int, max_tokens: int, versions: Mapping[str, str]
) -> str:
    """Return the whole document; ``max_tokens`` is the limit with special tokens."""
    corpora = ", ".join(f"{name} {old} to {new}" for name, (old, new) in VERSIONS.items())
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    return "\n".join(
        [
            "# Chunk reuse",
            "",
            "Made by `make bench-setup && .venv-bench/bin/python -m benchmarks.chunks`.",
            "",
            f"Extractor version {EXTRACTOR_VERSION}, chunker version {CHUNKER_VERSION};",
            f"{packages}; Python {platform.python_version()}.",
            f"Pages: {corpora} ({pages} pages of the newer versions).",
            f"Limit: {max_tokens} tokens of all-MiniLM-L6-v2, its two special ones included,",
            "for every chunker; no overlap. All get the Markdown that freshcrawl extracts.",
            "",
            *_definition(),
            "",
            "## Targets",
            "",
            "| target | measured | |",
            "|---|---|---|",
            *(f"| {name} | {got} | {_verdict(met)} |" for name, got, met in _targets(runs[OURS])),
            "",
            "## All pages",
            "",
            "| chunker | chunks | mean tokens | over the limit | broken fences | processor time |",
            "|---|---|---|---|---|---|",
            *_shapes(runs),
            "",
            "Processor time is that of cutting all pages once; freshcrawl's in the same run is 1.",
            *(line for table in TITLES for line in _table(runs, table)),
            "",
        ]
    )


def _definition() -> list[str]:
    return [
        "A chunk is embedded if its text was not among those of the old page. A chunk of the new",
        "page **truly differs** if its words do not stand in one row in the old page; a chunk of",
        "the old page that lost some of its words, but not all, counts as one as well, and of the",
        "two numbers the larger is taken for each edit. So a chunk with an inserted or changed",
        "word in it, or that a deletion went through, differs; one that was cut elsewhere does",
        "not. The same for all chunkers; white space, fence lines and what a chunk repeats",
        "(headings, the head of a table) do not count. A chunk that is embedded because a heading",
        "above it changed counts as one that need not be. A fence is broken if it is open at the",
        "end of a chunk.",
    ]


def _targets(ours: Run) -> list[tuple[str, str, bool]]:
    ratio = ours.reuse["paragraphs"]["all"].ratio
    over = ours.shape.over_limit + ours.edited.over_limit
    broken = ours.shape.broken_fences + ours.edited.broken_fences
    return [
        (
            f"chunks embedded <= {MAX_RATIO} times those that truly differ",
            f"{ratio:.2f}",
            ratio <= MAX_RATIO,
        ),
        ("broken fences 0, before and after the edits", str(broken), not broken),
        ("chunks over the limit 0, before and after the edits", str(over), not over),
    ]


def _verdict(met: bool) -> str:
    return "pass" if met else "FAIL"


def _shapes(runs: Mapping[str, Run]) -> Iterator[str]:
    for name, run in runs.items():
        shape = run.shape
        cells = [
            *(name, shape.chunks, f"{shape.tokens / shape.chunks:.0f}", shape.over_limit),
            *(shape.broken_fences, f"{run.seconds / runs[OURS].seconds:.2f}"),
        ]
        yield _row(cells)


def _table(runs: Mapping[str, Run], table: str) -> Iterator[str]:
    yield from ("", f"## {TITLES[table]}", "")
    yield "| edits | chunker | pages | truly differ | embedded | ratio | tokens a page | at most |"
    yield "|---|---|---|---|---|---|---|---|"
    for kind in sorted(runs[OURS].reuse[table], key=lambda kind: (kind != "all", kind)):
        for name, run in runs.items():
            found = run.reuse[table][kind]
            cells = [
                *(kind, name, found.edits, found.differ, found.embedded, f"{found.ratio:.2f}"),
                *(round(found.tokens / found.edits), found.most),
            ]
            yield _row(cells)


def _row(cells: list[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
