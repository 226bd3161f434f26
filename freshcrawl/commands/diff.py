"""``scrapy diff URL``: how two versions of a page differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.page_history import diff

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    """Prints a unified diff of the Markdown of two versions of a page."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] URL"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Show how two published versions of a page differ, or what waits"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        for name, dest, words in (
            ("--from", "old", "the version of this generation"),
            ("--to", "new", "with the version of this one"),
        ):
            parser.add_argument(name, dest=dest, metavar="G", type=int, help=words)
        parser.add_argument(
            "--staged", action="store_true", help="the current version with what waits"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the difference."""
        cli.refuse_options(args)
        if len(args) != 1:
            raise UsageError("give one URL")
        if opts.staged and not (opts.old is None and opts.new is None):
            raise UsageError("--staged compares with the current version: leave --from and --to")
        self.exitcode = cli.guarded(lambda: self._diff(args[0], opts))

    def _diff(self, url: str, opts: argparse.Namespace) -> int:
        found, code = cli.each_state(
            cli.config_of(self.settings),
            opts.site,
            lambda state, own: diff(state, url, opts.old, opts.new, staged=opts.staged),
        )
        pages = [page for page in found if page is not None]
        if opts.json:
            cli.print_json(pages)
        for page in [] if opts.json else pages:
            print("\n".join(page["diff"]) or _same(page))
        return code if pages else cli.unknown_page(url, code)


def _same(page: dict[str, Any]) -> str:
    return f"{page['key']}: the two texts are equal"
