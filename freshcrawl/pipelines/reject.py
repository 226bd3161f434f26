"""New and changed bodies that are not the page: what was published stays."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any, Self

from freshcrawl.components import RunComponent, run_of
from freshcrawl.core.pages import Cause, Verdict
from freshcrawl.core.trust import Gist, Short, essence_digest, shrank, word_count
from freshcrawl.items import PageItem
from freshcrawl.pipelines.unknown_answer import UnknownAnswers
from freshcrawl.threads import in_turn

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from freshcrawl.core.blocks import Document
    from freshcrawl.pipelines.unknown_answer import UnknownAnswer
    from freshcrawl.run import Run

logger = logging.getLogger(__name__)

JUDGED = frozenset({Verdict.NEW, Verdict.CHANGED})
SOFT_404, HEADING, SHRUNK = "soft 404", "unexpected heading", "shrunk text"


class RejectPipeline(RunComponent):
    """Judges only what would be published as new text: an unchanged page is what it was."""

    def __init__(self, run: Run, unknown: UnknownAnswers) -> None:
        super().__init__(run)
        self._unknown = unknown

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline.

        Raises:
            NotConfigured: the run extension is not enabled.
        """
        run = run_of(crawler)
        return cls(run, UnknownAnswers(crawler, run))

    async def process_item(self, item: Any) -> Any:
        """Refuse a body that is not the page; note one that is suddenly short."""
        if isinstance(item, PageItem) and item.document is not None and item.verdict in JUDGED:
            try:
                await self._judge(item, item.document)
            except Exception as error:
                self.drop_if_fatal(error)
                logger.exception("%(url)s could not be judged", {"url": item.url})
                item.fail(f"could not be judged: {error!r}")
        if isinstance(item, PageItem) and item.document is not None and item.barred:
            self._obey(item)
        return item

    def _obey(self, item: PageItem) -> None:
        """Exclude a page in the answers that says noindex, now that its body is the page."""
        if self._leaves(item):
            item.exclude(item.barred, Cause.NOINDEX)
            item.canonical, item.canonical_url = "", ""

    async def _judge(self, item: PageItem, document: Document) -> None:
        live = self.run.ledger.is_live(item.key)
        exclude = not self.run.ledger.stands_by(item.key, item.fetched_at)
        await in_turn(self._fill_essence, item, document)
        pattern = self.run.site.expected_heading
        if pattern and not _has_heading(document, pattern):
            reason = f"no heading and no title matches expected_heading {pattern!r}"
            item.refuse(HEADING, reason, exclude=exclude)
            return
        before = await in_turn(self._published, item) if live else None
        if document.wall:
            if before is None or not before.says(self._gist(item, document)):
                item.refuse(document.wall, document.wall_words)
            return
        soft_404 = False
        if (unknown := await self._unknown.of(item.url)) is not None:
            soft_404 = await in_turn(self._is_soft_404, item, document, before, unknown)
        if soft_404:
            reason = "answers 200 with what the site says of pages that do not exist"
            item.refuse(SOFT_404, reason, exclude=exclude)
        elif before is not None and not self._leaves(item):
            await in_turn(self._compare_length, item, document, before)

    def _leaves(self, item: PageItem) -> bool:
        return bool(item.barred) and self.run.site.noindex == "hide"

    def _published(self, item: PageItem) -> Gist | None:
        """Return the published text, None if it is not kept."""
        if item.before is None:
            return None
        text = "\n\n".join(block.plain for block in item.before)
        return Gist.of(self.run.ledger.published[item.key].title, text, item.url)

    def _fill_essence(self, item: PageItem, document: Document) -> None:
        published = self.run.ledger.published.get(item.key)
        titles = (item.title, document.title, published.title if published else "")
        item.essence = essence_digest(titles, document.bare_markdown, item.url)

    def _gist(self, item: PageItem, document: Document) -> Gist:
        return Gist.of(item.title, document.bare_markdown, item.url)

    def _is_soft_404(
        self, item: PageItem, document: Document, before: Gist | None, unknown: UnknownAnswer
    ) -> bool:
        """Tell whether a page says what unknown ones say, and did not say so before.

        A home page that answers for unknown URLs is itself; so is a page whose
        published text is that of the home page, as its other address.
        """
        if item.key in unknown.homes or not self._gist(item, document).says(unknown.gist):
            return False
        published = self.run.ledger.published
        twins = {published[key].digest for key in unknown.homes if key in published}
        was_home = before is not None and published[item.key].digest in twins
        return not was_home and (before is None or not before.says(unknown.gist))

    def _compare_length(self, item: PageItem, document: Document, before: Gist) -> None:
        """Reject a text that is suddenly short, once; but not where it may be our own doing."""
        record = self.run.ledger.pages[item.key]
        was, now = before.length, word_count(document.bare_markdown)
        if record.recipe not in {"", self.run.recipe} or not shrank(was, now):
            return
        began = self.run.report.started_at
        short = Short(item.digest, item.simhash, began, item.essence)
        doubt = short.doubt(record.doubt, self.run.schedule.confirm)
        if not doubt.get("believed"):
            again = "believed if a later check finds the same text"
            item.refuse(SHRUNK, f"shrank from {was:,} to {now:,} words; {again}")
        item.doubt = doubt


def _has_heading(document: Document, pattern: str) -> bool:
    """Tell whether a heading or the title of a page matches; signatures are none."""
    headings = (block.title for block in document.blocks if block.kind == "heading")
    return any(re.search(pattern, text) for text in (document.head_title, *headings))
