"""What a page has in common with the others of its site is parted from its own text."""

from __future__ import annotations

import logging
from typing import Any

from freshcrawl.components import RunComponent
from freshcrawl.items import PageItem
from freshcrawl.reading import part
from freshcrawl.threads import in_turn

logger = logging.getLogger(__name__)


class BoilerplatePipeline(RunComponent):
    """Leaves the site's boilerplate out of pages on which no main element was found."""

    async def process_item(self, item: Any) -> Any:
        """Move blocks of ``document`` that earlier runs found on most pages to ``left_out``."""
        if isinstance(item, PageItem) and item.document is not None:
            known = self.run.ledger.boilerplate.fingerprints
            try:
                await in_turn(part, item.document, known, self.run.site.volatile_patterns)
            except Exception as error:
                self.drop_if_fatal(error)
                logger.exception("%(url)s could not be parted", {"url": item.url})
                item.fail(f"could not be parted from the site's boilerplate: {error!r}")
        return item
