"""Arguments of the spider (``-a NAME=VALUE``) and the site that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.config import Config, ConfigError, to_bool
from freshcrawl.core.scope import slug
from freshcrawl.credentials import variable_problems
from freshcrawl.site_tables import checked_url, make_site
from freshcrawl.sites_file import load_sites, place_of
from freshcrawl.state import open_for_reading, site_names
from freshcrawl.stored_sites import stored_site
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from freshcrawl.sites import SiteConfig

KNOWN = ("url", "site", "full", "dry_run")


@dataclass(frozen=True, slots=True)
class SpiderArguments:
    """What was asked for on the command line; neither ``url`` nor ``site`` means every due site."""

    url: str = ""
    site: str = ""
    full: bool = False
    dry_run: bool = False

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """Read spider arguments; names with a leading underscore are Scrapyd's own.

        Raises:
            ConfigError: an argument is unknown or has a value that cannot be used.
        """
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name.startswith("_"):
                continue
            if name not in KNOWN:
                raise ConfigError(f"unknown argument -a {name}=...; known: {', '.join(KNOWN)}")
            flag = name in {"full", "dry_run"}
            values[name] = to_bool(f"-a {name}", value) if flag else str(value).strip()
        if values.get("url") and values.get("site"):
            raise ConfigError("give -a url=... or -a site=..., not both")
        return cls(**values)

    def site_config(self, config: Config) -> SiteConfig:
        """Return the site that is named: from ``sites.toml``, the state, or the URL itself.

        Raises:
            ConfigError: no site is named, there is none of that name, or the environment
                lacks a credential of it.
            StoreError: the state of the site cannot be read.
        """
        site = self.named(config)
        for key, problem in variable_problems(site):
            raise ConfigError(f"{place_of(config, site.name)(key)} {key}: {problem}")
        return site

    def named(self, config: Config) -> SiteConfig:
        """Return the site that is named, whether or not its credentials are there.

        Raises:
            ConfigError: no site is named, or there is none of that name.
            StoreError: the state of the site cannot be read.
        """
        sites = load_sites(config)
        if self.url:
            try:
                url = checked_url(self.url)
            except ConfigError as error:
                raise ConfigError(f"-a url: {error}") from None
            return (
                _covering(sites.values(), url)
                or sites.get(slug(url))
                or _from_state(config, slug(url), url)
                or _covering(_readable(config), url)
                or make_site({"url": url}, "-a url")
            )
        if self.site in sites:
            return sites[self.site]
        if known := _from_state(config, self.site):
            return known
        names = ", ".join(sorted({*sites, *site_names(config)})) or "none yet"
        if not self.site:
            raise ConfigError(f"no site named: give -a url=https://... or -a site=NAME ({names})")
        raise ConfigError(f"unknown site {self.site!r}; known: {names}")


def known_sites(config: Config, broken: list[StoreError] | None = None) -> dict[str, SiteConfig]:
    """Return the sites by name: those of ``sites.toml``, then those that only have state.

    Raises:
        StoreError: the state of a site cannot be used; with ``broken`` it is added to that, and
            the site left out.
    """
    sites = load_sites(config)
    for name in site_names(config):
        try:
            if name not in sites and (site := _from_state(config, name)):
                sites[name] = site
        except StoreError as error:
            if broken is None:
                raise
            broken.append(error)
    return sites


def _readable(config: Config) -> Iterator[SiteConfig]:
    """Yield the sites that have state; one whose state is damaged is no reason to stop another."""
    for name in site_names(config):
        try:
            site = _from_state(config, name)
        except StoreError:
            continue
        if site is not None:
            yield site


def _covering(sites: Iterable[SiteConfig], url: str) -> SiteConfig | None:
    """Return the site of ``sites.toml`` that ``url`` is a page of, the narrowest if several are."""
    covering = [site for site in sites if site.scope.contains(url)]
    return max(covering, key=lambda site: len(site.scope.prefix), default=None)


def _from_state(config: Config, name: str, url: str = "") -> SiteConfig | None:
    """Return a site as its last run had it; the state of other sites is not touched.

    ``url`` takes the place of the old one where http and https were mixed up.
    """
    if name not in site_names(config):
        return None
    state = open_for_reading(config, name)
    try:
        return stored_site(config, state, url=url)
    finally:
        state.close()
