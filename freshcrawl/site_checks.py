"""Values of one site's table that cannot be meant together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.sites import SiteConfig


def contradictions(site: SiteConfig, table: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return pairs (key, problem) of values that cannot be meant together."""
    known = set(table)
    found = [
        (key, f"{key} has no effect: {why}")
        for key, useless, why in (
            ("urls", site.discovery != "list", f"discovery is {site.discovery!r}, not 'list'"),
            ("sitemaps", site.discovery in {"links", "list"}, f"discovery is {site.discovery!r}"),
            ("wait_for", site.render == "never", "render is 'never'"),
            ("http_pass", not site.http_user, "http_user is not given"),
        )
        if useless and getattr(site, key)
    ]
    if site.discovery == "list" and not site.urls:
        found.append(("discovery", "discovery = 'list' needs urls, the list of approved pages"))
    both = {name for name in site.headers if name.lower() == "authorization"}
    if site.http_user and both:
        found.append(("headers", "give http_user or a header Authorization, not both"))
    if site.render != "never" and (secret := [n for n, v in site.headers.items() if "${" in v]):
        found.append(
            (
                "headers",
                f"headers: {secret[0]} cannot be kept from other hosts that a browser is sent "
                "to: use http_user and http_pass, or render = 'never'",
            )
        )
    found += [
        ("keep_params", f"{name!r} is in keep_params and in drop_params")
        for name in site.keep_params
        if name in site.drop_params
    ]
    found += _outside(site)
    return [(key if key in known else "", problem) for key, problem in found]


def _outside(site: SiteConfig) -> list[tuple[str, str]]:
    """Return what is wrong with URLs that are not pages of the site."""
    found = []
    if not site.url_is_sitemap and not site.scope.contains(site.url):
        found.append(("root", f"root: {site.url} is not below {site.root}"))
    return found + [
        ("urls", f"urls: {url} is not below {site.scope.root}, or is kept out by allow or deny")
        for url in site.urls
        if site.key_of(url) is None
    ]
