"""What a page has in common with the others of its site is parted from its own text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import run_in_thread

from freshcrawl.components import RunComponent
from freshcrawl.core import volatile
from freshcrawl.core.boilerplate import BODY, find, without
from freshcrawl.items import PageItem

if TYPE_CHECKING:
    from freshcrawl.core.pages import Document


class BoilerplatePipeline(RunComponent):
    """Leaves the site's boilerplate out of pages on which no main element was found."""

    async def process_item(self, item: Any) -> Any:
        """Move blocks of ``document`` that earlier runs found on most pages to ``left_out``."""
        if isinstance(item, PageItem) and item.document is not None:
            known = self.run.ledger.boilerplate.fingerprints
            if known and item.document.generator == BODY:
                await run_in_thread(self._part, item.document, frozenset(known))
        return item

    def _part(self, document: Document, known: frozenset[str]) -> None:
        # Seen and kept as ChangePipeline keeps all others, since that is what is learned from.
        blocks = volatile.for_display(document.blocks, self.run.site.volatile_patterns)
        places = find(blocks, known)
        document.left_out = {place: blocks[place] for place in places}
        document.blocks = without(document.blocks, places)
