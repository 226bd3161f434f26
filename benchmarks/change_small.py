"""Dangerous small edits, edited link targets and the theme's own facts: what is said of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from benchmarks.change_edits import KINDS, edit, redate, retarget
from benchmarks.change_sources import DEBIAN, VERSIONS, pages
from benchmarks.change_themes import THEMES
from benchmarks.change_views import our_view, peer_view
from freshcrawl.core.pages import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.pool import Pool

SEED = 20_261_130
EDITS = 1_000
PER_THEME = 20
"""Pages of each theme whose links and whose theme's facts are edited."""
TRIES = 150
PEER_EVERY = 4
"""One edit in so many is shown to trafilatura too, which takes longer than all the rest."""
WANTED = {"link target": Verdict.LINKS_ONLY, "theme's facts": Verdict.UNCHANGED}
"""What is to be said of edits that are not of the text."""
LENGTHS = (500, 2_000)
"""Words of a page that is not short any more, and of one that is long."""
LATEST = {**{name: versions.split()[-1] for name, versions in VERSIONS.items()},
          **dict.fromkeys(DEBIAN, "")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edited:
    """What was said of one edit."""

    kind: str
    theme: str
    verdict: str
    words: int
    bits: int
    """Of the simhash, that differ."""
    peer_saw: bool | None
    """Whether trafilatura's text differs too, None if it was not asked."""
    where: str

    @property
    def length(self) -> int:
        """0 for a short page, 1 for one of middle length, 2 for a long one."""
        return sum(self.words >= least for least in LENGTHS)


def small_edits(pool: Pool) -> list[Edited]:
    """Return what was said of random edits of the main content, as many of each kind."""
    jobs = [(number, SEED + number) for number in range(EDITS)]
    return [found for found in pool.starmap(_edited, jobs, chunksize=4) if found is not None]


def _edited(number: int, seed: int) -> Edited | None:
    random, kind = Random(seed), KINDS[number % len(KINDS)]
    for _ in range(TRIES):
        name = random.choice(sorted(THEMES))
        place, path = random.choice(list(pages(name, LATEST[name]).items()))
        html = path.read_text("utf-8", "replace")
        made = edit(html, THEMES[name], kind, random)
        if made is not None:
            ask = number // len(KINDS) % PEER_EVERY == 0
            return _judged(kind.name, name, place, made, ask=ask)
    return None


def theme_edits(pool: Pool) -> list[Edited]:
    """Return what was said of edited link targets and of the theme's own facts."""
    jobs = [(name, SEED + number) for name in sorted(THEMES) for number in range(PER_THEME)]
    return [found for both in pool.starmap(_theme_edits, jobs, chunksize=4) for found in both]


def _theme_edits(name: str, seed: int) -> list[Edited]:
    random = Random(seed)
    place, path = random.choice(list(pages(name, LATEST[name]).items()))
    html, theme = path.read_text("utf-8", "replace"), THEMES[name]
    made = dict(zip(WANTED, (retarget(html, theme, random), redate(html, theme)), strict=True))
    return [
        _judged(kind, name, place, versions, ask=False)
        for kind, versions in made.items()
        if versions is not None
    ]


def _judged(
    kind: str, name: str, place: str, made: tuple[bytes, bytes, str], *, ask: bool
) -> Edited:
    before, after, words = made
    saw = peer_view(before) != peer_view(after) if ask else None
    old, new = our_view(before, place), our_view(after, place)
    where = f"{name} {place}: {words}"
    verdict, bits = new.verdict_after(old), new.bits_from(old)
    return Edited(kind, name, verdict, old.words, bits, saw, where)


def verdicts(edits: Sequence[Edited]) -> Counter[str]:
    """Return how many edits got each verdict."""
    return Counter(found.verdict for found in edits)
