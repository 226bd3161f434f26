"""A site: one documentation source, its scope and its own policies."""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from freshcrawl.core.scope import Scope
from freshcrawl.core.urls import UrlRules, normalize_url, url_key

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_URL = 2_000
"""Longest URL that can be a page; Scrapy drops longer ones without a word."""
SITEMAP_ENDINGS = (".xml", ".xml.gz", ".txt", ".gz")
"""How the path of a ``url`` ends that is a sitemap and no page."""
POLICIES = (
    *("discovery_interval_secs", "guard_changed_min", "guard_changed_ratio"),
    *("guard_confirm_hours", "guard_confirm_runs", "guard_failed_min", "guard_failed_ratio"),
    *("guard_removed_min", "guard_removed_ratio"),
    *("max_age_secs", "max_interval_secs", "max_pages", "min_interval_secs", "missing_runs"),
    *("simhash_max_bits", "start_interval_secs"),
)
"""Settings that a site may have for itself, named as in ``Config``."""
RULES = ("drop_index", "drop_tracking", "drop_trailing_slash", "drop_www", "sort_query")


@dataclass(frozen=True, kw_only=True)
class SiteConfig:
    """One site and its policies; a table ``[sites.NAME]`` of ``sites.toml``."""

    name: str
    url: str
    """Root of the site, a page of it, or its sitemap."""
    absent: str = "keep"
    """What becomes of a page that answers but that nothing links to: keep, hide or delete."""
    allow: tuple[str, ...] = ()
    """Regular expressions; if there are any, one must be found in the URL of a page."""
    deny: tuple[str, ...] = ()
    """Regular expressions; none may be found in the URL of a page."""
    discovery: str = "auto"
    """Where pages are found: auto (sitemap, else links), sitemap, links or list (``urls``)."""
    drop: tuple[str, ...] = ()
    """CSS selectors of parts that are not content."""
    drop_index: bool = True
    """Whether ``/a/index.html`` is the page ``/a/``."""
    drop_params: tuple[str, ...] = ()
    """Query parameters that do not make another page."""
    drop_tracking: bool = True
    """Whether parameters that say where a visitor came from make no other page."""
    drop_trailing_slash: bool = True
    """Whether ``/a/`` is the page ``/a``."""
    drop_www: bool = True
    """Whether ``www.`` makes no other page."""
    expected_heading: str = ""
    """Regular expression that a heading or the title of every page must match."""
    gone: str = "delete"
    """What becomes of a page that answers 410: delete, hide or keep."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Request headers; ``${NAME}`` in a value is an environment variable."""
    http_pass: str = ""
    """Password for HTTP Basic authentication, as ``${NAME}``."""
    http_user: str = ""
    """User name for HTTP Basic authentication."""
    keep: tuple[str, ...] = ()
    """CSS selectors of the main content, instead of those known for the generator."""
    keep_params: tuple[str, ...] = ()
    """Query parameters that make another page although they look like tracking."""
    moved: str = "follow"
    """What becomes of a page that redirects for good to another: follow or keep."""
    noindex: str = "hide"
    """What becomes of pages marked noindex: hide or keep."""
    not_found: str = "hide"
    """What becomes of a page that answers 404: hide (and gone once confirmed), delete or keep."""
    off_site: str = "hide"
    """What becomes of a page that redirects for good off the site: hide or keep."""
    out_of_scope: str = "hide"
    """What becomes of a page that this table leaves out since it was changed: hide or keep."""
    render: str = "never"
    """Which pages are rendered in a browser: never or always."""
    robots: str = "keep"
    """What becomes of a known page that robots.txt starts to disallow: keep or hide."""
    root: str = ""
    """URL of the folder that the pages are below, if ``url`` does not tell."""
    sitemaps: tuple[str, ...] = ()
    """Sitemap URLs, instead of those that robots.txt names and the usual places."""
    sort_query: bool = True
    """Whether the order of query parameters makes no other page."""
    subdomains: bool = False
    """Whether subdomains of the host belong to the site."""
    to_home: str = "hide"
    """What becomes of a page that redirects to the home page: hide (then gone) or keep."""
    urls: tuple[str, ...] = ()
    """The approved pages, with discovery list."""
    volatile_patterns: tuple[str, ...] = ()
    """Regular expressions of text whose change is no change of the page."""
    wait_for: str = ""
    """CSS selector that a rendered page must show before it is read."""
    policies: Mapping[str, float] = field(default_factory=dict)
    """Settings of ``Config`` for this site alone (POLICIES); keys of their own in the table."""

    @cached_property
    def scope(self) -> Scope:
        """Host and folder of the site's pages."""
        return Scope.from_url(self.root or self.url, subdomains=self.subdomains)

    @cached_property
    def rules(self) -> UrlRules:
        """Which spellings of a URL are one page."""
        switches = {name: getattr(self, name) for name in RULES}
        return UrlRules(keep_params=self.keep_params, drop_params=self.drop_params, **switches)

    @cached_property
    def _approved(self) -> frozenset[str]:
        return frozenset(url_key(url, self.rules) for url in self.urls)

    @property
    def url_is_sitemap(self) -> bool:
        """Whether ``url`` looks like a sitemap."""
        return urlsplit(self.url).path.endswith(SITEMAP_ENDINGS)

    @cached_property
    def start(self) -> str:
        """URL of the page where links are followed from."""
        return self.scope.root if self.url_is_sitemap else self.url

    def key_of(self, url: str, *, start: bool = False) -> str | None:
        """Return the key of a page's URL, or None if it does not belong to the site.

        With ``start`` the start page belongs to it whatever ``allow`` and ``deny`` say.
        """
        if len(url) > MAX_URL or not self.scope.contains(url):
            return None
        try:
            key, fetched = url_key(url, self.rules), normalize_url(url)
        except ValueError:
            return None
        if self.discovery == "list" and key not in self._approved:
            return None
        if self.wants(fetched) or (start and key == url_key(self.start, self.rules)):
            return key
        return None

    def wants(self, url: str) -> bool:
        """Tell whether ``allow`` and ``deny`` let a URL in; ``deny`` has the last word."""
        if any(re.search(pattern, url) for pattern in self.deny):
            return False
        return not self.allow or any(re.search(pattern, url) for pattern in self.allow)

    def leaves_out(self, url: str) -> str:
        """Return which key of the table leaves a URL out, in words; it is one that is left out."""
        if not self.scope.contains(url):
            return f"it is not below {self.scope.root}"
        if found := next((p for p in self.deny if re.search(p, url)), None):
            return f"deny {found!r}"
        return "allow" if not self.wants(url) else "urls"

    def to_json(self) -> dict[str, Any]:
        """Return the table that makes this site again, without values at their default."""
        table = {
            f.name: _plain(value)
            for f in fields(self)
            if (value := getattr(self, f.name)) != default_of(f)
        }
        policies = table.pop("policies", {})
        return {**table, **policies}


def default_of(site_field: Any) -> Any:
    """Return the default of a field of SiteConfig; ``MISSING`` if it must be given."""
    factory = site_field.default_factory
    return site_field.default if factory is MISSING else factory()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, dict) else value
