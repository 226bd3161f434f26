"""The memory of proven noise of one site: a row per page that has places, and one of the site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.noise import Place, unmask_all
from freshcrawl.core.noise_site import SitePlace, learn

if TYPE_CHECKING:
    from freshcrawl.core.noise import Judgement
    from freshcrawl.stores.base import RecordStore

SITE_ROW = "meta:noise"


class NoiseMemory:
    """Rows ``noise:KEY`` and `SITE_ROW`; durable with the next commit of the records."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        row = records.get(SITE_ROW) or {}
        self.site = {
            name: SitePlace.from_json(value) for name, value in row.get("places", {}).items()
        }
        self._site_changed = False

    def page(self, key: str) -> dict[str, Place]:
        """Return the places of a page by their identity. Any thread may call."""
        row = self._records.get(f"noise:{key}") or {}
        return {name: Place.from_json(value) for name, value in row.get("places", {}).items()}

    def learn(self, key: str, judgement: Judgement, at: float, expiry: float) -> None:
        """Keep what a check of a page says of its places and of those of the site."""
        self._put(key, judgement.places)
        if judgement.site.differed or judgement.site.still:
            learn(self.site, key, judgement.site, at, expiry)
            self._site_changed = True

    def settle(self, key: str) -> None:
        """Note that a page shows what is published: no value of it is masked."""
        places = self.page(key)
        if unmask_all(places.values()):
            self._put(key, places)

    def drop(self, key: str) -> None:
        """Forget the places of a page."""
        self._put(key, {})

    def forget(self, keys: set[str]) -> None:
        """Take pages out of what is known of the site."""
        for place in self.site.values():
            place.pages = [key for key in place.pages if key not in keys]
            place.refuted = [key for key in place.refuted if key not in keys]
        self.site = {n: p for n, p in self.site.items() if p.pages or p.refuted or p.proven}
        self._site_changed = True
        self.save()

    def save(self) -> None:
        """Put the site's row, if it has changed, before a commit."""
        if self._site_changed:
            places = {name: place.to_json() for name, place in self.site.items()}
            self._records.put(SITE_ROW, {"places": places})
            self._site_changed = False

    def _put(self, key: str, places: dict[str, Place]) -> None:
        name = f"noise:{key}"
        if places:
            row = {name: place.to_json() for name, place in places.items()}
            self._records.put(name, {"places": row})
        elif self._records.get(name) is not None:
            self._records.delete(name)
