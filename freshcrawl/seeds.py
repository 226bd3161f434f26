"""Where pages come from without sitemaps: the approved list, or the links of the start page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.sightings import LEFT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.http import Request

    from freshcrawl.run import Run

    Page = Callable[[str], Request | None]

SITEMAPS = ("sitemap_root", "sitemap")
"""Kinds of source: sitemaps that are looked for, and those that an index lists."""
LINKS = ("start", "page", "kept")
LIST = ("list",)


def seeds(run: Run, page: Page) -> Iterator[Request]:
    """Yield the first requests of a site that is found by its links, or is a fixed list."""
    return start_page(run, page) if run.site.discovery == "links" else approved(run, page)


def start_page(run: Run, page: Page) -> Iterator[Request]:
    """Follow links from the start page on."""
    run.sightings.follows_links = True
    key = run.sightings.see(run.site.start)
    if key is not None:
        if run.ledger.pages[key].status in LEFT:
            run.ledger.set(key, next_due=0.0)  # asked for in every run, as a sitemap is
        run.sightings.listing_read("start", "start", [key])
        yield from filter(None, [page(key)])


def approved(run: Run, page: Page) -> Iterator[Request]:
    """Take the approved pages of the configuration as the only listing."""
    keys = [key for url in run.site.urls if (key := run.sightings.see(url)) is not None]
    run.sightings.listing_read("list", "list", keys)
    yield from filter(None, (page(key) for key in dict.fromkeys(keys)))


def drop_other_ways(run: Run) -> None:
    """Forget what listed pages before the site's way of discovery was changed.

    Sitemaps stand until the links of all pages in the answers were read: until
    then nobody knows what the links list.
    """
    listings = run.ledger.listings
    kinds: tuple[str, ...] = LIST
    if run.site.discovery == "list":
        kinds = (*SITEMAPS, *LINKS)
    elif run.site.discovery == "links" and all(
        f"page:{key}" in listings.sources for key in run.ledger.live_keys()
    ):
        kinds = (*SITEMAPS, *LIST)
    for source in listings.of_kind(*kinds):
        listings.drop(source)


def forget_links(run: Run) -> None:
    """Drop what links listed, once sitemaps are what the site's pages are found by."""
    for source in run.ledger.listings.of_kind(*LINKS):
        run.ledger.listings.drop(source)
