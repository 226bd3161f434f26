"""An earlier generation that was made current again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshcrawl.core.pages import JsonRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from freshcrawl.core.published import Published


@dataclass(slots=True)
class Rollback(JsonRecord):
    """The last rollback of a site. It stays known when it is released."""

    generation: int
    """The generation that it published."""
    of: int
    """The generation whose pages and chunks it published again."""
    before: int
    """The generation that was current until then."""
    origin: int
    """The generation that was current before the first of several rollbacks in a row."""
    at: float = 0.0
    """Epoch seconds."""
    pinned: bool = True
    """Crawls publish nothing, until a release."""
    released_at: float = 0.0
    """Epoch seconds, 0 before that."""

    def reason(self, site: str) -> str:
        """Return in words why crawls of ``site`` publish nothing."""
        return (
            f"rolled back to generation {self.of}: nothing is published until "
            f"{release_command(site)}"
        )


def release_command(site: str) -> str:
    """Return the command that ends the rollback of a site."""
    return f"scrapy rollback --release --site {site}"


def differing(old: Mapping[str, Published], new: Mapping[str, Published]) -> set[str]:
    """Return the keys whose published rows differ in anything but where they come from."""
    return {
        key
        for key in old.keys() | new.keys()
        if key not in old or key not in new or _facts(old[key]) != _facts(new[key])
    }


def _facts(page: Published) -> tuple[object, ...]:
    return tuple(getattr(page, name) for name in page.__slots__ if name != "from_gen")
