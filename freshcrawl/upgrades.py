"""Pages that were published as an earlier release, or the site's earlier table, read them.

They are asked for without validators when they come due, read and cut anew, and published
without counting as changed: the site's author did nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from freshcrawl.core.simhash import simhash
from freshcrawl.extract import extract
from freshcrawl.items import PageItem
from freshcrawl.reading import fill_digests, page_title, part

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Block
    from freshcrawl.core.published import Published
    from freshcrawl.run import Run


def read_again(run: Run, item: PageItem) -> tuple[Published, list[Block]] | None:
    """Return an item's page as its published body would be published today, and its blocks.

    None if the body is not kept. Any thread may call.
    """
    kept, site = run.ledger.published_content(item.key), run.site
    if kept is None or not kept.body:
        return None
    published = run.ledger.published[item.key]
    then = PageItem(item.key, kept.url, item.outcome, published.changed_at)
    then.cited_url, then.canonical = published.url, kept.canonical
    then.document = extract(kept.body, kept.url, keep=site.keep, drop=site.drop)
    then.title = page_title(then.document)
    part(then.document, run.ledger.boilerplate.fingerprints, site.volatile_patterns)
    fill_digests(then, then.document, site.volatile_patterns)
    page = replace(
        published,
        digest=then.digest,
        links_digest=then.links_digest,
        title=then.title,
        simhash=simhash(then.document.bare_markdown),
    )
    return page, then.document.blocks
