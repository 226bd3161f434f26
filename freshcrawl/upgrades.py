"""Pages that were published as an earlier release, or the site's earlier table, read them.

They are asked for without validators when they come due, read and cut anew, and published
without counting as changed: the site's author did nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from freshcrawl.core.simhash import simhash
from freshcrawl.extract import extract
from freshcrawl.items import Outcome, PageItem
from freshcrawl.reading import fill_digests, page_title, part

if TYPE_CHECKING:
    from collections.abc import Collection

    from freshcrawl.core.blocks import Block, Document
    from freshcrawl.core.published import Published
    from freshcrawl.run import Run
    from freshcrawl.sites import SiteConfig
    from freshcrawl.staging import Content


def reread(
    page: Published, kept: Content, site: SiteConfig, known: Collection[str]
) -> tuple[PageItem, Document]:
    """Return a published page as its kept body is read today, and its document, as fetched then.

    ``known`` has the fingerprints of the site's boilerplate.
    """
    item = PageItem(page.key, kept.url, Outcome.FETCHED, page.changed_at, body=kept.body)
    item.cited_url, item.canonical = page.url, kept.canonical
    item.document = document = extract(kept.body, kept.url, keep=site.keep, drop=site.drop)
    item.title = page_title(document)
    part(document, known, site.volatile_patterns)
    fill_digests(item, document, site.volatile_patterns)
    item.simhash = simhash(document.bare_markdown)
    return item, document


def read_again(run: Run, item: PageItem) -> tuple[Published, list[Block]] | None:
    """Return an item's page as its published body would be published today, and its blocks.

    None if the body is not kept. Any thread may call.
    """
    ledger = run.ledger
    kept, published = ledger.published_content(item.key), ledger.published[item.key]
    if kept is None or not kept.body:
        return None
    then, document = reread(published, kept, run.site, ledger.boilerplate.fingerprints)
    page = replace(
        published,
        digest=then.digest,
        links_digest=then.links_digest,
        title=then.title,
        simhash=then.simhash,
    )
    return page, document.blocks
