"""Why no site knows a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState


def why_unknown(url: str, sites: Mapping[str, SiteConfig], states: Mapping[str, SiteState]) -> str:
    """Return why no site knows a URL.

    Args:
        url: the URL that was asked for.
        sites: the sites to consider, by name.
        states: the opened states of those that were crawled.
    """
    covering = [site for _, site in sorted(sites.items()) if site.scope.contains(url)]
    if not sites:
        return "there is none yet: run scrapy crawl docs -a url=https://docs.example.com/"
    if not covering:
        roots = ", ".join(f"{name} ({site.scope.root})" for name, site in sorted(sites.items()))
        return f"it is below none of {roots}"
    site = max(covering, key=lambda site: len(site.scope.prefix))
    why = "its allow, deny or urls in sites.toml leave it out"
    if site.key_of(url) is not None:
        why = _why_not(site, states.get(site.name))
    return f"it would be a page of {site.name}, but {why}"


def _why_not(site: SiteConfig, state: SiteState | None) -> str:
    reports = state.reports() if state else []
    if state is None or not reports:
        return f"that is not crawled yet: scrapy crawl docs -a site={site.name}"
    kinds = {source.kind for source in state.sources()}
    if reports[-1].incomplete_reasons:
        return (
            f"its last run did not see the whole site: {'; '.join(reports[-1].incomplete_reasons)}"
        )
    if "page" in kinds or "start" in kinds:
        return "no page that was read links to it"
    return 'its sitemaps do not list it, and links are followed only with discovery = "links"'
