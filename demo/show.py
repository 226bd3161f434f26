"""What the demonstration prints: the table of runs, a diff, an answer, the savings."""

from __future__ import annotations

import difflib
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WIDTH = 92
ANSWER_LINES = 8
DIFF_LINES = 30
ROWS = (
    ("pages listed", "discovered"),
    ("pages asked for", "fetched"),
    ("answered 304, no body sent", "not_modified"),
    ("bytes of page bodies", "page_bytes"),
    ("new", "new"),
    ("changed", "changed"),
    ("same text as published", "unchanged"),
    ("not documents (index, search)", "excluded"),
    ("chunks embedded", "chunks_embedded"),
    ("chunks reused", "chunks_reused"),
    ("model loaded", "torch_imported"),
    ("generation", "generation"),
    ("seconds", "duration_s"),
)


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def table(runs: Mapping[str, Mapping[str, Any]]) -> None:
    """Print run reports side by side, under their names."""
    print(" " * 31 + "".join(f"{name:>16}" for name in runs))
    for label, field in ROWS:
        print(f"{label:<31}" + "".join(f"{_cell(run[field]):>16}" for run in runs.values()))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def diff(name: str, before: str, after: str) -> None:
    """Print the first lines of the unified diff of a page's text."""
    lines = list(
        difflib.unified_diff(_lines(before), _lines(after), "before", "after", n=1, lineterm="")
    )
    print(f"{name}:")
    for line in lines[:DIFF_LINES]:
        print(f"  {line}")
    if len(lines) > DIFF_LINES:
        print(f"  ... {len(lines) - DIFF_LINES} more lines")


def _lines(text: str) -> list[str]:
    wrapper = textwrap.TextWrapper(WIDTH, break_long_words=False, break_on_hyphens=False)
    return [part for line in text.splitlines() for part in wrapper.wrap(line)]


def answer(hit: Mapping[str, Any]) -> None:
    """Print a passage with its source and clocks."""
    print(f"  {' > '.join(hit['heading_path'])}")
    print(f"  {hit['url']}#{hit['anchor']}")
    for line in _lines(hit["text"])[:ANSWER_LINES]:
        print(f"  | {line}")
    for clock in ("last_checked", "last_changed", "indexed_at"):
        print(f"  {clock:<13} {hit[clock]}")
    print(f"  {'stale':<13} {'yes' if hit['stale'] else 'no'}")


def savings(runs: Mapping[str, Mapping[str, Any]], chunks: int) -> None:
    """Print what recrawls spared, against fetching every page and embedding every chunk."""
    for name, run in runs.items():
        print(
            f"{name}: {_share(run['not_modified'], run['fetched'])} of the page bodies not sent, "
            f"{_share(chunks - run['chunks_embedded'], chunks)} of the embeddings not computed "
            f"({run['chunks_embedded']} of {chunks} chunks)"
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def changed_pages(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield the URLs whose text is new, different or no longer there."""
    for url in sorted(before.keys() | after.keys()):
        if before.get(url) != after.get(url):
            yield url


def smallest_change(
    urls: Sequence[str], before: Mapping[str, str], after: Mapping[str, str]
) -> str:
    """Return the page whose length changed least."""
    return min(urls, key=lambda url: abs(len(after.get(url, "")) - len(before.get(url, ""))))
