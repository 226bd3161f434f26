"""Guards: mass removals and mass changes wait for confirmation, some of them for a person."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from freshcrawl.core.pages import REDIRECTED, Cause, Status, Verdict
from freshcrawl.core.words import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from freshcrawl.core.published import Staged

LONE_MOVES = 3
"""Pages that may move to, or be copies of, one page before they count as collapsing into it."""
REMOVALS = "removals"
CHANGES = "changes"
TEXT_STANDS = frozenset({Verdict.LINKS_ONLY, Verdict.UNCHANGED, Verdict.COSMETIC})
WAITS = "held, waits for confirmation"
PERSON = "a person must decide"
HOME = "the home page"
NOT_WELL = "the site is not well"
HALF = "more than half of the site"
MARKS = {Cause.NOINDEX: "marked noindex", Cause.ROBOTS: "disallowed by robots.txt"}
"""Causes by which one mistake of the site takes away many pages."""
SHRUNK = "no longer listed by a sitemap or page that lists half as many pages as before, or fewer"
LOST_MIN = 3
"""Pages that lists which shrank by half must have lost before that counts."""
MOVES = REDIRECTED | {Cause.COPY}


@dataclass(frozen=True, slots=True)
class GuardPolicy:
    """Thresholds; a class is held above its ratio of the live pages, never below its minimum.

    But for removals of more than half of the live pages: there the minimum is two.
    """

    removed_ratio: float = 0.1
    removed_min: int = 5
    changed_ratio: float = 0.5
    changed_min: int = 20
    confirm_runs: int = 2
    confirm_secs: float = 12 * 3_600.0
    failed_ratio: float = 0.2
    failed_min: int = 5


@dataclass(frozen=True, slots=True)
class Held:
    """One class of work that is held."""

    kind: str
    pages: int
    live: int
    needs_person: bool
    decided: Mapping[str, int] = field(default_factory=dict)
    """How many of the pages wait no more, by what became of them."""

    @property
    def reason(self) -> str:
        """The reason in words."""
        tail = f"; {HALF}: {PERSON}" if self.needs_person else ""
        what = "would leave the answers" if self.kind == REMOVALS else "would change"
        some = ", ".join(f"{number} {fate}" for fate, number in sorted(self.decided.items()))
        what += f"; of these {some}" if some else ""
        return f"{too_many(self.kind)} ({self.pages} of {self.live} live pages {what}){tail}"


@dataclass(frozen=True, slots=True)
class Unwell:
    """Too many of the pages that a run asked for gave no answer: the site is not well."""

    failed: int
    asked: int

    @property
    def reason(self) -> str:
        """The reason in words."""
        return (
            f"{NOT_WELL} ({self.failed} of {count(self.asked, 'page')} asked for failed "
            "or were rejected): what would leave the answers waits for a run that finds it well"
        )


@dataclass(frozen=True, slots=True)
class AllDead:
    """No page that a run asked for answered as itself, two for comparison among them."""

    dead: int

    @property
    def reason(self) -> str:
        """The reason in words."""
        return (
            f"{NOT_WELL} ({count(self.dead, 'page')} dead, and no other that was asked "
            f"for answered as itself): waits for a run that finds it well, else {PERSON}"
        )


def too_many(kind: str) -> str:
    """Return in words what tripped the guard of a class."""
    return f"too many {kind} at once"


def left_over(pages: int) -> str:
    """Return in words that pages wait of which a guard held more, until they are confirmed."""
    return f"{count(pages, 'page')} left of {too_many(REMOVALS)}"


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
    """Return the guard of a class with ``pages`` staged of ``live`` pages, if it holds them.

    Removals of two pages and more than half of the live ones are held whatever the minimum:
    few pages are all of a small site.
    """
    ratio, minimum = (
        (policy.removed_ratio, policy.removed_min)
        if kind == REMOVALS
        else (policy.changed_ratio, policy.changed_min)
    )
    most = kind == REMOVALS and pages >= 2 and pages > live / 2
    if (pages <= minimum and not most) or pages <= ratio * live:
        return None
    return Held(kind, pages, live, needs_person=most)


def unwell(failed: int, asked: int, policy: GuardPolicy) -> Unwell | None:
    """Return what keeps a run from taking pages away, if too much of what it asked for failed."""
    if failed <= policy.failed_min or failed <= policy.failed_ratio * asked:
        return None
    return Unwell(failed, asked)


def persons(
    removals: Iterable[Staged],
    held: Held | None,
    shrunk: Collection[str],
    lost: Collection[str] = (),
    decided: Iterable[str] = (),
) -> dict[str, str]:
    """Return, by key, why a person must decide on removals.

    ``shrunk`` are the keys that were listed by a source which has shrunk by half or more,
    ``lost`` the same if such sources lost LOST_MIN pages or more: they wait however few of
    them a run finds. All others are released by themselves when later runs find the same, if
    their guard (``held``) holds them at all. ``decided`` is where those lead to that were held
    with them and wait no more. What waits for a person does so as long as the guard holds,
    whatever becomes of the others.
    """
    if held is None:
        return dict.fromkeys(lost, SHRUNK)
    entries = list(removals)
    if held.needs_person:
        return dict.fromkeys((entry.key for entry in entries), HALF)
    crowds = Counter(filter(None, [*map(destination, entries), *decided]))
    found = {entry.key: entry.person for entry in entries if entry.person}
    for entry in entries:
        place = destination(entry)
        if entry.cause in MARKS:
            found[entry.key] = MARKS[Cause(entry.cause)]
        elif crowds[place] > LONE_MOVES:
            found[entry.key] = f"redirected like many others to {place}"
        elif entry.cause == Cause.UNLISTED and entry.key in shrunk:
            found[entry.key] = SHRUNK
    return found


def destination(entry: Staged) -> str:
    """Return where a page that leaves leads to, "" for nowhere: a key, or a host off the site."""
    if entry.cause == Cause.OFF_SITE:
        return urlsplit(entry.target).netloc or "other sites"
    if entry.cause == Cause.HOME:
        return entry.alias_of or HOME
    return entry.alias_of if entry.cause in MOVES or entry.alias_of else ""


def person_reasons(why: Iterable[str], held: Held | None) -> list[str]:
    """Return in words on how many pages a person must decide, by reason.

    ``held`` is the guard of removals: that it is more than half of the site may be said already.
    """
    number = Counter(why)
    if half := number.pop(HALF, 0):
        was_half = held is None or not held.needs_person
        number.update({f"found with {HALF}": half} if was_half else {})
    return [
        f"{count(pages, 'page')} {reason}: {PERSON}" for reason, pages in sorted(number.items())
    ]


def counted(found_at: Sequence[float], policy: GuardPolicy) -> int:
    """Return how many runs have confirmed a finding, given when runs found it, the first too.

    A later one counts when it began at least ``confirm_secs`` after the last that counted.
    """
    if not found_at:
        return 0
    last, confirmed = found_at[0], 0
    for moment in found_at[1:]:
        if moment - last >= policy.confirm_secs:
            last, confirmed = moment, confirmed + 1
    return confirmed


def released(held: Held, found_at: Sequence[float], policy: GuardPolicy) -> bool:
    """Tell whether a held change is released by itself, given when runs found it."""
    if held.needs_person or not found_at:
        return False
    return counted(found_at, policy) >= policy.confirm_runs
