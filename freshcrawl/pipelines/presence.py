"""What an outcome proves of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.components import RunComponent
from freshcrawl.core import evidence
from freshcrawl.core.guards import LONE_MOVES
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.items import Outcome, PageItem
from freshcrawl.outcomes import ANSWERED

if TYPE_CHECKING:
    from freshcrawl.core.evidence import Finding
    from freshcrawl.core.pages import PageRecord


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
        finding = evidence.standing(record, item.reason)
        if item.canonical and self._is_copy(record, item.canonical):
            finding = evidence.copy_of(item.canonical)
        elif item.verdict in ANSWERED:
            finding = evidence.answered(record, listed, self.run.policies)
        elif item.verdict == Verdict.EXCLUDED:
            finding = evidence.excluded(item.reason, item.cause)
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
