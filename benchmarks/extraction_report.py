"""The report of the extraction benchmark."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from benchmarks.peers import PACKAGES
from benchmarks.tables import LEAK_MAX, TARGETS, misses, percent, score_table, table
from freshcrawl.extract import EXTRACTOR_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.results import Measured, Results

_INTRO = """\
# Extraction: main content to Markdown

Made by `make bench-extraction` (`python -m benchmarks.extraction --unseen`); do not edit.

Each family is one generator or theme with up to 20 real pages, spread evenly over all pages of
the documentation that it was built from (`benchmarks/corpora/`). Shares are in percent, over all
pages of a family:

* main words: word 4-grams of the main content that are in the output, counted as often as there;
* code lines: lines of code blocks that are verbatim in a code block of the output;
* cells: table cells that are cells of a table of the output;
* signatures: API signatures that stand whole on one line;
* headings: headings that are ATX headings, without permalinks;
* leak: words of the output that stand on the page only outside of the main content.
"""

_UNSEEN = """\
Nothing of the extractor was changed because of their scores. The gold of pdoc was: with line
numbers inside of code counted as code, which no extractor is to keep, everybody's first score was
low (freshcrawl's main words 50.2).
"""


def report(results: Results, digests: dict[str, str], loop: str) -> str:
    """Return the whole report."""
    seen = [family for family in results.measured if family not in results.unseen]
    together = results.together(seen)
    parts = [
        _INTRO,
        _versions(),
        "## All families together\n",
        score_table("extractor", {name: found.score for name, found in together.items()}),
        f"\nTargets: {_targets()}.\n",
        "## Speed on one core\n",
        "CPU time of the same pages in the same run, page by page in turns.\n",
        _speed(together, sum(results.pages[family] for family in seen)),
        f"\n{_seeds(digests)}\n",
        loop,
        "\n## freshcrawl by family\n",
        score_table("family", results.ours()),
        "",
        _verdicts(results, seen),
    ]
    if results.unseen:
        parts += [
            "\n## Generators not looked at while tuning\n",
            _UNSEEN,
            _verdicts(results, sorted(results.unseen)),
        ]
    for family, scores in results.families.items():
        parts += [f"\n## {family}\n", score_table("extractor", scores)]
    return "\n".join(parts).rstrip() + "\n"


def _versions() -> str:
    named = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"freshcrawl's extractor version {EXTRACTOR_VERSION}; {named}.\n"


def _seeds(digests: dict[str, str]) -> str:
    same = "the same" if len(set(digests.values())) == 1 else "NOT THE SAME"
    return f"What is extracted from all pages is {same} with PYTHONHASHSEED {', '.join(digests)}."


def _targets() -> str:
    shares = ", ".join(f"{name} >= {percent(share)}" for name, share in TARGETS.items())
    return f"{shares}, leak <= {100 * LEAK_MAX:.1f}"


def _speed(together: dict[str, Measured], pages: int) -> str:
    base = together["freshcrawl"].seconds
    rows = [
        [name, f"{pages / found.seconds:.1f}", f"{found.seconds / base:.1f}", str(found.empty)]
        for name, found in together.items()
    ]
    head = ["extractor", "pages/s", "times freshcrawl's CPU time", "pages without output"]
    return table(head, rows)


def _verdicts(results: Results, families: Iterable[str]) -> str:
    rows = []
    for family in families:
        missed = misses(results.families[family]["freshcrawl"])
        sources = ", ".join(results.sources[family])
        verdict = "; ".join(missed) or "all reached"
        rows.append([family, str(results.pages[family]), sources, verdict])
    return table(["family", "pages", "gold from", "targets"], rows)
