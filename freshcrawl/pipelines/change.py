"""What a fetched body means, against the published page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from freshcrawl.components import RunComponent
from freshcrawl.core import noise
from freshcrawl.core.boilerplate import BODY, FRAME_ONLY
from freshcrawl.core.changes import compare, grade, tolerance_words
from freshcrawl.core.differences import LINKS_ONLY, VOLATILE_ONLY, differ
from freshcrawl.core.pages import Cause, Verdict
from freshcrawl.core.robots_meta import barring
from freshcrawl.core.simhash import hamming, simhash
from freshcrawl.items import Outcome, PageItem
from freshcrawl.noise.check import check_noise
from freshcrawl.reading import fill_digests
from freshcrawl.threads import in_turn
from freshcrawl.upgrades import read_again

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Document
    from freshcrawl.core.published import Published

logger = logging.getLogger(__name__)


class ChangePipeline(RunComponent):
    """Digests, verdict and difference of a fetched body."""

    async def process_item(self, item: Any) -> Any:
        """Fill in ``digest`` and relatives, ``verdict`` and ``difference``, unless it is known."""
        if isinstance(item, PageItem) and not item.verdict:
            if item.document is not None:
                try:
                    await self._judge(item, item.document)
                except Exception as error:
                    self.drop_if_fatal(error)
                    logger.exception("%(url)s could not be compared", {"url": item.url})
                    item.fail(f"could not be compared: {error!r}")
            elif item.outcome == Outcome.NOT_MODIFIED:
                self._not_modified(item)
        return item

    async def _judge(self, item: PageItem, document: Document) -> None:
        await in_turn(self._digest, item, document)
        ledger = self.run.ledger
        published = ledger.published.get(item.key)
        item.verdict = compare(published, item.digest, item.links_digest)
        shown = ledger.pages[item.key].shown_digest
        both = shown and item.shown_digest
        if item.verdict == Verdict.UNCHANGED and both and shown != item.shown_digest:
            item.verdict = Verdict.COSMETIC
        if published is None or not ledger.is_live(item.key):
            return
        older = ledger.is_older(item.key, self.run.made_by)
        if item.verdict not in {Verdict.NEW, Verdict.UNCHANGED}:
            await in_turn(self._differ, item, document, published, older=older)

    def _digest(self, item: PageItem, document: Document) -> None:
        fill_digests(item, document, self.run.site.volatile_patterns)
        item.simhash = simhash(document.bare_markdown)

    def _differ(
        self, item: PageItem, document: Document, published: Published, *, older: bool
    ) -> None:
        """Fill in how a body differs from the published text, where that is kept.

        What differs in a way that is no change becomes cosmetic. An ``older`` text is compared
        as it would be read today, so that what differs in how it was read does not count.
        """
        again = read_again(self.run, item) if older else None
        if again is None:
            before = self.run.ledger.published_blocks(item.key)
        else:
            published, before = again
            verdict = compare(published, item.digest, item.links_digest)
            if verdict == Verdict.UNCHANGED or item.verdict == Verdict.CHANGED:
                item.verdict = verdict
            if verdict == Verdict.UNCHANGED:
                return
        if before is None:
            return
        item.before = before
        titles, changed = (published.title, item.title), item.verdict == Verdict.CHANGED
        difference = differ(titles, before, document.blocks, targets=not changed)
        item.difference = difference
        if item.verdict == Verdict.COSMETIC:
            difference.reason = VOLATILE_ONLY
            return
        if item.verdict == Verdict.LINKS_ONLY:
            difference.reason = LINKS_ONLY
            framed = before == document.blocks and item.cited_url == published.url
            if document.generator == BODY and framed:
                item.verdict, difference.reason = Verdict.COSMETIC, FRAME_ONLY
                return
        item.noise = check_noise(self.run, item, document.blocks, published, before)
        difference.reason = noise.reason(item.noise) or difference.reason
        words = ""
        if changed and not item.noise.noise:
            difference.grade = grade(published.simhash, item.simhash)
            bits = hamming(published.simhash, item.simhash)
            most = self.run.config.simhash_max_bits
            words = tolerance_words(difference, before, document.blocks, bits, most)
            difference.reason = words or difference.reason
        if item.noise.noise or words:
            # An older text is published anew all the same.
            item.verdict, item.published_stays = Verdict.COSMETIC, not older

    def _not_modified(self, item: PageItem) -> None:
        if not self.run.validators(item.key, item.url):
            item.outcome, item.reason = Outcome.FAILED, "304 to a request without validators"
            return
        self.run.count("not_modified")
        if self.run.ledger.is_live(item.key):
            item.verdict = Verdict.UNCHANGED
            value = barring(item.robots_header, self.run.agent, item.fetched_at)
            item.barred = value and f"X-Robots-Tag: {value}"
            if value and self.run.site.noindex == "hide":
                item.exclude(item.barred, Cause.NOINDEX)
        else:
            record = self.run.ledger.pages[item.key]
            item.exclude(record.reason, record.cause or Cause.NO_PAGE)
