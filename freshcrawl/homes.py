"""The home page of a site, under all of its names: where sites send who asks for what is no more.

The home page itself may redirect, for good or for the time being (``/`` to ``/en/``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from freshcrawl.core.evidence import to_home
from freshcrawl.core.pages import Cause, Status
from freshcrawl.staging import leaving

if TYPE_CHECKING:
    from freshcrawl.run import Run

INDEXES = ("index.html", "index.htm", "index.php")
_INDEX = re.compile(r"/index\.[a-z]+$")


def home_keys(run: Run) -> frozenset[str]:
    """Return the keys of the home page: those of its spellings, and of where they redirect to."""
    site, key_of = run.site, run.sightings.key_of
    # Where the root is given, the start page is what stands for it.
    urls = [site.scope.root, *([site.start] if site.root else [])]
    waiting = [key_of(urljoin(url, name)) for url in urls for name in ("", *INDEXES)]
    found: set[str] = set()
    while waiting:
        key = waiting.pop()
        if key is None or key in found:
            continue
        found.add(key)
        target = run.ledger.listings.sources.get(f"target:{key}")
        waiting += target.keys if target else []
        if record := run.ledger.pages.get(key):
            alias = record.alias_of if record.status == Status.ALIAS else None
            waiting += [alias, key_of(record.via) if record.via else None]
    return frozenset(found)


def leads_home(run: Run, key: str, target: str, known: frozenset[str] | None = None) -> bool:
    """Tell whether a redirect of a page to ``target`` says that the page is no more.

    Not if the page is the home page itself, or a second address with the home page's text.
    ``known`` are the keys of the home page, if they were asked for already.
    """
    homes = home_keys(run) if known is None else known
    if target not in homes or key in homes or _INDEX.sub("", key) in homes:
        return False
    published = run.ledger.published
    text = published[key].digest if run.ledger.is_live(key) else ""
    return not text or all(text != published[k].digest for k in homes if run.ledger.is_live(k))


def settle_homes(run: Run) -> None:
    """Judge again what moved in this run to a page that turned out to be the home page."""
    homes = home_keys(run)
    for entry in list(run.ledger.staged.values()):
        found_now = entry.run_id == run.report.run_id and entry.cause == Cause.MOVED
        if not found_now or not leads_home(run, entry.key, entry.alias_of, homes):
            continue
        record = run.ledger.pages[entry.key]
        home = run.ledger.pages[entry.alias_of].url
        finding = to_home(record, home, True, run.policies, run.now, was_published=True)
        run.ledger.unstage(entry.key)
        run.ledger.set(entry.key, reason=finding.reason, cause=finding.cause)
        if record.proofs:  # of this run's answer, which is the newest
            record.proofs[-1] |= {"cause": str(finding.cause), "status": str(finding.status)}
        if finding.status == Status.LIVE:
            run.count_page(entry.key, "kept")
            continue
        run.count_page(entry.key, "hidden")
        verdict = str(finding.verdict)
        run.stage(leaving(entry.key, entry.url, finding, verdict, entry.staged_at))
