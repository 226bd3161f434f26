"""``scrapy reindex``: a site's index anew from what is kept, with the configured model."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.core.words import count
from freshcrawl.reindexing import Reindexed, Reindexing
from freshcrawl.sites_file import load_sites
from freshcrawl.stored_sites import stored_site
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from freshcrawl.config import Config
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Makes new generations without a request to the sites."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Index a site anew from its stored pages: another model, a newer release"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Index the chosen sites anew."""
        cli.refuse_options(args, words=False)
        self.exitcode = cli.guarded(lambda: self._reindex(opts))

    def _reindex(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        listed = load_sites(config)
        names = cli.chosen_sites(config, opts.site)
        done: list[Reindexed] = []
        failed: list[int] = []
        for name in names:
            try:
                done.append(_reindex_site(config, listed, name))
            except (StoreError, sqlite3.DatabaseError) as error:
                if opts.site:
                    raise
                failed.append(cli.report_error(error))
            else:
                if not opts.json:
                    print(_words(done[-1]), flush=True)
        if opts.json:
            cli.print_json({"sites": [result.as_contract() for result in done]})
        elif not names:
            print(f"no site yet in {config.state_path()}: nothing to index anew")
        return cli.worst(failed)


def _reindex_site(config: Config, listed: Mapping[str, SiteConfig], name: str) -> Reindexed:
    """Index one site anew, as its only writer.

    Raises:
        LockedError: another process writes to it.
        StoreError: there is no such site, or it cannot be indexed.
    """
    clock = make_clock(config.clock_offset_secs)

    def work(state: SiteState, own: Config) -> Reindexed:
        site = listed.get(name) or stored_site(config, state)
        if site is None:
            raise StoreError(
                f"site {name}: no run has begun yet, so nothing is stored of its pages"
            )
        return Reindexing(state, site, own, clock).run()

    done: Reindexed = cli.with_writer(config, name, "reindex", clock(), work)
    return done


def _words(result: Reindexed) -> str:
    """Return what was done, in a line."""
    if not result.generation:
        return f"{result.site}: nothing is published yet"
    parts = [f"{count(result.pages, 'page')}, {count(result.chunks, 'passage')}"]
    if result.changed:
        parts.append(f"{result.chunks_embedded} embedded, {result.chunks_reused} reused")
    else:
        parts.append("nothing differs")
    if result.left:
        them = "it stays as it is" if result.left == 1 else "they stay as they are"
        parts.append(f"nothing is kept of {count(result.left, 'page')}: {them}")
    parts.append(f"generation {result.generation} with {result.model}")
    return f"{result.site}: {'; '.join(parts)}; {result.duration_s:.1f} s"
