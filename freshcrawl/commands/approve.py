"""``scrapy approve``: publish what guards hold, at once and without a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.approving import approve
from freshcrawl.decisions import ARGUMENTS, add_options, check_arguments, decide
from freshcrawl.state import make_embedder

if TYPE_CHECKING:
    import argparse

    from freshcrawl.approving import Choice, Decided
    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Publishes held work at once."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return ARGUMENTS

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Publish what guards hold, at once and without a crawl"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        add_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Decide on all that is held, or on some classes and pages."""
        check_arguments(args)

        def work(state: SiteState, own: Config, choice: Choice, clock: Clock) -> Decided:
            return approve(state, own, lambda: make_embedder(own), choice, clock)

        self.exitcode = cli.guarded(
            lambda: decide(cli.config_of(self.settings), args, opts, "approve", work)
        )
