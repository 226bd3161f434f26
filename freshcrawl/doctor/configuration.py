"""Settings, sites.toml, and which sites are meant."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from freshcrawl.addon import FreshcrawlAddon
from freshcrawl.alerts.webhook import webhook_of
from freshcrawl.arguments import SpiderArguments
from freshcrawl.config import PREFIX, Config, ConfigError
from freshcrawl.core.scope import slug
from freshcrawl.credentials import variable_problems
from freshcrawl.doctor import Check, fail, of_site, ok, warn
from freshcrawl.site_tables import make_site
from freshcrawl.sites_file import load_sites
from freshcrawl.spiders.docs import LOOPBACK
from freshcrawl.state import site_names
from freshcrawl.stored_sites import StoredTableError
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy.settings import BaseSettings

    from freshcrawl.sites import SiteConfig

LIFTED = {
    "guard_removed_ratio": "no removal is held, not even of all pages, nor for a person to decide",
    "guard_changed_ratio": "no change of text is held, not even of all pages",
    "guard_failed_ratio": "pages leave by runs in which most of the others fail, too",
}
"""What it means that a guard is lifted, by its setting."""
ADDON = f"{FreshcrawlAddon.__module__}.{FreshcrawlAddon.__qualname__}"


@dataclass(frozen=True, slots=True)
class Target:
    """A site to look at; ``site`` is None where only its state folder is known."""

    name: str
    site: SiteConfig | None = None


def settings_check(settings: BaseSettings) -> tuple[Check, Config | None]:
    """Read the settings; the second value is None if they cannot be used."""
    try:
        config = Config.from_settings(settings)
        folder = config.state_path()
        webhook_of(config)
    except ConfigError as error:
        return fail("settings", str(error), "see docs/settings.md"), None
    return ok("settings", f"can be used; the state folder is {folder}"), config


def sites_check(config: Config) -> Check:
    """Read sites.toml."""
    try:
        path, sites = config.sites_path(), load_sites(config)
    except ConfigError as error:
        return fail("sites.toml", str(error), "see docs/sites.md")
    if path is None:
        return ok("sites.toml", "there is none: each site is known by its URL alone")
    names = ", ".join(sites) or "no site"
    return ok("sites.toml", f"{path} names {names}")


def setting_checks(
    settings: BaseSettings, config: Config, sites: Iterable[SiteConfig], env: Mapping[str, str]
) -> list[Check]:
    """Warn of settings that can be used, and yet will not do what is wanted."""
    found = [
        (
            not config.enabled,
            f"{PREFIX}ENABLED is false",
            "set it to true: without it no crawl keeps anything",
        ),
        (
            not _has_addon(settings),
            "the add-on is not in ADDONS, so that no crawl keeps anything",
            f'add to the settings: ADDONS = {{"{ADDON}": 500}}',
        ),
        (
            bool(settings["JOBDIR"]),
            "JOBDIR is set: its list of seen requests hides every page from the next run",
            "leave it unset: a run that was stopped goes on by itself",
        ),
        (
            settings.getbool("HTTPCACHE_ENABLED"),
            "HTTPCACHE_ENABLED is set: Scrapy's cache answers instead of the site",
            "set it to false",
        ),
        (
            not settings.getbool("ROBOTSTXT_OBEY"),
            "ROBOTSTXT_OBEY is off: robots.txt, and the sitemaps that it names, are not read",
            "set it to true",
        ),
        (
            not config.contact and any(_is_public(site) for site in sites),
            f"{PREFIX}CONTACT is empty: the people who run a site cannot reach you",
            f"set it to your address, for instance: export {PREFIX}CONTACT=you@example.com",
        ),
        *(
            (
                True,
                f"{name} of the environment is not used: the settings say {settings[name]!r}",
                "change it there, or take it out of the environment",
            )
            for name in _shadowed(settings, env)
        ),
        *(
            (
                True,
                f"{where} lets long pages differ in {bits:g} bits of their simhash: most small "
                "edits of their prose, a 'not' too, are then not published",
                "better name the text that changes by itself, with volatile_patterns or drop, "
                "and set it to 0",
            )
            for where, bits in _given(config, sites, "simhash_max_bits")
            if bits
        ),
        *(
            (True, f"{where} is 1: {what}", "set it to 1 for one run only, with -s")
            for name, what in LIFTED.items()
            for where, share in _given(config, sites, name)
            if share >= 1
        ),
    ]
    return [warn("settings", what, advice) for holds, what, advice in found if holds]


def _has_addon(settings: BaseSettings) -> bool:
    addons = settings.getdict("ADDONS")
    return any(addons.get(name) is not None for name in (ADDON, FreshcrawlAddon))


def _is_public(site: SiteConfig) -> bool:
    return urlsplit(site.url).hostname not in LOOPBACK


def _shadowed(settings: BaseSettings, env: Mapping[str, str] = os.environ) -> list[str]:
    """Return our settings in the environment that have another value in the settings."""
    ours = sorted(name for name in env if name.startswith(PREFIX) and name in settings)
    return [name for name in ours if str(settings[name]) != env[name]]


def _given(config: Config, sites: Iterable[SiteConfig], name: str) -> list[tuple[str, float]]:
    """Return where a number is given, by words, and the number: for all sites, or for one."""
    found = [(f"{name} of site {s.name}", s.policies[name]) for s in sites if name in s.policies]
    return [(f"{PREFIX}{name.upper()}", float(getattr(config, name))), *found]


def state_names(config: Config) -> tuple[list[str], list[Check]]:
    """Return the names of the sites with state, and what is wrong if they cannot be read."""
    try:
        return site_names(config), []
    except StoreError as error:
        what, _, advice = str(error).partition(": run as")
        return [], [fail("state", what, f"run as{advice}")]


def targets(config: Config, urls: Sequence[str], name: str) -> tuple[list[Target], list[Check]]:
    """Return the sites that are meant, each once, and what is wrong with those not to be read.

    Args:
        config: settings whose sites.toml can be read.
        urls: URLs to look at; one that is no known site is looked at as a new one.
        name: name of a site; with neither, all of sites.toml and those with state are meant.

    Raises:
        ConfigError: there is no such site, or a URL cannot be crawled.
    """
    names, unread = state_names(config)
    known = {*load_sites(config), *names}
    if name and name not in known and not unread:
        SpiderArguments(site=name).named(config)  # raises, and says what is known
    found: dict[str, Target] = {}
    checks: list[Check] = []
    for url in urls:
        target = _of_url(config, url)
        found.setdefault(target.name, target)
    for each in [] if urls else [name] if name else sorted(known):
        try:
            found[each] = Target(each, SpiderArguments(site=each).named(config))
        except StoredTableError as error:
            found[each] = Target(each)
            checks += of_site(each, [fail("files", error.problem, error.advice)])
        except StoreError:  # what is wrong with the files is found when they are looked at
            found[each] = Target(each)
    return list(found.values()), checks


def credential_checks(site: SiteConfig) -> list[Check]:
    """Say which credentials of a site the environment does not have."""
    advice = "export it before a crawl; until then the site is not asked for anything"
    return [
        fail("credentials", f"{key}: {problem}", advice) for key, problem in variable_problems(site)
    ]


def _of_url(config: Config, url: str) -> Target:
    try:
        site = SpiderArguments(url=url).named(config)
    except StoreError:
        site = make_site({"url": url}, "URL")
        return Target(slug(site.url), site)
    return Target(site.name, site)
