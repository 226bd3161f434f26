"""``scrapy doctor``: whether this machine and the sites are fit for a crawl; changes nothing."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.doctor import (
    Check,
    Level,
    attempt,
    conclusion,
    exit_code,
    fail,
    of_site,
    ok,
    one_line,
)
from freshcrawl.doctor.configuration import (
    Target,
    credential_checks,
    setting_checks,
    settings_check,
    sites_check,
    state_names,
    targets,
)
from freshcrawl.doctor.machine import browser_check, model_check, state_folder_checks
from freshcrawl.doctor.packages import BROWSER, package_checks, python_check, unused_packages
from freshcrawl.doctor.probe import ProbeSpider
from freshcrawl.doctor.sites import site_checks
from freshcrawl.doctor.state import known_sitemaps, state_checks
from freshcrawl.site_tables import checked_url
from freshcrawl.state import make_embedder

if TYPE_CHECKING:
    import argparse
    import asyncio
    from collections.abc import Iterable

    from scrapy.crawler import Crawler

    from freshcrawl.config import Config
    from freshcrawl.sites import SiteConfig
    from freshcrawl.stores.base import Embedder


class Sheet:
    """All checks so far; each is printed at once, as some take a while, or all as JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self.checks: list[Check] = []
        self._json = as_json

    def add(self, checks: Iterable[Check]) -> None:
        """Take checks and print them."""
        for check in checks:
            self.checks.append(check)
            for line in [] if self._json else check.lines():
                print(line, flush=True)

    def end(self) -> int:
        """Print what is left to print; return the exit code."""
        if self._json:
            cli.print_json({"checks": [check.to_json() for check in self.checks]})
        else:
            print(conclusion(self.checks))
        return exit_code(self.checks)


class Command(ScrapyCommand):
    """Looks at configuration, packages, model, browser, state and sites."""

    requires_project = True
    requires_crawler_process = True
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] [URL ...]"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Check the machine, the settings and the sites; give advice, change nothing"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        parser.add_argument(
            "--no-model", action="store_true", help="do not load or ask the embedding model"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the checks."""
        cli.refuse_options(args)
        if args and opts.site:
            raise UsageError("give URLs or --site NAME, not both")
        self.exitcode = cli.guarded(lambda: self._examine(args, opts))
        if self.exitcode == cli.INTERRUPTED:
            print("freshcrawl: stopped before all was checked", file=sys.stderr)

    def _examine(self, args: list[str], opts: argparse.Namespace) -> int:
        if self.settings is None or self.crawler_process is None:
            raise UsageError("scrapy doctor runs inside a Scrapy project only")
        urls = [checked_url(url) for url in args]
        sheet = Sheet(as_json=opts.json)
        read, config = settings_check(self.settings)
        if config is None:
            sheet.add([python_check(), read, *package_checks(BROWSER)])
            return sheet.end()
        listed = sites_check(config)
        names, unread = state_names(config)
        if listed.level == Level.FAIL:
            # Without the list it is not known what a site is: what its folder holds still is.
            meant = [Target(name) for name in names if opts.site in {"", name}]
            wrong: list[Check] = []
        else:
            meant, wrong = targets(config, urls, opts.site)
        sites = [target.site for target in meant if target.site]
        sheet.add([python_check(), read, listed])
        sheet.add(setting_checks(self.settings, config, sites, os.environ))
        sheet.add(package_checks(unused_packages(config, sites)))
        folder = attempt("state", lambda: state_folder_checks(config.state_path()))
        sheet.add(folder if exit_code(folder) else [*unread, *folder])
        model = self._model(sheet, config, load=not opts.no_model)
        has_browser = _browser(sheet, sites)
        sheet.add(wrong)
        for target in [] if unread else meant:
            self._state(sheet, config, target, model)
        for site in sites:
            sheet.add(of_site(site.name, credential_checks(site)))
        sites = [site for site in sites if not credential_checks(site)]
        if not meant and not unread:
            advice = "before the first crawl of a site: scrapy doctor https://docs.example.com/"
            sheet.add([ok("sites", "none is known yet", advice)])
        for name, checks in self._ask(config, sites, browser=has_browser):
            sheet.add(of_site(name, checks))
        return sheet.end()

    def _model(self, sheet: Sheet, config: Config, *, load: bool) -> str:
        """Check the model; return its identity, empty if it is not found."""
        made: list[Embedder] = []
        if config.embed_apart:
            sheet.add([ok("model", "embedding is left to scrapy embed (FRESHCRAWL_EMBED_APART)")])
            return ""

        def check() -> list[Check]:
            made.append(make_embedder(config))
            return [model_check(made[0], load=load)]

        sheet.add(attempt("model", check))
        return made[0].model if made else ""

    def _state(self, sheet: Sheet, config: Config, target: Target, model: str) -> None:
        checks = attempt("files", lambda: state_checks(config, target.name, model))
        sheet.add(of_site(target.name, checks))

    def _ask(
        self, config: Config, sites: list[SiteConfig], *, browser: bool
    ) -> list[tuple[str, list[Check]]]:
        """Ask all sites at the same time; return what is to say of each.

        Raises:
            KeyboardInterrupt: a signal ended it.
        """
        jobs: list[tuple[SiteConfig, Crawler, Any]] = []
        if self.crawler_process is None or not sites:
            return []
        for site in sites:
            crawler = self.crawler_process.create_crawler(ProbeSpider)
            known = known_sitemaps(config, site.name)
            task = self.crawler_process.crawl(crawler, target=site, known=known, browser=browser)
            jobs.append((site, crawler, task))
        self.crawler_process.start()
        if any(getattr(crawler.spider, "stopped", False) for _, crawler, _ in jobs):
            raise KeyboardInterrupt
        return [(site.name, _judged(crawler, task)) for site, crawler, task in jobs]


def _browser(sheet: Sheet, sites: list[SiteConfig]) -> bool:
    """Check the browser if a site needs it; tell whether pages can be rendered."""
    if all(site.render == "never" for site in sites):
        return True
    checks = attempt("browser", lambda: [browser_check()])
    sheet.add(checks)
    return exit_code(checks) == cli.OK


def _judged(crawler: Crawler, task: asyncio.Task[None]) -> list[Check]:
    """Judge what a site answered, or say why it could not be asked."""
    error = task.exception() if task.done() and not task.cancelled() else None
    spider = crawler.spider
    if error is not None or not isinstance(spider, ProbeSpider):
        what = f"the site could not be asked ({one_line(error) if error else 'stopped'})"
        return [fail("connection", what, "see the checks above")]
    return attempt("site", lambda: site_checks(spider.findings))
