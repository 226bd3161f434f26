"""The state of one site: who writes to it, how its last run ended, whether its files are sound."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from freshcrawl.core.listings import Listings
from freshcrawl.core.words import count
from freshcrawl.doctor import Check, Level, attempt, fail, ok, warn
from freshcrawl.reader import checked_index
from freshcrawl.state import CORPUS, RECORDS, open_for_reading
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import holder
from freshcrawl.stores.sqlitefile import quick_check

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.config import Config
    from freshcrawl.core.report import RunReport
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Snapshot

CHECK_SECS = 10.0
"""Longest time that one file is looked at for damage."""
REPAIR = "scrapy verify --repair"
RESTORE = "put a backup in its place, or delete the site's folder {folder} and crawl again"


def state_checks(config: Config, name: str, model: str) -> list[Check]:
    """Check a site's folder; nothing in it is changed. ``model``: the configured one, if known."""
    folder = config.state_path() / name
    if not (folder / RECORDS).exists():
        return [ok("state", "not crawled yet")]
    writer = holder(folder)
    checks = [ok("lock", f"in use by {writer}" if writer else "nobody writes to it")]
    files = attempt("files", lambda: file_checks(folder))
    checks += files
    if any(check.level == Level.FAIL for check in files):
        return checks
    state = open_for_reading(config, name)
    try:
        checks += attempt("last run", lambda: run_checks(state.reports(), running=bool(writer)))
        checks += attempt("index", lambda: index_checks(state, model))
    finally:
        state.close()
    return checks


def file_checks(folder: Path) -> list[Check]:
    """Look for damage in the site's SQLite files."""
    if not os.access(folder, os.W_OK | os.X_OK):
        advice = f"run as the user that made it, or: chown -R <user> {folder}"
        return [fail("files", f"{folder} cannot be written by this user", advice)]
    found = [folder / name for name in (RECORDS, CORPUS) if (folder / name).exists()]
    unread = []
    for path in found:
        try:
            if not quick_check(path, CHECK_SECS):
                unread.append(path.name)
        except StoreError as error:
            what = str(error).partition("; ")[0]
            return [fail("files", what, RESTORE.format(folder=folder))]
    if unread:
        what = f"no damage found in {CHECK_SECS:.0f} s; {', '.join(unread)} was not read to its end"
        return [ok("files", what)]
    return [ok("files", f"{', '.join(path.name for path in found)}: no damage found")]


def run_checks(reports: list[RunReport], *, running: bool) -> list[Check]:
    """Say how the last run ended. ``running``: whether a process writes to the site now."""
    if not reports:
        return [ok("last run", "none yet")]
    last = reports[-1]
    if last.status == "running" and running:
        return [ok("last run", "is under way")]
    if last.status in {"running", "killed"}:
        what = "was killed before its end"
        return [warn("last run", what, "run scrapy crawl docs again: it goes on from there")]
    if last.status == "failed":
        return [fail("last run", f"failed: {last.error}", "mend that, then run it again")]
    checks = []
    if last.held:
        what = f"{count(last.held, 'page')} held: {'; '.join(last.held_reasons)}"
        checks.append(warn("last run", what, "see docs/troubleshooting.md, held"))
    if last.incomplete_reasons:
        what = f"incomplete: {'; '.join(last.incomplete_reasons)}"
        checks.append(warn("last run", what, "usually the next run mends it"))
    return checks or [ok("last run", "complete")]


def index_checks(state: SiteState, model: str) -> list[Check]:
    """Compare what is published with its index file and with the configured model."""
    with closing(state.corpus.snapshot()) as snapshot:
        return _index_checks(state, snapshot, model)


def _index_checks(state: SiteState, snapshot: Snapshot, model: str) -> list[Check]:
    generation, info = snapshot.generation, snapshot.info()
    chunks = sum(1 for _ in snapshot.chunks()) if generation else 0
    if not generation:
        return [ok("index", "nothing is published yet")]
    if model and info["model"] != model:
        return [
            fail(
                "index",
                f"it was made with the model {info['model']}, not with {model}",
                f"run scrapy reindex --site {state.name} to index it with that one, or set "
                "FRESHCRAWL_EMBED_MODEL back",
            )
        ]
    rebuilt = "answers are made without it, slowly; the next publish writes it, or run: " + REPAIR
    try:
        indexed = len(checked_index(state, snapshot))
    except FileNotFoundError:
        return [warn("index", f"the index file of generation {generation} is missing", rebuilt)]
    except StoreError as error:
        return [warn("index", str(error).partition("; ")[0], rebuilt)]
    if not indexed == chunks == info["chunks"]:
        what = f"generation {generation} has {count(chunks, 'passage')}, its index file {indexed}"
        return [fail("index", what, f"run: {REPAIR}")]
    return [
        ok("index", f"generation {generation}: {count(chunks, 'passage')}, all in the index file")
    ]


def known_sitemaps(config: Config, name: str) -> list[str]:
    """Return the sitemaps that the last runs found; none if the state cannot be read."""
    try:
        state = open_for_reading(config, name)
    except StoreError:
        return []
    try:
        roots = Listings(state.sources()).of_kind("sitemap_root")
        return [source.removeprefix("sitemap:") for source in roots]
    except StoreError:
        return []
    finally:
        state.close()
