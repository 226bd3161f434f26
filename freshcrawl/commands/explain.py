"""``scrapy explain URL``: what is known of a page, in words."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.arguments import known_sites
from freshcrawl.clock import make_clock
from freshcrawl.config import ConfigError
from freshcrawl.core.urls import url_key
from freshcrawl.explanation import GIVE, explain, page_lines
from freshcrawl.policies import noise_rules, schedule_policy
from freshcrawl.state import open_for_reading
from freshcrawl.unknown_pages import why_unknown

if TYPE_CHECKING:
    import argparse

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Shows one page: status and why, sources, clocks, schedule, published text."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] URL"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Explain a page: status, evidence, clocks, schedule, what is published"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the explanation."""
        cli.refuse_options(args)
        if len(args) != 1:
            raise UsageError("give one URL")
        self.exitcode = cli.guarded(lambda: self._explain(args[0], opts))

    def _explain(self, url: str, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        waiting = cli.never_crawled(config, opts.site)
        pages, code = ([], cli.OK) if opts.site and waiting else cli.each_state(
            config, opts.site, lambda state, own: _explained(state, url, now, own)
        )  # fmt: skip
        found = [page for page in pages if page is not None]
        if opts.json:
            cli.print_json(found)
        for page in [] if opts.json else found:
            print("\n".join(page_lines(page, now)))
        if not found and code == cli.OK:
            reason = unknown(config, url, opts.site)
            print(f"freshcrawl: {url} is not known to any site: {reason}", file=sys.stderr)
        return code if found else cli.ERROR


def _explained(state: SiteState, url: str, now: float, config: Config) -> dict[str, Any] | None:
    expiry = noise_rules(config).expiry
    return explain(state, url, now, schedule_policy(config), expiry)


def unknown(config: Config, url: str, only: str) -> str:
    """Return why a URL is not known to any site, or to the only one that is asked.

    Raises:
        ConfigError: it is not the URL of a page.
    """
    try:
        url_key(url)
    except ValueError as error:
        raise ConfigError(f"{error}; {GIVE}") from None
    sites = {name: site for name, site in known_sites(config, []).items() if only in {"", name}}
    with ExitStack() as opened:
        states = {}
        for name in set(cli.chosen_sites(config, "")) & sites.keys():
            states[name] = open_for_reading(config, name)
            opened.callback(states[name].close)
        return why_unknown(url, sites, states)
