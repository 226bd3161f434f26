"""``scrapy due``: which pages the next run would check, soonest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.core.report import iso
from freshcrawl.core.schedule import due_at, is_due
from freshcrawl.core.words import ago, when
from freshcrawl.policies import schedule_policy

if TYPE_CHECKING:
    import argparse

    from freshcrawl.core.schedule import SchedulePolicy
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Lists pages by the time of their next check."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def short_desc(self) -> str:
        """Return what the command does."""
        return "List the pages that are due, and when the others will be"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        parser.add_argument("--all", action="store_true", help="also pages that are not due yet")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the queue."""
        cli.refuse_options(args, words=False)
        self.exitcode = cli.guarded(lambda: self._due(opts))

    def _due(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        waiting = cli.never_crawled(config, opts.site)
        queues, code = ([], cli.OK) if opts.site and waiting else cli.each_state(
            config, opts.site, lambda state, own: queue(state, now, schedule_policy(own))
        )  # fmt: skip
        rows = [row for rows in queues for row in rows if row["due"] or opts.all]
        rows.sort(key=lambda row: (row["next_due"] or "", row["key"]))
        if opts.json:
            cli.print_json(rows)
        else:
            print_queue(rows, [site.name for site in waiting], now)
        return code


def queue(state: SiteState, now: float, policy: SchedulePolicy) -> list[dict[str, Any]]:
    """Return a row for each page of a site that is asked for."""
    staged = {entry.key: entry for entry in state.staged()}
    return [
        {
            "site": state.name,
            "key": record.key,
            "url": record.url,
            "status": record.status,
            "due": is_due(record, staged.get(record.key), policy, now),
            "next_due": iso(due_at(record, staged.get(record.key), policy)),
            "interval_s": record.interval,
            "last_checked": iso(record.last_checked),
        }
        for record in state.pages().values()
        if not record.left_out
    ]


def print_queue(rows: list[dict[str, Any]], waiting: list[str], now: float) -> None:
    """Print the queue for reading, and the sites that were never crawled."""
    if not rows and not waiting:
        print("nothing is due")
    for row in rows:
        due = "due now" if row["due"] else when(row["next_due"], now)
        every = f"every {ago(row['interval_s'])}" if row["interval_s"] else "first check"
        print(f"{due:<36} {every:<12} {row['status']:<8} {row['url']}")
    for name in waiting:
        print(f"{name} is not crawled yet: scrapy crawl docs -a site={name}")
