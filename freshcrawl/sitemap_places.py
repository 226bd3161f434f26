"""Where to look for the sitemaps of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.sitemaps import usual_places

if TYPE_CHECKING:
    from freshcrawl.sites import SiteConfig


def named_sitemaps(site: SiteConfig, from_robots: list[str]) -> list[str]:
    """Return the sitemaps that the operator names, else also those of robots.txt."""
    if site.sitemaps:
        return list(site.sitemaps)
    return [*([site.url] if site.url_is_sitemap else []), *from_robots]


def where_to_look(site: SiteConfig, named: list[str], known: list[str]) -> tuple[list[str], bool]:
    """Return where to look for sitemaps, and whether they are known to be there.

    ``named``: see ``named_sitemaps``; ``known``: those that earlier runs found.
    """
    roots = named if site.sitemaps else list(dict.fromkeys([*named, *known]))
    return (roots, True) if roots else (usual_places(site.scope.root), False)
