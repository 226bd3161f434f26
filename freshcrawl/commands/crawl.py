"""``scrapy crawl``: as Scrapy's own, but ``docs`` without a site runs every due one."""

from __future__ import annotations

import argparse
import logging
import signal
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyHelpFormatter
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from freshcrawl import cli, console
from freshcrawl.arguments import SpiderArguments
from freshcrawl.config import ConfigError
from freshcrawl.core.scope import Scope
from freshcrawl.crawls import Crawls
from freshcrawl.extensions import get_extension
from freshcrawl.selection import same_site, sites_to_crawl
from freshcrawl.stores.advice import in_one_line
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    import asyncio

    from scrapy.crawler import Crawler

    from freshcrawl.console import StatusLine
    from freshcrawl.core.report import RunReport

logger = logging.getLogger(__name__)

SPIDER = "docs"
ARGUMENTS = """\
Arguments of docs:
  -a url=URL        the site to refresh: its root, a page of it, or its sitemap
  -a site=NAME      a known site, by its name in `scrapy status` or sites.toml
  -a full=1         treat every page as due
  -a dry_run=1      ask and compare, but store nothing
Without url or site, every known site with something due is refreshed.
"""


class _HelpFormatter(argparse.RawDescriptionHelpFormatter, ScrapyHelpFormatter):
    """Scrapy's format, with the lines of the epilog as they are."""


class Command(CrawlCommand):
    """One Crawler a site; the exit code is that of the site with the most serious outcome."""

    _line: StatusLine | None = None
    """The line that redraws, if stderr is a terminal and nobody wants Scrapy's own log."""
    _crawls: Crawls | None = None

    def short_desc(self) -> str:
        """Return what the command does, for the list of commands."""
        return "Run a spider; 'docs' without -a url or -a site refreshes every due site"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of Scrapy's own command; errors are one line."""
        super().add_options(parser)
        cli.plain_errors(parser)
        parser.epilog = ARGUMENTS
        parser.formatter_class = _HelpFormatter

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take the options; keep Scrapy's own messages off the console unless they are asked for.

        Here, as Scrapy writes the first of them before it calls ``run``.
        """
        super().process_options(args, opts)
        if self.settings is not None and console.is_for_reading(self.settings):
            others = set(get_spider_loader(self.settings).list()) - {SPIDER}
            if not others.intersection(args[:1]):
                self._line = console.set_up(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the crawl and set the exit code."""
        if args[:1] != [SPIDER]:
            self._run_other(args, opts)
            return
        cli.refuse_options(args[1:], words=False)
        self.exitcode = cli.guarded(lambda: self._logged(opts.spargs))
        if self._crawls is not None:
            for signum in (signal.SIGINT, signal.SIGTERM):
                signal.signal(signum, signal.SIG_IGN)  # all is done: the exit code must tell
            if self._crawls.cut_off:
                cli.leave(self.exitcode)

    def _run_other(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run another spider of the project, as Scrapy's own command does.

        Raises:
            UsageError: there is no such spider.
        """
        if len(args) == 1 and self.crawler_process is not None:
            known = self.crawler_process.spider_loader.list()
            if args[0] not in known:
                raise UsageError(f"no spider {args[0]!r}; known: {', '.join(known)}")
        elif not args:
            raise UsageError("no spider is named: scrapy crawl docs -a url=https://...")
        super().run(args, opts)

    def _logged(self, given: dict[str, Any]) -> int:
        try:
            return self._crawl(given)
        except (ConfigError, StoreError, OSError, MemoryError) as error:
            self._to_log_file(error)
            raise

    def _to_log_file(self, error: BaseException) -> None:
        """Log an error where only the log file is shown, as by Scrapyd; else stderr has it."""
        if self.settings is not None and self.settings["LOG_FILE"]:
            logger.error("%(error)s", {"error": in_one_line(error)})

    def _crawl(self, given: dict[str, Any]) -> int:
        config = cli.config_of(self.settings)
        arguments = SpiderArguments.parse(given)
        if not config.enabled:
            raise ConfigError("FRESHCRAWL_ENABLED is false: nothing would be kept")
        broken: list[StoreError] = []
        sites = sites_to_crawl(config, arguments, broken)
        codes = [cli.report_error(error) for error in broken]
        if not sites:
            print("nothing is due")
            return cli.worst(codes)
        if arguments.url and Scope.from_url(arguments.url).prefix != sites[0].scope.prefix:
            words = "%(url)s is a page of the site %(name)s (%(root)s): all of it is refreshed"
            values = {"name": sites[0].name, "root": sites[0].scope.root}
            logger.info(words, {"url": arguments.url, **values})
        for site in sites:
            if twin := same_site(config, site):
                words = (
                    "%(new)s is in the state as %(old)s: rename the folder %(folder)s to keep it"
                )
                folder = config.state_path() / twin
                logger.warning(words, {"new": site.name, "old": twin, "folder": folder})
        rest = {name: value for name, value in given.items() if name not in {"url", "site"}}
        if self.crawler_process is None:
            raise ConfigError("scrapy crawl needs a crawler process")
        self._crawls = crawls = Crawls(self.crawler_process, SPIDER)
        for site in sites:
            crawls.add(**rest, **({"url": arguments.url} if arguments.url else {"site": site.name}))
        crawls.run(config.progress_secs, self._line)
        codes += [self._exit_code(crawler, task) for crawler, task in crawls.jobs]
        return cli.worst(codes)

    def _exit_code(self, crawler: Crawler, task: asyncio.Task[None]) -> int:
        error = task.exception() if task.done() and not task.cancelled() else None
        if isinstance(error, (ConfigError, StoreError, OSError, MemoryError)):
            self._to_log_file(error)
            return cli.report_error(error)
        if error is not None:
            logger.error("the crawl could not start", exc_info=error)
            return cli.ERROR
        extension = get_extension(crawler)
        if extension is None:
            # Stopped before it began; else the project has disabled it.
            return cli.ERROR if task.done() else cli.INCOMPLETE
        return report_exit_code(extension.run.report)


def report_exit_code(report: RunReport) -> int:
    """Return the exit code that a finished run's report stands for."""
    if report.status != "ok":
        return cli.ERROR
    if report.held or report.pinned:
        return cli.HELD
    return cli.INCOMPLETE if report.incomplete_reasons else cli.OK
