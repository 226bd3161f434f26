"""From a judged item to staged work and the page's record."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from freshcrawl.components import RunComponent
from freshcrawl.core import evidence
from freshcrawl.core.guards import TEXT_STANDS
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.items import PageItem
from freshcrawl.outcomes import CONTENT, conclude
from freshcrawl.staging import leaving, staged_content
from freshcrawl.threads import in_turn

if TYPE_CHECKING:
    from freshcrawl.core.evidence import Finding
    from freshcrawl.core.published import Staged

logger = logging.getLogger(__name__)


class IndexPipeline(RunComponent):
    """Chunks of new and changed pages, and pages that leave: staged with the page's record."""

    async def process_item(self, item: Any) -> Any:
        """Prepare what is to be published, then record the outcome in one step with it."""
        if isinstance(item, PageItem) and item.finding is not None:
            finding, staged = item.finding, None
            try:
                staged = await self._prepare(item, finding)
            except Exception as error:
                self.drop_if_fatal(error)
                logger.exception("%(url)s could not be cut into chunks", {"url": item.url})
                item.fail(f"could not be cut into chunks: {error!r}")
                finding = evidence.standing(self.run.ledger.pages[item.key], item.reason)
            try:
                conclude(self.run, item, finding, staged)
            except Exception as error:
                self.drop_if_fatal(error)
                raise
        return item

    def _leaving(self, item: PageItem, finding: Finding) -> Staged | None:
        if not self.run.ledger.is_live(item.key):
            return None
        verdict = finding.verdict or item.verdict
        return leaving(item.key, item.cited_url, finding, verdict, item.fetched_at)

    async def _prepare(self, item: PageItem, finding: Finding) -> Staged | None:
        if finding.status != Status.LIVE:
            return self._leaving(item, finding)
        if item.document is None or item.published_stays:
            return None
        run, changed_at = self.run, item.fetched_at
        anew = run.ledger.is_older(item.key, run.made_by)
        if item.verdict in TEXT_STANDS and run.ledger.is_live(item.key):
            published = run.ledger.published[item.key]
            changed_at = published.changed_at
            reframed = published.version != item.digest + item.links_digest
            anew = anew or (item.verdict == Verdict.COSMETIC and reframed)
        if item.verdict not in CONTENT and not anew:
            return None
        return await in_turn(
            staged_content, item, item.document, run.cutter(), changed_at, run.made_by
        )
