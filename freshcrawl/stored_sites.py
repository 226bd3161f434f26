"""Sites as their last runs had them: the tables that are kept in the state."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from freshcrawl.config import ConfigError
from freshcrawl.site_tables import check_policies, make_site
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from freshcrawl.config import Config
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState


class StoredTableError(StoreError):
    """The table that the last run of a site left cannot be used with this version or settings."""

    def __init__(self, problem: str, advice: str) -> None:
        super().__init__(f"{problem}; {advice}")
        self.problem = problem
        self.advice = advice


def stored_site(config: Config, state: SiteState, *, url: str = "") -> SiteConfig | None:
    """Return a site as its last run had it, None if no run has begun.

    ``url`` takes the place of the stored one where http and https were mixed up.

    Raises:
        StoredTableError: its table cannot be used any more.
        StoreError: the state cannot be read.
    """
    table = state.site_table()
    if table is None:
        return None
    place = f"state of {state.name}"
    try:
        site = make_site(table, place)
        if url and _is_mix_up(site, url):
            site = make_site({**table, "url": url}, place)
        check_policies(config, site, lambda key: place)
    except ConfigError as error:
        folder = config.state_path() / state.name
        advice = f"name the site in sites.toml as [sites.{state.name}], or delete {folder}"
        raise StoredTableError(str(error), advice) from None
    return site


def _is_mix_up(site: SiteConfig, url: str) -> bool:
    """Tell whether ``url`` may change the scheme: never to one that sends secrets in clear."""
    before, after = urlsplit(site.url).scheme, urlsplit(url).scheme
    guarded = bool(site.headers or site.http_user)
    return before != after and not (guarded and after == "http")
