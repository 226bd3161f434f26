"""A crawled site for tests of ``scrapy reindex`` in process: made anew, or only rehearsed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from freshcrawl.rehearsing import Rehearsal, Rehearsed
from freshcrawl.reindexing import Reindexed, Reindexing
from freshcrawl.state import open_for_reading, open_for_writing
from freshcrawl.stored_sites import stored_site
from tests.support.in_process import NAME
from tests.support.quick_site import NOW, QuickSite

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from freshcrawl.config import Config
    from freshcrawl.sites import SiteConfig
    from freshcrawl.state import SiteState

DAY = 86_400
PATHS = [f"/p{n}" for n in range(12)]
LONG = [f"Paragraph {n} tells about the {n}th option in a few plain words." for n in range(90)]
OTHER: dict[str, Any] = {"embed_model": "other"}
SMALLER: dict[str, Any] = {"embedder_class": "tests.support.embedder.SmallerEmbedder"}
SHORTER: dict[str, Any] = {
    "chunk_tokens": 64,
    "embedder_class": "tests.support.embedder.CutShorter",
}


def crawled_site(folder: Path, runner: asyncio.Runner) -> QuickSite:
    """Return a site of a dozen pages, of which one is long, crawled once with ``hash-64``."""
    site = QuickSite(folder, runner)
    for path in PATHS:
        site.serve(path, f"The text of {path} is as it is.", f"The last of {path}.")
    site.serve("/p0", *LONG)
    site.on_sitemap(*PATHS)
    site.crawl()
    return site


def with_settings(site: QuickSite, **settings: Any) -> Config:
    """Return the site's settings with others."""
    return replace(site.config, embed_batch=4, **settings)


def known_site(config: Config, state: SiteState) -> SiteConfig:
    """Return the site as its last run had it."""
    found = stored_site(config, state)
    assert found is not None
    return found


def reindexed(site: QuickSite, days: float = 0, **settings: Any) -> Reindexed:
    """Index the site anew, some days after the crawl."""
    config, now = with_settings(site, **settings), NOW + days * DAY
    with closing(open_for_writing(config, NAME, "reindex", now)) as state:
        return Reindexing(state, known_site(config, state), config, lambda: now).run()


def rehearsed(
    site: QuickSite, *, sample: bool = False, price: float | None = None, **settings: Any
) -> Rehearsed:
    """Rehearse that."""
    config = with_settings(site, **settings)
    with closing(open_for_reading(config, NAME)) as state:
        rehearsal = Rehearsal(state, known_site(config, state), config)
        return rehearsal.run(sample=sample, price=price)
