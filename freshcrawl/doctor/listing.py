"""How the pages of a site would be found: by which sitemaps, or by links."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from freshcrawl.core.urls import normalize_url
from freshcrawl.core.words import count
from freshcrawl.doctor import Check, Level, fail, ok, warn
from freshcrawl.doctor.access import bad_status, trouble

if TYPE_CHECKING:
    from collections.abc import Iterable

    from freshcrawl.doctor.findings import Findings, SeenSitemap
    from freshcrawl.sites import SiteConfig

ELSEWHERE = (
    'set sitemaps = ["..."] to where the sitemap is, or discovery = "links" if there is none any '
    "more"
)
BROKEN = "tell the people who run the site; until it is mended, each run is incomplete"
FIND_SITEMAP = 'set sitemaps = ["..."] if there is one elsewhere'


def pages_of(site: SiteConfig, urls: Iterable[str], without: Iterable[str] = ()) -> dict[str, str]:
    """Return those of ``urls`` that are pages of the site, by key."""
    found: dict[str, str] = {}
    for url in urls:
        if (key := site.key_of(url)) is not None:
            found.setdefault(key, normalize_url(url))
    for url in without:
        found.pop(site.key_of(url) or "", None)
    return found


def listing_checks(findings: Findings) -> list[Check]:
    """Say what each sitemap lists, or how many links there are to follow."""
    site = findings.site
    if site.discovery == "list":
        return [ok("sitemap", f"not needed: {count(len(site.urls), 'approved page')} in urls")]
    if site.discovery == "links":
        return _links(findings, 'links are followed (discovery = "links")')
    checks = [
        check for seen in findings.sitemaps if (check := sitemap_check(site, seen)) is not None
    ]
    if any(pages_of(site, seen.listed) or seen.children for seen in findings.sitemaps):
        return checks
    if site.discovery == "sitemap":
        what = 'no sitemap was found, and discovery = "sitemap" follows no links'
        return [*checks, fail("sitemap", what, FIND_SITEMAP)]
    unread = any(seen.asked is not None and seen.asked.problem for seen in findings.sitemaps)
    if findings.late or unread or any(check.level == Level.FAIL for check in checks):
        return checks  # it is not known that there is none
    return [*checks, *_links(findings, "no sitemap was found: links are followed")]


def sitemap_check(site: SiteConfig, seen: SeenSitemap) -> Check | None:
    """Judge one sitemap; None for a usual place that has none."""
    if seen.sitemap is not None and seen.sitemap.entries:
        return _listed(site, seen)
    if seen.asked is not None and seen.asked.problem:
        what, advice = trouble(seen.asked)
        return warn("sitemap", f"{seen.url}: {what}", advice)
    status = seen.asked.status if seen.asked else 0
    if status >= 500 or status == 429:
        return fail("sitemap", f"{seen.url} answers HTTP {status}", bad_status(status))
    return _useless(seen) if seen.known else None


def _useless(seen: SeenSitemap) -> Check:
    """Judge a sitemap that should be there and lists nothing."""
    if seen.asked is None:
        return warn("sitemap", f"{seen.url} is not read: {seen.refused}", ELSEWHERE)
    if seen.remembered and seen.asked.status in {404, 410}:
        what = f"{seen.url} answers HTTP {seen.asked.status}; earlier runs read it"
        return warn("sitemap", what, f"{ELSEWHERE}; if another one is read, it is forgotten")
    if seen.sitemap is None:
        return fail("sitemap", f"{seen.url} answers HTTP {seen.asked.status}", ELSEWHERE)
    if not seen.sitemap.problem:
        return warn("sitemap", f"{seen.url} lists nothing", FIND_SITEMAP)
    why = seen.sitemap.problem
    if seen.asked.looks_like_html:
        why = "an HTML page, not a sitemap"
    return fail("sitemap", f"{seen.url} is of no use: {why}", ELSEWHERE)


def _listed(site: SiteConfig, seen: SeenSitemap) -> Check:
    """Judge a sitemap that lists something."""
    root, found = site.scope.root, seen.sitemap
    whole, mine = len(seen.listed), len(pages_of(site, seen.listed))
    share = f"all below {root}" if mine == whole else f"{mine} of them below {root}"
    what = f"{seen.url} lists {count(whole, 'page')}, {share}"
    if found is not None and found.kind == "index":
        what = f"{seen.url} is an index of {count(len(found.entries), 'sitemap')}; "
        what += f"{seen.children} of them were read: {count(whole, 'page')}, {share}"
        if not seen.children:
            return fail("sitemap", f"{what} (none answers)", BROKEN)
    if whole and not mine:
        where = urljoin(seen.listed[0], ".")
        advice = f"set url to the folder that the pages are in, such as {where}"
        return fail("sitemap", what, advice)
    if found is not None and found.problem:
        return warn("sitemap", f"{what}; it is {found.problem}", BROKEN)
    if found is not None and found.kind == "feed":
        advice = 'a feed names the newest pages only: set discovery = "links" to find all'
        return warn("sitemap", what, advice)
    return ok("sitemap", what)


def _links(findings: Findings, what: str) -> list[Check]:
    """Say how many pages the start page links to; nothing if that did not answer."""
    page = findings.page
    if page is None or page.document is None or page.outside or page.forbidden:
        return []
    linked = len(pages_of(findings.site, page.document.links, [page.last.url]))
    if linked:
        return [ok("links", f"{what}; the start page links to {count(linked, 'page')} of the site")]
    advice = f"{FIND_SITEMAP}; a site of one page needs none"
    return [warn("links", f"{what}; the start page links to no other page of the site", advice)]
