"""Pages that a person had purged: the marks that keep them from coming back."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.report import iso

if TYPE_CHECKING:
    from collections.abc import Mapping


class Mark(NamedTuple):
    """When a page was forgotten (epoch seconds), and by which pattern, "" for its own URL."""

    at: float
    pattern: str = ""

    @property
    def words(self) -> str:
        """Why nothing of the page is known any more."""
        by = f" (pattern {self.pattern})" if self.pattern else ""
        return f"forgotten on {(iso(self.at) or '')[:10]} by scrapy forget{by}"


@dataclass(slots=True)
class Forgotten:
    """The marks of a site. Of a page its key is kept, and the time."""

    keys: dict[str, Mark] = field(default_factory=dict)
    patterns: dict[str, float] = field(default_factory=dict)
    """When each regular expression was given: URLs that it is found in are not let in either."""
    generation: int = 0
    """The generation that was published for the last of them; older index files are dropped."""

    def __bool__(self) -> bool:
        return bool(self.keys or self.patterns)

    def of(self, key: str, url: str = "") -> Mark | None:
        """Return the mark that keeps a page out, if there is one; ``url`` is for the patterns."""
        if key in self.keys:
            return self.keys[key]
        for pattern, at in self.patterns.items():
            if url and re.search(pattern, url):
                return Mark(at, pattern)
        return None

    def joined(self, other: Forgotten) -> Forgotten:
        """Return the marks of both; of two for the same, ours."""
        return Forgotten(
            other.keys | self.keys,
            other.patterns | self.patterns,
            max(self.generation, other.generation),
        )

    def without(self, keys: set[str], patterns: set[str]) -> Forgotten:
        """Return what is left without some marks."""
        return Forgotten(
            {key: mark for key, mark in self.keys.items() if key not in keys},
            {name: at for name, at in self.patterns.items() if name not in patterns},
            self.generation,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the marks as a JSON-ready dict; the generation is the corpus's own."""
        keys = {key: list(mark) for key, mark in self.keys.items()}
        return {"keys": keys, "patterns": self.patterns}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Build the marks from ``to_json``, or from an empty mapping."""
        keys = {key: Mark(*mark) for key, mark in data.get("keys", {}).items()}
        return cls(keys, dict(data.get("patterns", {})))


def is_url(text: str) -> bool:
    """Tell the URL of one page from a pattern: it begins with its scheme."""
    return text.lower().startswith(("http://", "https://"))


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern that URLs are searched for.

    Raises:
        ValueError: it is empty, or no regular expression; the message says so.
    """
    if not pattern.strip():
        raise ValueError("an empty pattern would forget every page")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(
            f"{pattern!r} is neither a URL (https://...) nor a regular expression: {error}"
        ) from None


def record_of(key: str, mark: Mark, scheme: str) -> PageRecord:
    """Return all that is kept of a forgotten page; ``scheme`` is that of its site's URL."""
    return PageRecord(
        key, f"{scheme}://{key}", Status.FORGOTTEN, mark.words, first_seen=mark.at, left_out=True
    )


def undo_command(site: str, target: str) -> str:
    """Return the command that lets the pages of a URL or a pattern in again."""
    return f"scrapy forget --undo {shlex.quote(target)} --site {site}"
