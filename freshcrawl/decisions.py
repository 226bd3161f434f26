"""What ``scrapy approve`` and ``scrapy discard`` share: their arguments, and what they print."""

from __future__ import annotations

from contextlib import closing, suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.approving import Choice, look
from freshcrawl.clock import make_clock
from freshcrawl.core.guards import CHANGES, REMOVALS
from freshcrawl.core.words import count
from freshcrawl.explanation import key_in
from freshcrawl.site_status import would_do
from freshcrawl.state import open_for_reading
from freshcrawl.stores.base import StoreError
from freshcrawl.summary import EMBED_COMMAND

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from freshcrawl.approving import Decided
    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.state import SiteState

    Work = Callable[[SiteState, Config, Choice, Clock], Decided]

CLASSES = (REMOVALS, CHANGES)
DONE = {"approve": "approved", "discard": "discarded: they stay as they are published"}
ARGUMENTS = f"[options] [{'|'.join(CLASSES)}|URL ...]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a decision."""
    cli.add_common_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="list what would be decided")


def check_arguments(args: list[str]) -> None:
    """Refuse what is neither a guard's class nor a URL.

    Raises:
        UsageError: there is something.
    """
    cli.refuse_options(args)
    for word in args:
        if word not in CLASSES and "://" not in word:
            meant = get_close_matches(word, CLASSES, n=1)
            hint = f"; did you mean {meant[0]}?" if meant else ""
            raise UsageError(f"{word!r} is neither {' nor '.join(CLASSES)} nor a URL{hint}")


def decide(
    config: Config, args: list[str], opts: argparse.Namespace, command: str, work: Work
) -> int:
    """Decide on the held work of one site that ``args`` choose, and print what was done.

    Raises:
        ConfigError: there are several sites, or an argument is not the URL of a page.
        StoreError: the site or a page is not known, or is rolled back, or a store failed.
        LockedError: another process writes to the site.
    """
    clock = make_clock(config.clock_offset_secs)
    name = "" if opts.site else _knowing(config, args)
    name = name or cli.one_site(config, opts.site)
    if opts.dry_run:
        state = open_for_reading(config, name)
        try:
            choice = choice_of(state, args)
            decided = look(state, choice, approving=command == "approve")
        finally:
            state.close()
    else:
        decided = cli.with_writer(
            config,
            name,
            command,
            clock(),
            lambda state, own: work(state, own, choice_of(state, args), clock),
        )
    told = as_contract(name, decided, dry_run=opts.dry_run)
    if opts.json:
        cli.print_json({"sites": [told]})
    else:
        print("\n".join(lines_of(told, command, chosen=bool(args))))
    return cli.INCOMPLETE if told["problem"] else cli.OK


def _knowing(config: Config, args: list[str]) -> str:
    """Return the only site that knows the first URL of the arguments, "" if none or many do."""
    url = next((word for word in args if word not in CLASSES), "")
    names = []
    for name in cli.chosen_sites(config, "") if url else ():
        with suppress(StoreError), closing(open_for_reading(config, name)) as state:
            key = key_in(state, url)
            names += [name] if key is not None and state.page(key) is not None else []
    return names[0] if len(names) == 1 else ""


def choice_of(state: SiteState, args: list[str]) -> Choice:
    """Return what the arguments choose.

    Raises:
        ConfigError: one is not the URL of a page.
        StoreError: the site does not know a page.
    """
    keys = set()
    for url in args:
        if url in CLASSES:
            continue
        key = key_in(state, url)
        if key is None or state.page(key) is None:
            raise StoreError(f"{state.name} does not know the page {url}")
        keys.add(key)
    return Choice(frozenset(args) & set(CLASSES), frozenset(keys))


def as_contract(site: str, decided: Decided, *, dry_run: bool) -> dict[str, Any]:
    """Return a decision as ``--json`` shows it."""
    result = decided.result
    return {
        "site": site,
        "dry_run": dry_run,
        "pages": [
            {
                "key": entry.key,
                "url": entry.url,
                "held": entry.held,
                "person": entry.person,
                "words": would_do(entry),
            }
            for entry in decided.entries
        ],
        "taken_back": [record.url for record in decided.taken_back],
        "waiting": len(result.waiting) if result else 0,
        "problem": result.problem if result else "",
        "generation": result.generation if result else None,
        "chunks_embedded": result.embedded if result else 0,
        "chunks_reused": result.reused if result else 0,
        "chunks_removed": result.removed if result else 0,
    }


def lines_of(told: dict[str, Any], command: str, *, chosen: bool) -> list[str]:
    """Return a decision for reading; ``chosen``: not about all that is held."""
    site, pages = told["site"], told["pages"]
    done = f"would be {DONE[command]}" if told["dry_run"] else DONE[command]
    lines = []
    if pages:
        lines.append(f"{site}: {count(len(pages), 'held page')} {done}{_published(told)}")
        lines += [f"  {page['url']}  {page['words']}" for page in pages]
    if told["waiting"]:
        wait = "waits" if told["waiting"] == 1 else "wait"
        why = f" ({told['problem']})" if told["problem"] else ""
        lines.append(
            f"{site}: {count(told['waiting'], 'page')} of them {wait} for vectors{why}: "
            f"{EMBED_COMMAND} --site {site}"
        )
    for url in told["taken_back"]:
        again = "would be" if told["dry_run"] else "is"
        lines.append(f"{site}: {url} was discarded before; it {again} due for the next crawl")
    return lines or [f"{site}: nothing {'of that ' if chosen else ''}is held"]


def _published(told: dict[str, Any]) -> str:
    if told["generation"] is None:
        return ""
    parts = [f"{told[f'chunks_{name}']} {name}" for name in ("embedded", "reused", "removed")]
    return f"; generation {told['generation']} (passages: {', '.join(parts)})"
