"""``scrapy reindex``: a site's index anew from what is kept, with the configured model."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from freshcrawl import cli, console
from freshcrawl.clock import make_clock
from freshcrawl.config import ConfigError
from freshcrawl.core.words import ago, count
from freshcrawl.embedding import PublishInterrupted
from freshcrawl.interrupting import Interruptible
from freshcrawl.rehearsing import Rehearsal, Rehearsed
from freshcrawl.reindexing import Reindexed, Reindexing
from freshcrawl.sites_file import load_sites
from freshcrawl.state import open_for_reading
from freshcrawl.stored_sites import stored_site
from freshcrawl.stores.base import StoreError
from freshcrawl.watch import Watch

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from freshcrawl.config import Config
    from freshcrawl.console import StatusLine
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState

logger = logging.getLogger(__name__)


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
        parser.add_argument(
            "--dry-run", action="store_true", help="say what it would take, and change nothing"
        )
        parser.add_argument(
            "--price-per-million-tokens",
            type=float,
            metavar="P",
            help="with --dry-run: say what the tokens to be embedded would cost",
        )
        parser.add_argument(
            "--sample",
            action="store_true",
            help="with --dry-run: embed some texts at FRESHCRAWL_EMBED_URL, too, to measure",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Index the chosen sites anew, or rehearse that."""
        cli.refuse_options(args, words=False)
        if self.settings is None:
            self.exitcode = cli.guarded(lambda: self._reindex(opts, None))
            return
        with console.shown(self.settings) as line:
            self.exitcode = cli.guarded(lambda: self._reindex(opts, line))

    def _reindex(self, opts: argparse.Namespace, line: StatusLine | None) -> int:
        config = cli.config_of(self.settings)
        check_price(opts)
        listed = load_sites(config)
        names = cli.chosen_sites(config, opts.site)
        done: list[Reindexed | Rehearsed] = []
        failed: list[int] = []
        cut_off = False
        with Interruptible() as signals:
            for name in names:
                if signals.asked:
                    cut_off = True
                    break
                try:
                    if opts.dry_run:
                        done.append(_rehearse_site(config, listed, name, opts))
                    else:
                        done.append(_reindex_site(config, listed, name, signals, line))
                except PublishInterrupted as error:
                    cli.report_error(error)
                    cut_off = True
                except (StoreError, sqlite3.DatabaseError) as error:
                    if opts.site:
                        raise
                    failed.append(cli.report_error(error))
                else:
                    if not opts.json:
                        print(words(done[-1]), flush=True)
        if opts.json:
            cli.print_json({"sites": [result.as_contract() for result in done]})
        elif not names:
            print(f"no site yet in {config.state_path()}: nothing to index anew")
        return cli.INTERRUPTED if cut_off else cli.worst(failed)


def check_price(opts: argparse.Namespace) -> None:
    """Refuse options that belong to a rehearsal where there is none, and a price that is none.

    Raises:
        ConfigError: see the message.
    """
    price = opts.price_per_million_tokens
    if not opts.dry_run and (opts.sample or price is not None):
        raise ConfigError("--sample and --price-per-million-tokens go with --dry-run")
    if price is not None and not 0 <= price < float("inf"):
        raise ConfigError(f"--price-per-million-tokens is {price}: give a number, as 0.02")


def _known_site(config: Config, listed: Mapping[str, SiteConfig], state: SiteState) -> SiteConfig:
    """Return a site by its table in ``sites.toml``, else as its last run had it.

    Raises:
        StoreError: no run has begun yet.
    """
    site = listed.get(state.name) or stored_site(config, state)
    if site is None:
        raise StoreError(
            f"site {state.name}: no run has begun yet, so nothing is stored of its pages"
        )
    return site


def _rehearse_site(
    config: Config, listed: Mapping[str, SiteConfig], name: str, opts: argparse.Namespace
) -> Rehearsed:
    """Say what a reindex of a site would do; nothing is written.

    Raises:
        StoreError: there is no such site, or it cannot be indexed.
    """
    with closing(open_for_reading(config, name)) as state:
        site = _known_site(config, listed, state)
        own = config.for_site(site.policies)
        sample = opts.sample or not own.embed_url
        rehearsal = Rehearsal(state, site, own)
        return rehearsal.run(sample=sample, price=opts.price_per_million_tokens)


def _reindex_site(
    config: Config,
    listed: Mapping[str, SiteConfig],
    name: str,
    signals: Interruptible,
    line: StatusLine | None,
) -> Reindexed:
    """Index one site anew, as its only writer.

    Raises:
        LockedError: another process writes to it.
        StoreError: there is no such site, or it cannot be indexed.
        PublishInterrupted: a signal came while it embedded.
    """
    clock = make_clock(config.clock_offset_secs)

    def work(state: SiteState, own: Config) -> Reindexed:
        reindexing = Reindexing(state, _known_site(config, listed, state), own, clock)
        with (
            signals.calling(reindexing.stop),
            Watch(lambda: {name: reindexing.progress()}, own.progress_secs, line),
        ):
            return reindexing.run()

    done: Reindexed = cli.with_writer(config, name, "reindex", clock(), work)
    return done


def words(result: Reindexed | Rehearsed) -> str:
    """Return what was done, in a line, or would be, in some."""
    if not result.generation:
        return f"{result.site}: nothing is published yet"
    return _would_be(result) if isinstance(result, Rehearsed) else _done(result)


def _done(result: Reindexed) -> str:
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


def _would_be(found: Rehearsed) -> str:
    lines = [
        f"{found.site}: {count(found.pages, 'page')}, {count(found.chunks, 'passage')}; "
        f"{found.chunks_to_embed} to be embedded ({found.tokens:,} tokens), "
        f"{found.chunks_reused} reused"
    ]
    if found.changed:
        lines.append(f"{count(found.differing, 'page')} with other passages or another row")
    else:
        lines.append("nothing differs: nothing would be published")
    if found.read_again:
        lines.append(f"{count(found.read_again, 'page')} would be read again from the kept body")
    if found.left:
        them = "it would stay as it is" if found.left == 1 else "they would stay as they are"
        lines.append(f"nothing is kept of {count(found.left, 'page')}: {them}")
    now = f"{found.model_now}, {found.dimension_now} numbers"
    then = f"{found.model}, {found.dimension} numbers"
    lines.append(f"model: {now}" if now == then else f"model: {now}; then: {then}")
    if found.seconds is None:
        lines.append("time: not known without embedding some at the endpoint: add --sample")
    else:
        how = f", measured by {count(found.sampled, 'text')}" if found.sampled else ""
        lines.append(f"time: about {ago(max(found.seconds, 1.0))}, without loading the model{how}")
    if found.cost is not None:
        lines.append(f"cost: about {found.cost:,.2f}")
    return "\n  ".join([*lines, "nothing was changed"])
