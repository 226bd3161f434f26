"""What the demonstration prints of its own: the runs side by side, a diff, the savings."""

from __future__ import annotations

import difflib
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WIDTH = 92
DIFF_LINES = 30
ROWS = (
    ("pages that the sitemap lists", "discovered"),
    ("pages asked for", "fetched"),
    ("of these answered 304, no body", "not_modified"),
    ("new pages", "new"),
    ("pages with another text", "changed"),
    ("pages with the same text", "unchanged"),
    ("no documents: index, search", "excluded"),
    ("passages embedded", "chunks_embedded"),
    ("passages with a known vector", "chunks_reused"),
    ("the model was loaded", "torch_imported"),
    ("bytes downloaded", "bytes_downloaded"),
    ("generation of the index", "generation"),
    ("seconds", "duration_s"),
)
"""What a row is, and its name in the run report."""


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def table(runs: Mapping[str, Mapping[str, Any]]) -> None:
    """Print run reports side by side, under their names."""
    print(f"{'':<31}{'in the report':<17}" + "".join(f"{name:>14}" for name in runs))
    for label, field in ROWS:
        cells = "".join(f"{_cell(run[field]):>14}" for run in runs.values())
        print(f"{label:<31}{field:<17}{cells}")


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


def savings(runs: Mapping[str, Mapping[str, Any]], first: Mapping[str, Any], passages: int) -> None:
    """Print what recrawls spared, against sending every page and embedding every passage."""
    for name, run in runs.items():
        kept = passages - run["chunks_embedded"]
        print(
            f"{name}: {_share(run['not_modified'], run['fetched'])} of the page downloads "
            f"({run['bytes_downloaded']:,} bytes in all; the first crawl took "
            f"{first['bytes_downloaded']:,}),\n  {_share(kept, passages)} of the embeddings "
            f"({run['chunks_embedded']} of {passages} passages were embedded)"
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
