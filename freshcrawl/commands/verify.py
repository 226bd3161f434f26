"""``scrapy verify [--repair]``: whether a site's files agree with each other; heals them."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.core.words import count
from freshcrawl.state import RECORDS, make_embedder, open_for_reading, open_for_writing
from freshcrawl.stores.base import StoreError
from freshcrawl.verify import Finding, damages, verify_folder
from freshcrawl.verify.checking import check_databases
from freshcrawl.verify.repair import Healed, Repair

if TYPE_CHECKING:
    import argparse

    from freshcrawl.config import Config


class Command(ScrapyCommand):
    """Compares what a site's files hold, and mends what does not agree."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Compare records, published pages, vectors and files; --repair heals them"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        parser.add_argument("--repair", action="store_true", help="mend what can be mended")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print what is found."""
        cli.refuse_options(args, words=False)
        self.exitcode = cli.guarded(lambda: self._verify(opts))

    def _verify(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        sites: list[dict[str, Any]] = []
        codes: list[int] = []
        for name in cli.chosen_sites(config, opts.site):
            try:
                healed = repaired(config, name) if opts.repair else looked_at(config, name)
            except (StoreError, sqlite3.DatabaseError) as error:
                if opts.site:
                    raise
                codes.append(cli.report_error(error))
                continue
            codes.append(cli.ERROR if damages(healed.left) else cli.OK)
            sites.append(_as_json(name, healed))
            if not opts.json:
                print_site(name, healed, repair=opts.repair)
        if opts.json:
            cli.print_json({"sites": sites})
        elif not codes:
            print(f"no site yet in {config.state_path()}")
        return cli.worst(codes)


def looked_at(config: Config, name: str) -> Healed:
    """Return what is wrong with a site; nothing is changed.

    Raises:
        StoreError: there is no such site, or a file cannot be read.
    """
    folder = config.state_path() / name
    if not (folder / RECORDS).exists():
        open_for_reading(config, name).close()  # says which sites there are
    found = verify_folder(folder, make_embedder(config), config.chunk_tokens)
    return Healed(found, found)


def repaired(config: Config, name: str) -> Healed:
    """Mend a site, and return what was wrong and what is left.

    Raises:
        LockedError: another process writes to it.
        StoreError: there is no such site, or a store failed.
    """
    folder, clock = config.state_path() / name, make_clock(config.clock_offset_secs)
    if not (folder / RECORDS).exists():
        open_for_reading(config, name).close()
    damaged = check_databases(folder)
    if damaged:
        return Healed(damaged, damaged)
    state = open_for_writing(config, name, "verify --repair", clock())
    try:
        return Repair(state, config, make_embedder(config), clock).heal()
    finally:
        state.close()


def _as_json(name: str, healed: Healed) -> dict[str, Any]:
    return {
        "site": name,
        "findings": [finding.to_json() for finding in healed.left],
        "healed": [finding.to_json() for finding in _gone(healed)],
    }


def _gone(healed: Healed) -> list[Finding]:
    return [finding for finding in healed.found if finding not in healed.left]


def print_site(name: str, healed: Healed, *, repair: bool) -> None:
    """Print what was found for reading."""
    gone, wrong = _gone(healed), damages(healed.left)
    told = f"{len(wrong)} damaged" if wrong else "nothing damaged"
    if gone:
        told = f"{count(len(gone), 'finding')} repaired, {told}"
    print(f"{name}: {told}")
    for finding in gone:
        print(f"  repaired {finding.kind}: {finding.where}: {finding.what}")
    for finding in healed.left:
        print(f"  {finding.line()}")
        if finding.damage:
            print(f"         {'left' if repair else '--repair'}: {finding.remedy}")
