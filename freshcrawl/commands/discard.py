"""``scrapy discard``: drop what guards hold: the pages stay as they are published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.approving import discard
from freshcrawl.decisions import ARGUMENTS, add_options, check_arguments, decide

if TYPE_CHECKING:
    import argparse

    from freshcrawl.approving import Choice, Decided
    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Drops held work for good."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return ARGUMENTS

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Drop what guards hold: the pages stay as they are published"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        add_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Decide on all that is held, or on some classes and pages."""
        check_arguments(args)

        def work(state: SiteState, own: Config, choice: Choice, clock: Clock) -> Decided:
            return discard(state, choice, clock)

        self.exitcode = cli.guarded(
            lambda: decide(cli.config_of(self.settings), args, opts, "discard", work)
        )
