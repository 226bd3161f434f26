"""Which sites a crawl is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.arguments import SpiderArguments, known_sites
from freshcrawl.clock import make_clock
from freshcrawl.config import Config, ConfigError
from freshcrawl.core.schedule import needs_run
from freshcrawl.policies import schedule_policy
from freshcrawl.state import open_for_reading, site_names
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from freshcrawl.sites import SiteConfig

RETRY_SECS = 900.0
"""Seconds after which a site whose last run was not complete is read again."""


def sites_to_crawl(
    config: Config, arguments: SpiderArguments, broken: list[StoreError]
) -> list[SiteConfig]:
    """Return the site that is named, or every site with something due, by name.

    Sites whose state cannot be read do not stop the others: what is wrong is added to ``broken``.

    Raises:
        ConfigError: no site is known, or the named one is not.
    """
    if arguments.url or arguments.site:
        return [arguments.site_config(config)]
    sites = known_sites(config, broken)
    if not sites and not broken:
        raise ConfigError("no site is known yet: give -a url=https://docs.example.com/")
    due = []
    for _, site in sorted(sites.items()):
        try:
            if arguments.full or site_is_due(config.for_site(site.policies), site):
                due.append(site)
        except StoreError as error:
            broken.append(error)
    return due


def site_is_due(config: Config, site: SiteConfig) -> bool:
    """Tell whether a site was never crawled, or has another table, or something due.

    That is a page, staged work or discovery. ``config`` has the settings of the site.
    """
    if site.name not in site_names(config):
        return True
    now = make_clock(config.clock_offset_secs)()
    state = open_for_reading(config, site.name)
    try:
        reports = state.reports()
        if not reports or state.site_table() != site.to_json():
            return True
        wait = config.discovery_interval_secs if reports[-1].complete else RETRY_SECS
        if now - reports[-1].started_at >= wait:
            return True
        policy = schedule_policy(config)
        staged = {entry.key: entry for entry in state.staged()}
        waiting = any(not entry.held for entry in staged.values())
        return waiting or any(
            needs_run(record, staged.get(key), policy, now) for key, record in state.pages().items()
        )
    finally:
        state.close()


def same_site(config: Config, site: SiteConfig) -> str:
    """Return under which other name the pages of a site without state are known; "" for none."""
    if site.name in site_names(config):
        return ""
    broken: list[StoreError] = []
    wanted = (site.scope.host, site.scope.prefix)
    found = (
        name
        for name, other in known_sites(config, broken).items()
        if name in site_names(config) and (other.scope.host, other.scope.prefix) == wanted
    )
    return next(found, "")
