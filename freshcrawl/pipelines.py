"""Item pipelines, thin over ``core``: normalise, compare, judge presence, stage for the index."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.utils.asyncio import run_in_thread

from freshcrawl.components import RunComponent
from freshcrawl.core import evidence, volatile
from freshcrawl.core.changes import compare, content_digest, links_digest
from freshcrawl.core.evidence import Finding
from freshcrawl.core.guards import LONE_MOVES
from freshcrawl.core.pages import Document, Staged, Status, Verdict
from freshcrawl.core.simhash import simhash
from freshcrawl.core.token_diff import token_diff
from freshcrawl.core.urls import normalize_url
from freshcrawl.extract import extract
from freshcrawl.items import Outcome, PageItem
from freshcrawl.outcomes import ANSWERED, CONTENT, conclude
from freshcrawl.staging import leaving, staged_content

if TYPE_CHECKING:
    from freshcrawl.core.pages import PageRecord

logger = logging.getLogger(__name__)

HTML_TYPES = ("text/html", "application/xhtml+xml")
TITLE_TAIL = re.compile(r"\s+[\u2014\u2013|\xb7]\s+.*$", re.DOTALL)
ROBOTS_AGENT = re.compile(
    r"\s*(?!unavailable_after\b|max-(?:snippet|image-preview|video-preview)\b)"
    r"([a-z0-9_*-]+)\s*:(.*)",
    re.DOTALL,
)
"""``otherbot: value``; the rules that take a value look the same but name nobody."""


class NormalizePipeline(RunComponent):
    """Main content to Markdown, with title, links, canonical and robots meta."""

    async def process_item(self, item: Any) -> Any:
        """Fill in ``document``, ``links``, ``digest`` and relatives of a fetched page."""
        if isinstance(item, PageItem) and item.outcome == Outcome.FETCHED:
            try:
                await self._normalize(item)
            except Exception as error:
                # Dropped here, the page would be fetched again by every run, and nobody told.
                logger.exception("%(url)s could not be read", {"url": item.url})
                item.fail(f"could not be read: {error!r}")
        return item

    async def _normalize(self, item: PageItem) -> None:
        kind = item.content_type.split(";")[0].strip().lower()
        if kind and kind not in HTML_TYPES:
            item.by_headers = True
            self._not_the_page(item, f"not a document (content type {kind})")
            return
        site = self.run.site
        document = await run_in_thread(extract, item.body, item.url, keep=site.keep, drop=site.drop)
        item.links = document.links
        if document.refresh and self._is_other(item, document.refresh):
            item.outcome, item.permanent = Outcome.REDIRECT, True
            item.target = normalize_url(document.refresh)
            return
        self._judge(item, document)
        if item.document is not None:
            self._canonical(item, document.canonical)
            self._digest(item, document)
            item.simhash = await run_in_thread(simhash, document.bare_markdown)

    def _digest(self, item: PageItem, document: Document) -> None:
        """Fill in title and digests; what the site calls volatile takes no part in them."""
        patterns, blocks = self.run.site.volatile_patterns, document.blocks
        item.title = page_title(document)
        if patterns:
            item.shown_digest = content_digest(item.title, blocks)
            item.title = volatile.mask(item.title, patterns)
            blocks = volatile.for_comparison(blocks, patterns)
            document.blocks = volatile.for_display(document.blocks, patterns)
        item.digest = content_digest(item.title, blocks)
        item.links_digest = links_digest(item.cited_url, item.canonical, blocks)

    def _is_other(self, item: PageItem, url: str) -> bool:
        try:
            normalize_url(url)
        except ValueError:  # nobody can be sent there
            return False
        return self.run.sightings.key_of(url) != item.key

    def _judge(self, item: PageItem, document: Document) -> None:
        item.by_headers = self._hides(item.robots_header)
        if not self.run.site.wants(item.cited_url):
            item.exclude("kept out by allow or deny; read for its links only")
        elif document.index_page:
            item.exclude("an index of links made by the site's generator")
        elif item.by_headers or self._hides(document.robots):
            item.exclude("noindex")
        elif not any(block.plain.strip() for block in document.blocks):
            self._not_the_page(item, "no text found in the page")
        else:
            item.document = document

    def _hides(self, robots: str) -> bool:
        """Tell whether robots meta or headers keep a page out, and the site's policy obeys."""
        return self.run.site.noindex == "hide" and says_noindex(robots)

    def _not_the_page(self, item: PageItem, reason: str) -> None:
        """What was published stays; a page that never had text is just not a document."""
        live = self.run.ledger.is_live(item.key)
        (item.reject if live else item.exclude)(reason)

    def _canonical(self, item: PageItem, url: str) -> None:
        key = self.run.sightings.key_of(url) if url else None
        home = self.run.sightings.key_of(self.run.site.scope.root)
        if key not in {None, item.key, home} and urlsplit(url).netloc == urlsplit(item.url).netloc:
            item.canonical, item.canonical_url = key or "", url


class ChangePipeline(RunComponent):
    """Verdict of a fetched body, against the published page."""

    def process_item(self, item: Any) -> Any:
        """Fill in ``verdict`` unless it is known already."""
        if isinstance(item, PageItem) and not item.verdict:
            if item.document is not None:
                published = self.run.ledger.published.get(item.key)
                item.verdict = compare(published, item.digest, item.links_digest)
                shown = self.run.ledger.pages[item.key].shown_digest
                both = shown and item.shown_digest
                if item.verdict == Verdict.UNCHANGED and both and shown != item.shown_digest:
                    item.verdict = Verdict.COSMETIC
            elif item.outcome == Outcome.NOT_MODIFIED:
                self._not_modified(item)
        return item

    def _not_modified(self, item: PageItem) -> None:
        if not self.run.validators(item.key, item.url):
            item.outcome, item.reason = Outcome.FAILED, "304 to a request without validators"
            return
        self.run.count("not_modified")
        if self.run.ledger.is_live(item.key):
            item.verdict = Verdict.UNCHANGED
            if self.run.site.noindex == "hide" and says_noindex(item.robots_header):
                item.exclude("noindex")
        else:
            item.exclude(self.run.ledger.pages[item.key].reason)


class PresencePipeline(RunComponent):
    """What the outcome proves: the status of the page and its missing-run count."""

    def process_item(self, item: Any) -> Any:
        """Fill in ``finding``."""
        if isinstance(item, PageItem):
            item.finding = self._find(item)
        return item

    def _find(self, item: PageItem) -> Finding:
        record = self.run.ledger.pages[item.key]
        listed = self.run.ledger.listings.lists(item.key)
        finding = standing(record, item.reason)
        if item.canonical and self._is_copy(record, item.canonical):
            finding = evidence.copy_of(item.canonical)
        elif item.verdict in ANSWERED:
            finding = evidence.answered(record, listed, self.run.policies)
        elif item.verdict == Verdict.EXCLUDED:
            finding = Finding(Status.EXCLUDED, item.reason, Verdict.EXCLUDED)
        elif item.outcome == Outcome.MISSING:
            finding = evidence.not_found(record, listed)
        elif item.outcome == Outcome.GONE:
            finding = evidence.gone()
        elif item.outcome == Outcome.DISALLOWED:
            finding = evidence.disallowed(record, self.run.policies)
        elif item.outcome == Outcome.REDIRECT:
            target = self.run.sightings.key_of(item.target)
            finding = evidence.redirected(record, target, item.target, item.permanent)
        return finding

    def _is_copy(self, record: PageRecord, canonical: str) -> bool:
        """Tell a page that an earlier tally found to be a copy of a page that is still live."""
        ledger = self.run.ledger
        known = record.status == Status.ALIAS and record.alias_of == canonical
        return known and ledger.is_live(canonical) and ledger.canonicals()[canonical] <= LONE_MOVES


class IndexPipeline(RunComponent):
    """Chunks of new and changed pages, and pages that leave: staged with the page's record."""

    async def process_item(self, item: Any) -> Any:
        """Prepare what is to be published, then record the outcome in one step with it."""
        if isinstance(item, PageItem) and item.finding is not None:
            finding, staged = item.finding, None
            try:
                staged = await self._prepare(item, finding)
            except Exception as error:
                logger.exception("%(url)s could not be cut into chunks", {"url": item.url})
                item.fail(f"could not be cut into chunks: {error!r}")
                finding = standing(self.run.ledger.pages[item.key], item.reason)
            conclude(self.run, item, finding, staged)
        return item

    async def _prepare(self, item: PageItem, finding: Finding) -> Staged | None:
        if finding.status != Status.LIVE:
            return leaving(item, finding) if self.run.ledger.is_live(item.key) else None
        if item.verdict not in CONTENT or item.document is None:
            return None
        if item.verdict == Verdict.CHANGED and self.run.ledger.pages[item.key].churn:
            item.replaced = await run_in_thread(self._replaced, item, item.document)
        changed_at = item.fetched_at
        if item.verdict == Verdict.LINKS_ONLY:
            changed_at = self.run.ledger.published[item.key].changed_at
        return await run_in_thread(
            staged_content, item, item.document, self.run.embedder(), changed_at
        )

    def _replaced(self, item: PageItem, document: Document) -> list[list[str]]:
        """Return which words of the published text a page has replaced."""
        before = self.run.ledger.published_texts(item.key)
        after = [item.title, *(block.plain for block in document.blocks)]
        return token_diff(before, after) if before else []


def standing(record: PageRecord, reason: str) -> Finding:
    """Return the finding that leaves a page as it is."""
    return Finding(Status(record.status), reason, None, record.missing_runs)


def page_title(document: Document) -> str:
    """Return the first H1, else the title of the head without the site's name."""
    for block in document.blocks:
        if block.kind == "heading" and block.level == 1 and block.title:
            return block.title
    return TITLE_TAIL.sub("", document.title).strip()


def says_noindex(robots: str) -> bool:
    """Tell whether robots meta or header values keep a page out of every index.

    One line is one header or meta. Values for a named agent (``otherbot:
    noindex``), up to the line's end or another agent, count only if it is ours.
    """
    for line in robots.lower().splitlines():
        agent = ""
        for part in line.split(","):
            value = part
            if match := ROBOTS_AGENT.match(part):
                agent, value = match.groups()
            if value.strip() in {"noindex", "none"} and agent in {"", "*", "freshcrawl"}:
                return True
    return False
