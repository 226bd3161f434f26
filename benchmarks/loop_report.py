"""The part of the report on extraction that is about the event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.loop import BLOCKED_MAX_MS, TIMES, burst, holds_of
from benchmarks.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpus import Page
    from benchmarks.loop import Hold

LARGEST = 6
BURST = 16
_INTRO = f"""\
## The event loop beside it

An asyncio loop that ticks each millisecond, while the work on the {LARGEST} largest pages goes on
in threads as in a crawl. "Held up" is the most CPU time that the work took between two ticks: so
long the loop waits for its turn on an idle machine. "Waited" is the longest time between two ticks
as it was, with what others took of the machine; beside "nothing" a thread just sleeps. What is not
in a thread holds the loop as long as it takes. Milliseconds, the middle of {TIMES} times, the worst
of the pages.
"""
_BURST = f"""\
The {BURST} largest pages at once: each in a thread, and as `freshcrawl.threads.in_turn` does it.
"""


def loop_report(pages: Sequence[Page]) -> tuple[str, list[str]]:
    """Return the section, and which work blocks the loop too long."""
    largest = sorted(pages, key=lambda page: (-len(page.html), page.url))
    holds = [hold for page in largest[:LARGEST] for hold in holds_of(page)]
    worst = [_worst(holds, work) for work in dict.fromkeys(hold.work for hold in holds)]
    rows = [
        [hold.work, "thread" if hold.in_thread else "loop", f"{hold.took_ms:.1f}",
         f"{hold.held_ms:.1f}", f"{hold.waited_ms:.1f}"]
        for hold in worst
    ]  # fmt: skip
    bursts = burst(largest[:BURST])
    sizes = [len(page.html) / 1e6 for page in largest[:LARGEST]]
    parts = [
        _INTRO,
        f"Pages of {sizes[-1]:.1f} to {sizes[0]:.1f} MB of HTML. At most {BLOCKED_MAX_MS:.0f} ms "
        "are allowed.\n",
        table(["work on a page", "where", "took at most", "held up", "waited"], rows),
        "",
        _BURST,
        table(
            ["how", "took", "held up", "waited"],
            [[how, *(f"{figure:.1f}" for figure in figures)] for how, figures in bursts.items()],
        ),
    ]
    slow = [hold.work for hold in worst if hold.held_ms > BLOCKED_MAX_MS]
    slow += ["a burst of pages"] if bursts["in turns"][1] > BLOCKED_MAX_MS else []
    return "\n".join(parts), slow


def _worst(holds: Sequence[Hold], work: str) -> Hold:
    return max((hold for hold in holds if hold.work == work), key=lambda hold: hold.held_ms)
