"""The report of the noise benchmark."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATH = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "noise.md"
WHEN = ("at once", "second check", "later", "missed")


@dataclass(slots=True)
class Row:
    """Figures of one kind of noise."""

    name: str
    pages: int
    checks: int = 0
    proven: int = 0
    """Pages of which a check was found to be noise."""
    false: Counter[str] = field(default_factory=Counter)
    """Checks that were ``changed`` although no one edited, ``before`` and ``after`` that."""
    edits: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By kind of edit, how often it was found when (`WHEN`)."""

    def found(self, where: str) -> list[int]:
        """Return how many edits ``beside`` or ``inside`` were found when."""
        total: Counter[str] = Counter()
        for kind, counts in self.edits.items():
            total += counts if kind.startswith(where) else Counter[str]()
        return [total[name] for name in WHEN]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def write(rows: Sequence[Row], pages: Mapping[str, int], seconds: float) -> None:
    """Write the report."""
    noise = [
        [
            *(row.name, row.checks, f"{row.proven} of {row.pages}"),
            *(row.false["before"], row.false["after"]),
        ]
        for row in rows
    ]
    edits = [[row.name, *row.found("beside"), *row.found("inside")] for row in rows]
    total = [sum(column) for column in zip(*(line[1:] for line in edits), strict=True)]
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for kind, counts in row.edits.items():
            kinds[kind] += counts
    of_pages = ", ".join(f"{number} of {name}" for name, number in pages.items())
    text = f"""# Noise

`python -m benchmarks.noise`, {seconds:.0f} s. Real pages ({of_pages})
get one kind of noise each and are read, compared and published as a crawl does it, at the times of
the schedule unless the row says otherwise, {rows[0].checks // rows[0].pages} checks a page. The
pages of a row are one site. The rules are in [design.md](../design.md#proven-noise).

## No edit

A check that is `changed` is a false change. "Before" are those that prove the noise, or of pages
that did not prove any. The last two rows show what the rules cost where noise has few values: one
that happens to come twice in a row is published.

{table(["noise", "checks", "pages with proven noise", "false before", "false after"], noise)}

## Edits

Each on a copy of all that is known of the page, half way and at the end. "Beside" are edits of
other text, "inside" those of the noise itself, which from then on stays as it is. A check less
than 6 hours after the one before does not count. "Later" are edits that set a place for the date
of the day to the date of the day, on pages that are checked every 6 hours: no one can tell them
from the noise before that day is over.

{
        table(
            ["noise", *[f"{where}: {name}" for where in ("beside", "inside") for name in WHEN]],
            [*edits, ["all", *total]],
        )
    }

By kind:

{table(["edit", *WHEN], [[kind, *[kinds[kind][name] for name in WHEN]] for kind in sorted(kinds)])}
"""
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(text, "utf-8")
