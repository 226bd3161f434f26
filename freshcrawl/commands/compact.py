"""``scrapy compact``: give unused room of the state back to the disk."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.compacting import Compacted, compact
from freshcrawl.core.words import count
from freshcrawl.stores.base import StoreError
from freshcrawl.summary import amount

if TYPE_CHECKING:
    import argparse

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Rewrites the databases of each site without unused room."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Give unused room of the state back to the disk"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Compact the chosen sites."""
        cli.refuse_options(args, words=False)
        self.exitcode = cli.guarded(lambda: self._compact(opts))

    def _compact(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()

        def work(state: SiteState, own: Config) -> Compacted:
            return compact(state, own, now)

        done, codes = list[Compacted](), list[int]()
        names = cli.chosen_sites(config, opts.site)
        for name in names:
            try:
                done.append(cli.with_writer(config, name, "compact", now, work))
            except (StoreError, sqlite3.DatabaseError) as error:
                if opts.site:
                    raise
                codes.append(cli.report_error(error))
        if opts.json:
            cli.print_json({"sites": [asdict(site) for site in done]})
        elif not names:
            print(f"no site yet in {config.state_path()}: nothing to compact")
        for site in [] if opts.json else done:
            print("\n".join(_lines(site)))
        codes += [cli.INCOMPLETE for site in done if site.logs_in_use]
        return cli.worst(codes)


def _lines(site: Compacted) -> list[str]:
    removed = f"; {count(site.files_removed, 'leftover file')} removed"
    lines = [
        f"{site.site}: {amount(site.bytes_before)} before, {amount(site.bytes_after)} after"
        f"{removed if site.files_removed else ''}"
    ]
    lines += [
        f"  {name}: a reader has it open, so its log stays; run again when that has ended"
        for name in site.logs_in_use
    ]
    return lines
