"""What must hold after every step, whatever was done to the run."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from freshcrawl.core.listings import PATIENCE, PATIENT_RUNS
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.state import open_for_reading
from freshcrawl.verify.checking import verify
from tests.support.in_process import NAME
from tests.support.site_model import key_of, url_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from freshcrawl.config import Config
    from freshcrawl.stores.base import Embedder
    from tests.support.convergence_views import Versions, View
    from tests.support.in_process import Ended
    from tests.support.site_server import SiteServer

STRUCK = ("kill", "full", "embedder", "stop", "pages", "page", "sitemap")
"""Of robots.txt one run in ten is refused or kept waiting: fifty examples may meet none."""
CONFIRM_SECS = 12 * 3_600.0
REMOVED_MIN, REMOVED_RATIO = 5, 0.1
LONE_MOVES = 3


def check_struck(happened: Counter[str]) -> None:
    """Each kind of cut and of fault really befell runs of an exploration."""
    missed = set(STRUCK) - {name.split()[0] for name, count in happened.items() if count}
    assert not missed, f"no run met {sorted(missed)}: {dict(happened)}"


def check_index(view: View) -> None:
    """Rows, vectors and index file are of one generation."""
    ids = {row["id"] for row in view.rows}
    assert len(ids) == len(view.rows), "two chunks have one id"
    assert set(view.vectors) == ids, "vectors of the corpus and chunks differ"
    assert view.indexed == view.vectors, "index file and vectors of the corpus differ"


def check_whole(view: View, server: SiteServer, versions: Versions) -> None:
    """Each published page is one version that the server sent of it, and all of that."""
    texts = view.texts()
    paths = {key_of(path): path for path in server.site.pages}
    for key in view.live:
        page = view.pages[key]
        url = url_of(paths[key])
        sent = [versions.of(key, url, body) for body in server.of(key).versions]
        fit = [v for v in sent if (v.digest, v.title) == (page.digest, page.title)]
        assert fit, f"{key}: nothing like what is published was ever served"
        assert tuple(texts[key]) in [v.texts for v in fit], f"{key}: not one version, or half of it"
        digests = {row["content_digest"] for row in view.rows if row["key"] == key}
        assert digests == {page.digest}, f"{key}: chunks of another text than the page"


def check_left(
    before: View, view: View, server: SiteServer, absent: str, missing_runs: int
) -> None:
    """Pages left only where the server's last word on them was that they are gone."""
    for key in before.live - view.live:
        said = server.of(key)
        unlisted = absent != "keep" and said.unlisted >= missing_runs
        assert said.leaves or unlisted, (
            f"{key} left the answers without evidence ({view.pages[key].status}; "
            f"unlisted in {said.unlisted} runs)"
        )


def check_guarded(before: View, view: View, server: SiteServer) -> None:
    """Many pages left at once only if runs half a day apart had found the same."""
    counted = before.live - view.live - lone_moves(before, view, server)
    live = len(before.live)
    assert len(counted) <= max(live / 2, 1), f"{len(counted)} of {live} left, nobody was asked"
    if len(counted) <= REMOVED_MIN or len(counted) <= REMOVED_RATIO * live:
        return
    for key in counted:
        said = server.of(key)
        confirmed = confirmations(said.left_at) >= 2 or said.unlisted > 2
        assert confirmed, f"{key} left with {len(counted) - 1} others, not confirmed"


def lone_moves(before: View, view: View, server: SiteServer) -> set[str]:
    """Return the pages that left because they moved to a live page, few to each."""
    targets: dict[str, str] = {}
    for path, page in server.site.pages.items():
        if page.status == 301 and key_of(path) in before.live - view.live:
            targets[key_of(path)] = key_of(page.target)
    many = Counter(targets.values())
    return {
        k for k, target in targets.items() if many[target] <= LONE_MOVES and target in view.live
    }


def confirmations(found_at: Sequence[float]) -> int:
    """Return how many of the moments are half a day after the one before that counted."""
    count = 0
    last = found_at[0] if found_at else 0.0
    for moment in found_at:
        if moment - last >= CONFIRM_SECS - 60:
            last, count = moment, count + 1
    return count


def check_records(before: View, view: View, *, after: Ended) -> None:
    """Records say nothing that the answers do not know, and nothing that was found is lost.

    After a kill or an error between the switch and the records' commit they may be behind: the page
    has left by what was published last.
    """
    for key, record in view.records.items():
        live = key in view.live
        if record.status == Status.LIVE:
            page = view.pages.get(key)
            left = page is not None and page.from_gen == view.generation > before.generation
            behind = left and not after.went_well
            assert live or behind, f"{key} is live in its record only: records ran ahead"
        elif live:
            assert after.killed or not after.went_well, f"{key} is live, its record says otherwise"
        if record.last_verdict in {Verdict.NEW, Verdict.CHANGED} and key not in view.staged:
            assert live, f"{key}: found to be {record.last_verdict}, neither published nor staged"
            missed = record.last_checked - view.pages[key].changed_at
            assert missed < 300, f"{key}: the text that was found is neither published nor staged"


def check_absence(view: View, server: SiteServer) -> None:
    """Only runs that were shown a page's sitemap without it count it as absent, in a row.

    Or that found a sitemap failing for so long that it is no more waited for.
    """
    if server.site.by_links:
        return  # there, sources are read one by one, each when it is due
    for key, record in view.records.items():
        runs, unheard = server.of(key).unlisted, server.of(key).unheard
        if unheard >= PATIENT_RUNS and record.last_attempt - record.unlisted_since >= PATIENCE:
            runs += unheard - PATIENT_RUNS + 1
        assert record.missing_runs <= runs, (
            f"{key}: unlisted by {record.missing_runs} runs; {runs} were shown a list without it"
        )


def check_embedded(ended: Ended, before: Mapping[str, set[str]], model: str) -> None:
    """No text was embedded whose vector had been durable before the run."""
    known = before.get(model, set())
    for text in ended.embedded:
        digest = sha256(text.encode("utf-8", "replace")).hexdigest()
        assert digest not in known, f"embedded twice: {text[:80]!r}"


def check_kept(before: Mapping[str, set[str]], view: View) -> None:
    """A vector that was durable once is kept (as long as the retention says)."""
    for model, digests in before.items():
        lost = digests - view.kept.get(model, set())
        assert not lost, f"{len(lost)} vectors were dropped"


def check_verified(config: Config, embedder: Embedder) -> None:
    """What ``scrapy verify`` looks at is as it should be."""
    with closing(open_for_reading(config, NAME)) as state:
        damage = [str(finding) for finding in verify(state, embedder) if finding.damage]
    assert not damage, f"verify finds {damage}"


class Generations:
    """The rows of each generation as they were when it was current; the kept ones stay so."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._rows: dict[int, dict[int, str]] = {}

    def note(self, view: View) -> None:
        """Remember what the current generation holds; forget those after it, which died."""
        self._rows = {n: rows for n, rows in self._rows.items() if n < view.generation}
        if view.generation:
            self._rows[view.generation] = {row["id"]: row["text"] for row in view.rows}

    def check(self, state: Path, view: View) -> None:
        """Read the generations that are kept, as one who goes back to them would."""
        newest = [n for n in self._rows if view.generation - self._kept < n <= view.generation]
        with closing(sqlite3.connect(state / NAME / "corpus.sqlite")) as conn:
            for generation in newest:
                query = (
                    "SELECT id, text FROM chunks WHERE from_gen <= ?"
                    " AND (to_gen IS NULL OR to_gen > ?)"
                )
                rows = dict(conn.execute(query, (generation, generation)))
                assert rows == self._rows[generation], f"rows of generation {generation} are lost"
                file = state / NAME / "index" / f"{generation}.faiss"
                assert file.exists(), f"index file of generation {generation} is lost"


def difference(one: Iterable[dict[str, Any]], other: Iterable[dict[str, Any]]) -> str:
    """Return in words where two exports differ first; empty if they are equal."""
    left, right = ({row["id"]: row for row in rows} for rows in (one, other))
    for number in sorted(left.keys() | right.keys()):
        a, b = left.get(number), right.get(number)
        if a is None or b is None:
            row = a or b or {}
            where = "here" if a else "in the first crawl"
            return f"{row['key']}: a passage only {where}: {row['text'][:80]!r}"
        for name in a:
            if a[name] != b[name]:
                return f"{a['key']}: {name} is {a[name]!r}, in a first crawl {b[name]!r}"
    return ""
