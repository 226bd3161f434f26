"""``scrapy rollback``: go back to an earlier generation, or end that; or list what there is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.core.rollback import release_command
from freshcrawl.core.words import count, when
from freshcrawl.rollback import generations, release, roll_back
from freshcrawl.state import make_embedder

if TYPE_CHECKING:
    import argparse

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Publishes an earlier generation again until it is released."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] [GENERATION]"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Go back to an earlier generation, release it, or list those that are kept"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        parser.add_argument(
            "--release", action="store_true", help="let crawls publish again after a rollback"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Go back, release, or list."""
        cli.refuse_options(args)
        if len(args) > 1 or (args and opts.release):
            raise UsageError("give one generation, or --release")
        if args and not (args[0].isascii() and args[0].isdecimal()):
            raise UsageError(f"{args[0]!r} is not the number of a generation")
        work = self._list
        if opts.release:
            work = self._release
        elif args:
            self._number = int(args[0])
            work = self._roll_back
        self.exitcode = cli.guarded(lambda: work(opts))

    def _list(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        sites, code = cli.each_state(config, opts.site, lambda state, own: generations(state))
        if opts.json:
            cli.print_json({"sites": sites})
        for site in [] if opts.json else sites:
            print("\n".join(_lines(site, now)))
        if not (sites or opts.json) and code == cli.OK:
            print(f"no site yet in {config.state_path()}")
        return code

    def _roll_back(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()

        def work(state: SiteState, own: Config) -> dict[str, Any]:
            done = roll_back(state, own, lambda: make_embedder(own), self._number, now)
            return asdict(done)

        done = cli.with_writer(config, cli.one_site(config, opts.site), "rollback", now, work)
        if opts.json:
            cli.print_json({"sites": [done]})
            return cli.OK
        pages, chunks = count(done["pages"], "page"), count(done["chunks"], "passage")
        differ = f"{count(done['differing'], 'page')} published otherwise than before"
        print(
            f"{done['site']}: generation {done['generation']} is generation {done['of']} again "
            f"({pages}, {chunks}); {differ}, due at once"
        )
        print(f"crawls publish nothing until {release_command(done['site'])}")
        return cli.OK

    def _release(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        site = cli.one_site(config, opts.site)
        due = cli.with_writer(config, site, "rollback", now, lambda state, own: release(state, now))
        if opts.json:
            cli.print_json({"sites": [{"site": site, "due": due}]})
        else:
            words = f"the next crawl publishes again; {count(due, 'page')} due"
            print(f"{site}: {words}: scrapy crawl docs -a site={site}")
        return cli.OK


def _lines(site: dict[str, Any], now: float) -> list[str]:
    """Return the generations of a site for reading, one a line."""
    lines = [site["site"]]
    for row in site["generations"]:
        marks = ["current"] if row["current"] else []
        if row["rolled_back_to"] is not None:
            marks.append(f"generation {row['rolled_back_to']} again")
        if row["current"] and site["pinned"] is not None:
            marks.append("pinned")
        size = f"{count(row['pages'], 'page')}, {count(row['chunks'], 'passage')}"
        told = f"{when(row['published_at'], now)}, {size}, {row['run_id']}"
        mark = f"  ({', '.join(marks)})" if marks else ""
        lines.append(f"  generation {row['generation']}: {told}{mark}")
    if not site["generations"]:
        lines.append("  nothing is published yet")
    if site["release"]:
        lines.append(f"  pinned until {site['release']}")
    return lines
