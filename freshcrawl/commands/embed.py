"""``scrapy embed``: embed and publish the texts that wait for their vectors."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from freshcrawl import cli, console
from freshcrawl.clock import make_clock
from freshcrawl.core.words import count
from freshcrawl.embed_site import Embedded, SiteEmbedding
from freshcrawl.interrupting import Interruptible
from freshcrawl.sites_file import load_sites
from freshcrawl.state import open_for_reading
from freshcrawl.stored_sites import stored_site
from freshcrawl.stores.base import StoreError
from freshcrawl.watch import Watch

if TYPE_CHECKING:
    import argparse

    from freshcrawl.config import Config
    from freshcrawl.console import StatusLine

logger = logging.getLogger(__name__)


class Command(ScrapyCommand):
    """Works off what crawls have left to be embedded."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Embed and publish what waits for vectors, beside crawls"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Embed for the chosen sites, one after another."""
        cli.refuse_options(args, words=False)
        if self.settings is None:
            self.exitcode = cli.guarded(lambda: self._embed(opts, None))
            return
        with console.shown(self.settings) as line:
            self.exitcode = cli.guarded(lambda: self._embed(opts, line))

    def _embed(self, opts: argparse.Namespace, line: StatusLine | None) -> int:
        config = cli.config_of(self.settings)
        names = cli.chosen_sites(config, opts.site)
        done: list[Embedded] = []
        codes: list[int] = []
        with Interruptible() as signals:
            for name in names:
                if signals.asked:
                    break
                try:
                    done.append(_embed_site(config, name, signals, line))
                except (StoreError, sqlite3.DatabaseError) as error:
                    if opts.site:
                        raise
                    codes.append(cli.report_error(error))
                else:
                    codes.append(_code(done[-1]))
                    if not opts.json:
                        print(words(done[-1]), flush=True)
        if opts.json:
            cli.print_json({"sites": [result.as_contract() for result in done]})
        elif not names:
            print(f"no site yet in {config.state_path()}: nothing to embed")
        return cli.INTERRUPTED if signals.asked else cli.worst(codes)


def _embed_site(
    config: Config, name: str, signals: Interruptible, line: StatusLine | None
) -> Embedded:
    """Embed for one site.

    Raises:
        LockedError: another process writes to it, or embeds for it.
        StoreError: there is no such site, or it is indexed with another model.
    """
    with closing(open_for_reading(config, name)) as state:
        site = load_sites(config).get(name) or stored_site(config, state)
    own = config.for_site(site.policies) if site else config
    told: set[str] = set()

    def note(why: str) -> None:
        if not told:
            logger.info("waiting: %(why)s", {"why": why})
        told.add(why)

    work = SiteEmbedding(own, name, make_clock(config.clock_offset_secs), note)
    with (
        signals.calling(work.embedding.interrupt),
        Watch(lambda: {name: work.progress()}, own.progress_secs, line),
    ):
        return work.run()


def _code(done: Embedded) -> int:
    if done.pinned:
        return cli.HELD
    return cli.INCOMPLETE if done.problem else cli.OK


def words(done: Embedded) -> str:
    """Return what was done, in a line or two."""
    if done.pinned:
        return f"{done.site}: {done.pinned}; nothing was embedded"
    parts = [f"{count(done.chunks_embedded, 'passage')} embedded"]
    parts += [f"{count(done.pages, 'page')} published"] if done.pages else []
    parts += [f"generation {done.generation}"] if done.pages else []
    if not (done.chunks_embedded or done.pages or done.pending_embed):
        parts = ["nothing waits for vectors"]
    if done.pending_embed:
        waits = "wait" if done.pending_embed > 1 else "waits"
        passages = count(done.chunks_pending, "passage")
        parts.append(f"{count(done.pending_embed, 'page')} still {waits} ({passages})")
    line = f"{done.site}: {', '.join(parts)}; {done.duration_s:.1f} s"
    if done.stopped:
        line += "\n  stopped; what was embedded is kept: run it again to go on"
    if done.problem:
        line += f"\n  embedding stopped: {done.problem}; run it again to go on"
    return line
