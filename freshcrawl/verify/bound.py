"""Records whose validators came with a text that is nowhere: a page would stay as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshcrawl.config import ConfigError
from freshcrawl.core.pages import Status, Verdict
from freshcrawl.reading import made_by, recipe
from freshcrawl.site_tables import make_site

if TYPE_CHECKING:
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Published
    from freshcrawl.verify.view import View

STAND = frozenset({Verdict.NEW, Verdict.CHANGED, Verdict.LINKS_ONLY, Verdict.UNCHANGED})
"""Last verdicts after which the text that was read is published or staged.

A cosmetic one is neither, and after a failed check nothing says which text that was.
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """How pages are read by this version and the site's table of the last run."""

    made_by: str = ""
    recipes: frozenset[str] = frozenset()

    def lacks(self, view: View, page: Published, record: PageRecord) -> bool:
        """Tell whether a live page was found with another text than the one published.

        Only where both were read as today: a reindex reads the published one anew, and the
        validators are of the text as it was read before.
        """
        live = record.status == page.status == Status.LIVE
        bound = (record.etag or record.last_modified) and record.validator_digest
        alike = record.recipe in self.recipes and view.made_by.get(page.key) == self.made_by
        stands = record.last_verdict in STAND
        lacks = record.validator_digest != page.version
        return bool(live and bound and alike and stands and lacks)


def reading_of(view: View) -> Reading:
    """Return how the pages of a site are read; as none is, if its table cannot be used."""
    try:
        site = make_site(view.site, "state")
    except ConfigError:
        return Reading()
    recipes = frozenset(recipe(site, links=links) for links in (True, False))
    return Reading(made_by(site, view.chunk_tokens), recipes)
