"""What counts as a change, measured: writes ``docs/benchmarks/change.md``.

Run as ``python -m benchmarks.change`` with what ``make bench-setup`` installs. Ends with 1 if a
target is missed.
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from multiprocessing import Pool
from pathlib import Path
from time import monotonic

from benchmarks import change_report
from benchmarks.change_pairs import measure
from benchmarks.change_small import small_edits, theme_edits

RESULT = Path(__file__).resolve().parents[1] / "docs/benchmarks/change.md"
PROCESSES = 3
PEERS = ("lxml", "numpy", "selectolax", "trafilatura")


def main() -> int:
    """Measure, write the report, and return the exit code."""
    started = monotonic()
    with Pool(PROCESSES) as pool:
        pairs, small, theme = measure(pool), small_edits(pool), theme_edits(pool)
    targets = change_report.targets(pairs, small, theme)
    versions = ", ".join(f"{name} {version(name)}" for name in PEERS)
    made_with = f"Python {platform.python_version()}, {versions}"
    text = change_report.report(pairs, small, theme, targets, made_with)
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(text, "utf-8")
    for target in targets:
        print(target.line)
    for odd in (*(odd for pair in pairs for odd in pair.odd), *change_report.odd(small, theme)):
        print(odd)
    print(f"{RESULT.name} written, {monotonic() - started:.0f} s")
    return 0 if all(target.holds for target in targets) else 1


if __name__ == "__main__":
    sys.exit(main())
