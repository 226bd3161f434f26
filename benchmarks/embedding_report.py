"""The report on embedding."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import median
from typing import Any

from benchmarks.tables import table

OURS = "freshcrawl"
FIRST_VECTOR = ("torch", "onnx")
LEAST_RATIO = 0.95
MEASURED_WITH = ("sentence-transformers", "torch", "onnxruntime", "numpy")
_WAYS = {
    "bare": "`SentenceTransformer.encode`, sorted by length",
    OURS: "freshcrawl, PyTorch",
    "int8": "freshcrawl, int8 by ONNX Runtime",
    "static": "freshcrawl, static model",
}


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds that something took."""

    wall: float
    processor: float
    """Of all threads together."""


@dataclass(slots=True)
class Found:
    """How many questions found their answer."""

    model: str
    pages: int = 0
    """Of which a passage of the right page was among the first three."""
    first: int = 0
    """Of which the first passage was of the right page."""
    sections: int = 0
    """Of which a passage of the right section was among the first three."""


@dataclass(slots=True)
class Figures:
    """All that was measured."""

    timed: int
    """Passages that were embedded for time."""
    passages: int
    asked: int
    """Passages that questions were asked of."""
    questions: int
    times: int
    """How often all of them were embedded each way."""
    rounds: list[dict[str, Took]] = field(default_factory=list)
    """By way, for one portion of the passages each."""
    found: dict[str, Found] = field(default_factory=dict)
    cosines: Any = None
    """Of int8 to PyTorch, by passage."""
    site: list[dict[str, Took]] = field(default_factory=list)
    """``scrapy embed`` and "bare" with all texts of a crawled site, by round."""
    loads: int = 0
    starts: dict[str, list[float]] = field(default_factory=dict)
    """Seconds to the first vector, by backend."""

    def ratios(self, way: str, to: str, what: str = "wall") -> list[float]:
        """Return how much less time a way took than another, by round."""
        return [getattr(took[to], what) / getattr(took[way], what) for took in self.rounds]

    def site_ratios(self, what: str = "wall") -> list[float]:
        """Return how much less time ``scrapy embed`` took than bare encoding, by round."""
        return [
            getattr(one["bare"], what) / getattr(one["scrapy embed"], what) for one in self.site
        ]


def passed(figures: Figures) -> bool:
    """Tell whether all targets are met."""
    slowest = min(median(figures.ratios(OURS, "bare")), median(figures.site_ratios()))
    return slowest >= LEAST_RATIO and figures.loads == 2


def report(figures: Figures) -> str:
    """Return the page of the documentation."""
    versions = ", ".join(f"{name} {version(name)}" for name in MEASURED_WITH)
    cores = len(os.sched_getaffinity(0))
    ratio = median(figures.ratios(OURS, "bare"))
    site = median(figures.site_ratios())
    targets = [
        [f"speed of `scrapy embed` to that of sentence-transformers alone >= {LEAST_RATIO}",
         f"{site:.2f}", "pass" if site >= LEAST_RATIO else "miss"],
        [f"speed of our path to that of sentence-transformers alone >= {LEAST_RATIO}",
         f"{ratio:.2f}", "pass" if ratio >= LEAST_RATIO else "miss"],
        ["a model is loaded once in a process", f"{figures.loads} loads of 2 models",
         "pass" if figures.loads == 2 else "miss"],
    ]  # fmt: skip
    speeds = []
    each = figures.timed * figures.times / len(figures.rounds)
    for way, name in _WAYS.items():
        ratios = figures.ratios(way, "bare")
        speeds.append(
            [
                name,
                f"{median(ratios):.2f}",
                f"{min(ratios):.2f} to {max(ratios):.2f}",
                f"{median(figures.ratios(way, 'bare', 'processor')):.2f}",
                f"{median(each / took[way].wall for took in figures.rounds):.0f}",
            ]
        )
    asked = [
        [_WAYS[way].removeprefix("freshcrawl, "), *map(str, (hit.pages, hit.first, hit.sections))]
        for way, hit in figures.found.items()
    ]
    cosines, portions = figures.cosines, len(figures.rounds) // figures.times
    starts = [[name, f"{median(took):.1f}"] for name, took in figures.starts.items()]
    return f"""\
# Embedding

Made by `make bench-setup && .venv-bench/bin/python -m benchmarks.embedding`.

{versions};
Python {platform.python_version()}; {cores} cores. The model is all-MiniLM-L6-v2, the texts are
passages of the built documentation of SQLAlchemy 2.0.44 without its changelog: {figures.passages},
of 256 tokens at most.

## Targets

{table(["target", "measured", ""], targets)}

## Speed

{figures.timed} passages, evenly spread over all, in {portions} portions that were
embedded {figures.times} times each way, in turns, without the time to load a model. Ours is the
path of a crawl and of `scrapy embed`: batches of 32, checked and made durable in SQLite before the
next. It is compared with one call of sentence-transformers with all texts of the portion, sorted by
length, batches of 32, normalised. Speed and processor time are medians of the ratios within a
portion.

{table(["how", "speed", "least to most", "by processor time", "passages/s"], speeds)}

`scrapy embed` as a whole, from the look at what waits to the published generation: of the
{figures.asked} passages of a crawl of tutorial, FAQ, glossary and error messages that left
embedding to it, {len(figures.site)} times in turns with one call of sentence-transformers:
{site:.2f} ({min(figures.site_ratios()):.2f} to {max(figures.site_ratios()):.2f}), by processor time
{median(figures.site_ratios("processor")):.2f}.

Seconds from the start of a process to its first vector, with the int8 file made:

{table(["backend", "seconds"], starts)}

## What is found

{figures.questions} questions, each with the page and section that answers it, written from
headings of the tutorial and the FAQ in other words before any model was asked
(`benchmarks/embedding_questions.py`); asked of the {figures.asked} passages of tutorial, FAQ,
glossary and error messages. How many find:

{table(["model", "page in the first 3", "page first", "section in the first 3"], asked)}

The static model here is the token table of MiniLM, taken as it is: nobody trained it for search,
as those are that one would use. The cosine of a passage's int8 vector to that of PyTorch is
{cosines.min():.3f} at least, {cosines.mean():.3f} on average.

Each text is computed by itself in int8. In batches the vector of a text depends on the others, as
int8 numbers are scaled by the largest in sight: in batches of 8 or 32, numbers were off by up to
0.03 (cosine 0.987). `scrapy verify` could not tell a damaged vector from a sound one then.
"""
