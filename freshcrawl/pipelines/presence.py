"""What an outcome proves of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.components import RunComponent
from freshcrawl.core import evidence
from freshcrawl.core.guards import LONE_MOVES
from freshcrawl.core.pages import Cause, Status, Verdict
from freshcrawl.core.proofs import all_of, lasts
from freshcrawl.elsewhere import may_list, unheard
from freshcrawl.homes import leads_home
from freshcrawl.items import Outcome, PageItem
from freshcrawl.outcomes import ANSWERED

if TYPE_CHECKING:
    from freshcrawl.core.evidence import Finding
    from freshcrawl.core.pages import PageRecord


HEADER = "X-Robots-Tag"


class PresencePipeline(RunComponent):
    """What the outcome proves: the status of the page and its missing-run count."""

    def process_item(self, item: Any) -> Any:
        """Fill in ``finding``."""
        if isinstance(item, PageItem):
            item.finding = self._find(item)
        return item

    def _find(self, item: PageItem) -> Finding:
        record = self.run.ledger.pages[item.key]
        listed = self._is_listed(record)
        policies, was_published = self.run.policies, item.key in self.run.ledger.published
        finding = evidence.standing(record, item.reason)
        if item.canonical and self._is_copy(record, item.canonical):
            finding = evidence.copy_of(item.canonical)
        elif item.verdict in ANSWERED:
            finding = evidence.answered(record, listed, policies)
            finding = self._with_noindex(item, record, finding)
        elif item.verdict == Verdict.EXCLUDED:
            finding = evidence.excluded(item.reason, item.cause, was_published=was_published)
        elif item.outcome == Outcome.MISSING:
            listed = listed or may_list(self.run, unheard(self.run), record)
            finding = evidence.not_found(record, listed, policies, item.fetched_at)
        elif item.outcome == Outcome.GONE:
            finding = evidence.gone(record, policies)
        elif item.outcome == Outcome.DISALLOWED:
            finding = evidence.disallowed(record, policies, was_published=was_published)
        elif item.outcome == Outcome.REDIRECT:
            finding = self._redirected(item, record, was_published=was_published)
        return finding

    def _redirected(self, item: PageItem, record: PageRecord, *, was_published: bool) -> Finding:
        policies, permanent = self.run.policies, item.permanent
        target = self.run.sightings.key_of(item.target)
        known = {"was_published": was_published}
        lasting = lasts(record, item.target, item.fetched_at)
        if target is not None and leads_home(self.run, item.key, target):
            return evidence.to_home(
                record, item.target, permanent or lasting, policies, item.fetched_at, **known
            )
        known["lasting"] = lasting and target is not None and self.run.ledger.is_live(target)
        return evidence.redirected(record, target, item.target, permanent, policies, **known)

    def _with_noindex(self, item: PageItem, record: PageRecord, finding: Finding) -> Finding:
        """Note that a page says noindex where the site's policy keeps it.

        A 304 says again what a meta said; a header would be on the 304 itself.
        """
        known = [p for p in all_of(record) if p.cause == record.cause == Cause.NOINDEX]
        by_meta = bool(known) and not known[-1].said.startswith(HEADER)
        again = item.outcome == Outcome.NOT_MODIFIED and by_meta
        keeps = self.run.policies.noindex == "keep" and (item.barred or again)
        return evidence.kept_and_read(finding) if keeps and not finding.cause else finding

    def _is_listed(self, record: PageRecord) -> bool:
        """Tell whether anything lists a page; one that was found unlisted must be reached again."""
        listings = self.run.ledger.listings
        if record.missing_runs:
            return record.key in listings.reached()
        return listings.lists(record.key)

    def _is_copy(self, record: PageRecord, canonical: str) -> bool:
        """Tell a page that an earlier tally found to be a copy of a page that is still live."""
        ledger = self.run.ledger
        known = record.status == Status.ALIAS and record.alias_of == canonical
        stands = ledger.is_live(canonical) or ledger.is_forgotten(canonical)
        return known and stands and ledger.canonicals()[canonical] <= LONE_MOVES
