"""Guards: mass removals and mass changes wait for confirmation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshcrawl.core.pages import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.core.published import Staged

LONE_MOVES = 3
"""Pages that may move to, or be copies of, one page before they count as collapsing into it."""
REMOVALS = "removals"
CHANGES = "changes"
TEXT_STANDS = frozenset({Verdict.LINKS_ONLY, Verdict.UNCHANGED, Verdict.COSMETIC})
WAITS = "held, waits for confirmation"


@dataclass(frozen=True, slots=True)
class GuardPolicy:
    """Thresholds; a class is held above its ratio of the live pages, never below its minimum."""

    removed_ratio: float = 0.1
    removed_min: int = 5
    changed_ratio: float = 0.5
    changed_min: int = 20
    confirm_runs: int = 2
    confirm_secs: float = 12 * 3_600.0


@dataclass(frozen=True, slots=True)
class Held:
    """One class of work that is held."""

    kind: str
    pages: int
    live: int
    needs_person: bool

    @property
    def reason(self) -> str:
        """The reason in words."""
        tail = "; more than half of the site: a person must decide" if self.needs_person else ""
        what = "would leave the answers" if self.kind == REMOVALS else "would change"
        return f"{too_many(self.kind)} ({self.pages} of {self.live} live pages {what}){tail}"


def too_many(kind: str) -> str:
    """Return in words what tripped the guard of a class."""
    return f"too many {kind} at once"


def work_class(staged: Staged, live: bool) -> str:
    """Return the guard class of a staged change: removals, changes or "" (never held).

    New pages take nothing away; new link targets change no text, nor does what repeats
    across the site, nor what an upgrade reads or cuts anew.
    """
    if not live:
        return ""
    if staged.status != Status.LIVE:
        return REMOVALS
    return "" if staged.verdict in TEXT_STANDS else CHANGES


def tripped(kind: str, pages: int, live: int, policy: GuardPolicy) -> Held | None:
    """Return the guard of a class with ``pages`` staged of ``live`` pages, if it holds them."""
    ratio, minimum = (
        (policy.removed_ratio, policy.removed_min)
        if kind == REMOVALS
        else (policy.changed_ratio, policy.changed_min)
    )
    if pages <= minimum or pages <= ratio * live:
        return None
    return Held(kind, pages, live, kind == REMOVALS and pages > live / 2)


def released(held: Held, found_at: Sequence[float], policy: GuardPolicy) -> bool:
    """Tell whether a held change is released by itself, given when runs found it.

    The first time is the finding; later ones confirm it when they are at least
    ``confirm_secs`` after the last one that counted.
    """
    if held.needs_person or not found_at:
        return False
    last, count = found_at[0], 0
    for moment in found_at[1:]:
        if moment - last >= policy.confirm_secs:
            last, count = moment, count + 1
    return count >= policy.confirm_runs
