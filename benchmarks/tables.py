"""Tables of the results in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.scoring import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.scoring import Score

TARGETS = {"main": 0.98, "code": 0.98, "cells": 0.95, "signatures": 0.98}
LEAK_MAX = 0.02
NAMES = {
    "main": "main words", "code": "code lines", "cells": "cells", "signatures": "signatures",
    "headings": "headings",
}  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; all columns but the first are numbers, set to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(share: float | None) -> str:
    """Return a share rounded down to a tenth of a percent, so that 100.0 means all."""
    return "-" if share is None else f"{int(share * 1000 + 1e-9) / 10:.1f}"


def score_cells(score: Score) -> list[str]:
    """Return the shares of one score and its leak, in percent; a leak is rounded up."""
    shares = [percent(score.share(measure)) for measure in MEASURES]
    leak = score.leak
    return [*shares, "-" if leak is None else f"{-int(-leak * 1000 + 1e-9 - 0.999) / 10:.1f}"]


def score_table(first: str, scores: Mapping[str, Score]) -> str:
    """Return a table with one line for each score."""
    head = [first, *(NAMES[measure] for measure in MEASURES), "leak"]
    return table(head, ([name, *score_cells(score)] for name, score in scores.items()))


def misses(score: Score) -> list[str]:
    """Return the targets that a score does not reach, in words."""
    found = []
    for measure, target in TARGETS.items():
        share = score.share(measure)
        if share is not None and share < target:
            found.append(f"{NAMES[measure]} {percent(share)} < {percent(target)}")
    if score.leak is not None and score.leak > LEAK_MAX:
        found.append(f"leak {100 * score.leak:.1f} > {100 * LEAK_MAX:.1f}")
    return found
