"""What a process that was cut off has left for the next one: no damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.stores.base import DamagedContentError
from freshcrawl.verify.contents import read_content

if TYPE_CHECKING:
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.published import Published
    from freshcrawl.verify.view import View


def is_under_way(view: View, key: str) -> bool:
    """Tell whether the next run brings a page's record in step with what is published of it."""
    # Its staged row goes with the commit that does so.
    return key in view.staged or is_rolled_back(view, key)


def is_rolled_back(view: View, key: str) -> bool:
    """Tell whether another row of a page, or none, is published since a rollback was cut off."""
    if view.rollback is None:
        return False
    page, versions = view.published.get(key), view.versions(key)
    if page is not None:
        return page.from_gen >= view.rollback.generation
    return bool(versions) and (versions[0].to_gen or 0) >= view.rollback.generation


def was_made_by(view: View, page: Published, record: PageRecord) -> bool:
    """Tell whether a record says how the version before was made, as a reindex leaves it."""
    before = [version for version in view.versions(page.key) if version.to_gen == page.from_gen]
    data = view.corpus.content(before[0].page.content) if before else None
    try:
        return data is not None and read_content(data).made_by == record.made_by
    except DamagedContentError:
        return False
