"""``scrapy query TEXT``: the best passages, with their clocks."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.answers import Hit, has_answers, search
from freshcrawl.clock import make_clock
from freshcrawl.core.words import when
from freshcrawl.state import make_embedder
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    import argparse

    from freshcrawl.state import SiteState


LINK = re.compile(r"(?<!!)\[([^\]]*)\]\([^)\s]*\)")
WIDTH, LINES = 96, 14


class Command(ScrapyCommand):
    """Searches the published index of one or all sites."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] TEXT"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Search the index; every answer says when its source was last checked"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        parser.add_argument("-k", type=int, default=5, metavar="N", help="hits (default 5)")
        parser.add_argument(
            "--max-age",
            type=float,
            default=None,
            metavar="SECONDS",
            help="mark hits stale that were not checked for this long",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the hits."""
        cli.refuse_options(args)
        text = " ".join(args).strip()
        if not text:
            raise UsageError("give a question, such as: scrapy query 'how do I install it?'")
        if opts.k < 1:
            raise UsageError("-k must be at least 1")
        if opts.max_age is not None and not opts.max_age >= 0:  # nan is not, either
            raise UsageError("--max-age must be a number of seconds, 0 or more")
        self.exitcode = cli.guarded(lambda: self._query(text, opts))

    def _query(self, text: str, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        failed: list[int] = []
        states: list[SiteState] = []
        max_ages: dict[str, float] = {}
        try:
            for state, own in cli.opened_states(config, opts.site, failed):
                states.append(state)
                max_ages[state.name] = own.max_age_secs if opts.max_age is None else opts.max_age
            if failed and not states:
                return cli.worst(failed)
            if not states:
                raise StoreError("nothing is indexed yet: run scrapy crawl docs -a url=https://...")
            if not any(has_answers(state) for state in states):
                raise StoreError(
                    f"nothing is indexed yet of {', '.join(max_ages)}: see scrapy status"
                )
            now = make_clock(config.clock_offset_secs)()
            hits = search(states, make_embedder(config), text, opts.k, now=now, max_ages=max_ages)
        finally:
            for state in states:
                state.close()
        if opts.json:
            cli.print_json([hit.to_json() for hit in hits])
        else:
            print_hits(hits, now)
        return cli.worst(failed)


def print_hits(hits: list[Hit], now: float) -> None:
    """Print hits for reading."""
    if not hits:
        print("no passage found")
    for number, hit in enumerate(hits, 1):
        print(f"{number}. {' > '.join(hit.heading_path) or hit.title}  ({hit.score:.3f})")
        print(f"   {hit.link}")
        stale = "  STALE" if hit.stale else ""
        print(
            f"   checked {when(hit.last_checked, now)}, changed "
            f"{when(hit.last_changed, now)}, indexed {when(hit.indexed_at, now)}{stale}"
        )
        for line in excerpt(hit.text):
            print(f"   | {line}".rstrip())
        print()


def excerpt(markdown: str) -> list[str]:
    """Return the first lines of a passage for a terminal: wrapped, without link targets."""
    text = LINK.sub(r"\1", markdown)
    lines = [
        part
        for line in text.splitlines()
        for part in textwrap.wrap(line, WIDTH, drop_whitespace=False) or [""]
    ]
    if len(lines) <= LINES:
        return lines
    return [*lines[:LINES], f"[... {len(lines) - LINES} more lines; --json has them]"]
