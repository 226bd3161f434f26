"""``scrapy export --format jsonl``: every live chunk, one a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.answers import export_rows
from freshcrawl.clock import make_clock

if TYPE_CHECKING:
    import argparse

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Prints the published chunks."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Print every live chunk with its page and clocks"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.plain_errors(parser)
        parser.add_argument("--site", metavar="NAME", default="", help="only this site")
        parser.add_argument("--json", action="store_true", help="the same as --format jsonl")
        parser.add_argument("--format", choices=["jsonl"], default="jsonl", help="jsonl (default)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the chunks of the chosen sites."""
        cli.refuse_options(args, words=False)
        self.exitcode = cli.guarded(lambda: self._export(opts.site))

    def _export(self, site: str) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()

        def export(state: SiteState, own: Config) -> None:
            for row in export_rows(state, now=now, max_age=own.max_age_secs):
                print(json.dumps(row, ensure_ascii=False))

        return cli.each_state(config, site, export)[1]
