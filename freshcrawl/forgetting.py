"""Forgetting pages for good, at a person's word: purged everywhere, and kept from coming back.

One transaction of the corpus is the switch: it deletes the pages from all generations, keeps
their marks and publishes what is left. All that comes after it is derived from the marks, and
done by whoever opens the site next if this process is killed.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from freshcrawl.compacting import FILES, waiting_digests
from freshcrawl.config import ConfigError
from freshcrawl.core.forgetting import Forgotten, Mark, compiled, is_url
from freshcrawl.core.pages import Status
from freshcrawl.explanation import key_in
from freshcrawl.forgotten import marks_of
from freshcrawl.generations import drop_old, made_as, write_index
from freshcrawl.ledger import Ledger
from freshcrawl.purged import Purged, look_at
from freshcrawl.seams import Seam, reached
from freshcrawl.stores import compacting
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.corpus import SqliteCorpus
from freshcrawl.stores.corpus_forgetting import CorpusForgetting
from freshcrawl.traces import Traces, look_for

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState
    from freshcrawl.stores.base import Snapshot

RUN_ID = "forget"
"""What stands in ``generations`` in place of a run's id."""


@dataclass(slots=True)
class Forgetting:
    """What is to be forgotten, or was."""

    site: str
    target: str
    """The URL or the pattern, as it was given."""
    pages: list[dict[str, str]] = field(default_factory=list)
    """``key``, ``url``, ``status`` and ``reason`` of each page that is known."""
    before: list[str] = field(default_factory=list)
    """Keys of the pages that it means and that were forgotten before."""
    copies: list[str] = field(default_factory=list)
    """URLs of other pages, which stay, that have the same text or had it in a kept version."""
    live: int = 0
    """Pages of the site that are in the answers."""
    dry_run: bool = False
    generation: int = 0
    """The current generation."""
    logs_in_use: list[str] = field(default_factory=list)
    """Databases whose log keeps deleted text, as a reader has them open."""
    without_room: list[str] = field(default_factory=list)
    """Databases that could not be rewritten, for want of free disk."""
    removed: dict[str, int] = field(default_factory=dict)
    """Sums of what was removed, and of index files: names of ``purged.COUNTS``."""
    purged: Purged = field(default_factory=Purged)
    """What was stored of the pages, and of those forgotten before."""
    traces: Traces | None = None
    """What is still found of them, if that was asked for."""

    def as_contract(self) -> dict[str, Any]:
        """Return it as ``forget --json`` shows it."""
        left_out = {"purged", "traces"}
        return {name: value for name, value in asdict(self).items() if name not in left_out}


def look(state: SiteState, target: str) -> Forgetting:
    """Return the pages that a URL or a pattern means; nothing is written.

    Raises:
        ConfigError: it is neither a URL nor a pattern.
        StoreError: it means no page.
    """
    marks, found = marks_of(state), Forgetting(state.name, target, dry_run=True)
    with closing(state.corpus.snapshot()) as snapshot:
        found.generation = snapshot.generation
        texts = list(snapshot.texts())
        found.live = sum(page.status == Status.LIVE for page in snapshot.pages())
    urls = _urls(state, texts)
    meant = _by_url(state, target, urls, marks) if is_url(target) else _by_pattern(target, urls)
    found.copies = _copies(texts, meant.keys())
    found.before = sorted(key for key in meant if marks.of(key))
    pages = state.pages_of(meant.keys() - set(found.before))
    for key in sorted(meant.keys() - set(found.before)):
        record = pages.get(key)
        told = (record.url, record.status, record.reason) if record else (meant[key], "", "")
        row = zip(("key", "url", "status", "reason"), (key, *map(str, told)), strict=True)
        found.pages.append(dict(row))
    found.before += sorted(
        key for key, mark in marks.keys.items() if mark.pattern == target and key not in meant
    )
    if not (found.pages or found.before or target in marks.patterns):
        what = "URL" if is_url(target) else "regular expression"
        raise StoreError(
            f"{state.name} knows no page of this {what}: {target}"
            + ("; a pattern does not begin with https://" if "*" in target else "")
        )
    return found


def forget(
    state: SiteState, config: Config, target: str, now: float, *, prove: bool = False
) -> Forgetting:
    """Purge pages, and keep them from coming back. Blocking; the stores are closed afterwards.

    If it was killed before, the same call completes it. With ``prove`` all files are looked
    through afterwards for what is left.

    Raises:
        ConfigError: it is neither a URL nor a pattern.
        StoreError: it means no page, or a store failed.
    """
    if state.folder is None or not isinstance(state.corpus, SqliteCorpus):
        raise StoreError(f"{state.name}: only what is on disk can be purged")
    ledger = Ledger(state, now)
    done = look(state, target)
    done.dry_run = False
    pattern = "" if is_url(target) else target
    marks = Forgotten({page["key"]: Mark(now, pattern) for page in done.pages})
    if pattern and pattern not in ledger.forgotten.patterns:
        marks.patterns[pattern] = now
    marks = ledger.forgotten.joined(marks)  # of all: text may be back with an older copy
    made = made_as(state, ledger.generation)
    waiting = waiting_digests(ledger, marks.keys)
    names = {page["key"]: {page["url"]} for page in done.pages}
    names |= {key: set() for key in done.before if key not in names}
    done.purged = look_at(state, state.folder, ledger, names, waiting)
    for purged in done.purged.pages:
        purged.forgotten_at = marks.keys[purged.key].at if purged.key in marks.keys else now
    files = set(state.index.generations())

    def build(snapshot: Snapshot) -> None:
        info = snapshot.info()
        write_index(state, snapshot, (info["model"], info["dimension"]), made)

    done.generation = CorpusForgetting(state.corpus).purge(
        marks,
        waiting=waiting,
        run_id=RUN_ID,
        published_at=now,
        build=build,
    )
    reached(Seam.SWITCHED)
    Ledger(state, now).commit_records()
    reached(Seam.RECORDS_COMMITTED)
    drop_old(state, config, now)
    left = set(state.index.generations())
    done.removed = {**done.purged.totals(), "index_files": len(files - left)}
    _wipe(state, state.folder, done)
    if prove:
        done.traces = look_for(state.folder, done.purged)
    return done


def _urls(state: SiteState, texts: Iterable[tuple[str, str, str]]) -> dict[str, set[str]]:
    """Return all URLs that are known of each page, also that through which its text was read."""
    urls: dict[str, set[str]] = {}
    for key, url, _ in texts:
        urls.setdefault(key, set()).add(url)
    for entry in state.staged():
        urls.setdefault(entry.key, set()).add(entry.url)
    for key, record in state.pages().items():
        if record.status != Status.FORGOTTEN:
            known = (record.url, record.listed_url, record.via)
            urls.setdefault(key, set()).update(filter(None, known))
    return urls


def _copies(texts: Iterable[tuple[str, str, str]], keys: Collection[str]) -> list[str]:
    """Return the URLs of other pages that have a text which one of the pages has, or had."""
    digests = {digest for key, _, digest in texts if key in keys and digest}
    return sorted({url for key, url, digest in texts if key not in keys and digest in digests})


def _by_url(
    state: SiteState, url: str, urls: dict[str, set[str]], marks: Forgotten
) -> dict[str, str]:
    key = key_in(state, url)
    if key is None:
        raise StoreError(f"site {state.name}: no run has begun yet, so it knows no page")
    if key in urls or marks.of(key, url):
        return {key: url}
    for record in state.pages().values():
        if record.via and key_in(state, record.via) == key:
            raise StoreError(
                f"{url} is no page of its own: {record.url} redirects to it for the time being "
                "and has its text; forget that one"
            )
    return {}


def _by_pattern(pattern: str, urls: dict[str, set[str]]) -> dict[str, str]:
    wanted = compiled_pattern(pattern)
    matches = ((key, sorted(filter(wanted.search, of))) for key, of in urls.items())
    return {key: found[0] for key, found in matches if found}


def compiled_pattern(pattern: str) -> Any:
    """Return a pattern that URLs are searched for.

    Raises:
        ConfigError: it is none.
    """
    try:
        return compiled(pattern)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _wipe(state: SiteState, folder: Path, done: Forgetting) -> None:
    """Rewrite both databases, so that nothing of the deleted text is in their unused room."""
    state.records.close()
    state.corpus.close()
    for name in FILES:
        state.check_own()
        path = folder / name
        try:
            compacting.refuse_without_room(path)
        except StoreError:
            done.without_room.append(name)
        else:
            if not compacting.compact_file(path):
                done.logs_in_use.append(name)
