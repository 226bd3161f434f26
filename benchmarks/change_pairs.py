"""Consecutive versions of real documentation: what each method calls a change, and what is one."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from benchmarks.change_sources import PAIRS, VERSIONS, pages
from benchmarks.change_themes import THEMES
from benchmarks.change_views import SIMHASH_BITS, View, is_changed, label, view
from tests.support.corpora import CACHE

if TYPE_CHECKING:
    from multiprocessing.pool import Pool

SAME = frozenset({"same", "volatile"})
METHODS = (
    "freshcrawl", "sha256 of bytes", "sha256 of full text", "trafilatura", "simhash > 3 bits",
)  # fmt: skip
KNOWN = CACHE / "trafilatura.json"
"""Digests of trafilatura's text by digest of the body, so that it reads each page once."""


@dataclass(slots=True)
class Pair:
    """What one pair of versions showed."""

    name: str
    pages: int = 0
    differ: int = 0
    """Pages whose bytes differ."""
    truth: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    """Changes that a method reports of pages whose main text is the same, by method."""
    missed: Counter[str] = field(default_factory=Counter)
    """Real changes that a method does not report."""
    hidden: Counter[int] = field(default_factory=Counter)
    """Real changes within so many bits of the simhash."""
    odd: list[str] = field(default_factory=list)
    """Pages that freshcrawl judges wrongly."""

    def add(self, place: str, old: View, new: View) -> None:
        """Count one page whose bytes differ."""
        truth, verdict = label(old.truth, new.truth), new.ours.verdict_after(old.ours)
        bits = new.ours.bits_from(old.ours)
        self.truth[truth] += 1
        self.verdicts[verdict] += 1
        says = (
            is_changed(verdict),
            True,
            old.full != new.full,
            old.peer != new.peer,
            bits > SIMHASH_BITS,
        )
        for method, changed in zip(METHODS, says, strict=True):
            self.false[method] += changed and truth in SAME
            self.missed[method] += not changed and truth == "real"
        for limit in (0, 1, SIMHASH_BITS):
            self.hidden[limit] += truth == "real" and bits <= limit
        if says[0] != (truth == "real") and truth in {*SAME, "real"}:
            self.odd.append(f"{self.name} {place}: {truth}, judged {verdict}")

    @property
    def same(self) -> int:
        """Pages whose main text is the same."""
        return sum(self.truth[name] for name in SAME)


def measure(pool: Pool) -> list[Pair]:
    """Return what the pairs of versions showed."""
    known: dict[str, str] = json.loads(KNOWN.read_text()) if KNOWN.is_file() else {}
    views: dict[tuple[str, str], dict[str, View]] = {}
    for name, versions in VERSIONS.items():
        for version in versions.split():
            files = pages(name, version)
            jobs = [(name, place, path.read_bytes()) for place, path in files.items()]
            peers = [known.get(sha256(html).hexdigest(), "") for _, _, html in jobs]
            work = [(*job, peer) for job, peer in zip(jobs, peers, strict=True)]
            seen = pool.starmap(_view, work, chunksize=4)
            views[name, version] = dict(zip(files, seen, strict=True))
            known |= {found.raw: found.peer for found in seen}
            KNOWN.write_text(json.dumps(known))
    return [_pair(name, old, new, views[name, old], views[name, new]) for name, old, new in PAIRS]


def _view(name: str, place: str, html: bytes, peer: str) -> View:
    return view(html, place, THEMES[name], peer)


def _pair(name: str, old: str, new: str, before: dict[str, View], after: dict[str, View]) -> Pair:
    pair = Pair(f"{name} {old} → {new}")
    for place in before.keys() & after.keys():
        pair.pages += 1
        if before[place].raw != after[place].raw:
            pair.differ += 1
            pair.add(place, before[place], after[place])
    return pair
