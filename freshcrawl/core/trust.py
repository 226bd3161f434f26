"""Whether a fetched text can be believed to be its page: likeness to another, and sudden shrink.

Texts are compared as words, in which what differs by itself from answer to
answer is masked: whatever has a digit in it (times, ids, counts) and the
page's own address.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from freshcrawl.core.simhash import hamming

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MASK = "0"
SAME_TITLE = (0.7, 30)
OTHER_TITLE = (0.9, 6)
"""Least share of a known text that is found in a page which says the same, and the most words
that such a page has of its own: for equal titles (an error page may name similar pages), and
for others (it may have the name that was asked for as its title)."""
GIST_MIN = 3
"""Words that a text must have to be recognised by them."""
SHRINK_FROM = 100
"""Words that a published text must have for its shrinking to say anything."""
SHRUNK_TO = 0.3
"""Share of its words below which a text shrank suddenly."""
NEAR_BITS = 6
"""Simhash bits in which two fetches of one short text may differ (a counter, a rotating link)."""
PATIENCE = 3
"""Checks that found a page short, each with another text, after which it is believed to be."""

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_IDEOGRAPHS}]|[^\\W_{_IDEOGRAPHS}]+")
_RUN = re.compile(r"[a-z0-9_.:/+=@%-]+")
_NAME_MIN = 3
_BREAK = re.compile(r"\s[-|\u2013\u2014\u00b7:]\s")
_DATE_NAME = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    r"|mon|tue|wed|thu|fri|sat|sun|am|pm|utc|gmt)\b",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{1,4}$")


def word_count(text: str) -> int:
    """Return the number of words; each Chinese or Japanese character is one."""
    return len(_WORD.findall(text))


def masked(text: str, url: str = "", names: Iterable[str] = ()) -> list[str]:
    """Return the words of ``text`` in lower case; what is masked is one word ``MASK`` a run.

    ``names`` (in lower case) are masked too.
    """
    text = text.lower()
    for name in sorted({*_names(url), *names}, key=lambda name: (-len(name), name)):
        text = re.sub(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", f" {MASK} ", text)
    text = _RUN.sub(lambda run: f" {MASK} " if re.search("[0-9]", run[0]) else run[0], text)
    words = _WORD.findall(text)
    return [w for at, w in enumerate(words) if w != MASK or not at or words[at - 1] != MASK]


def _names(url: str) -> set[str]:
    """Return what a page may call itself by its address."""
    parts = urlsplit(url)
    found = set()
    for path in {parts.path, unquote(parts.path)}:
        last = path.rstrip("/").rpartition("/")[2]
        found |= {f"{parts.scheme}://{parts.netloc}{path}", path, path.strip("/"), last}
        found.add(_SUFFIX.sub("", last))
    return {name.lower() for name in found if len(name.strip("/")) >= _NAME_MIN} if url else set()


@dataclass(frozen=True, slots=True)
class Gist:
    """A title and a text in masked words, for comparing pages with each other."""

    title: tuple[str, ...]
    words: Counter[str]
    pairs: frozenset[tuple[str, ...]]
    """Neighbouring words; a single word stands alone."""
    length: int
    """Words of the text, nothing masked."""

    @classmethod
    def of(cls, title: str, text: str, url: str) -> Gist:
        """Return the gist of a page; a title that opens its text is not part of the text."""
        name, words = masked(title, url), masked(text, url)
        if words[: len(name)] == name:
            words = words[len(name) :]
        pairs = pairwise(words) if len(words) > 1 else [tuple(words)]
        kept = frozenset(filter(None, pairs))
        return cls(tuple(name), Counter(words), kept, word_count(text))

    def says(self, known: Gist) -> bool:
        """Tell whether this page says what ``known`` says, and next to nothing of its own."""
        same_title = self.title == known.title and not set(self.title) <= {MASK}
        if not (known.pairs or same_title):
            return False
        least, most = SAME_TITLE if same_title else OTHER_TITLE
        found = len(known.pairs & self.pairs) / len(known.pairs) if known.pairs else 1.0
        own = self.words - known.words
        return found >= least and own.total() - own[MASK] <= most


def gist_digest(title: str, text: str, url: str) -> str:
    """Return the sha256 (hex) of title and text in masked words, ``""`` for next to none."""
    words = [*masked(title, url), "\x00", *masked(text, url)]
    if len(words) <= GIST_MIN:
        return ""
    return hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def essence_digest(titles: Iterable[str], text: str, url: str) -> str:
    """Return the sha256 (hex) of what a text says whatever page it is of, ``""`` for next to none.

    Masked are the page's address and its ``titles`` (old and new, with or without the site's
    name), numbers, and the names of days and months.
    """
    parts = {part.strip().lower() for title in titles for part in (title, *_BREAK.split(title))}
    names = [part for part in parts if len(part) >= _NAME_MIN]
    words = masked(_DATE_NAME.sub(f" {MASK} ", text), url, names)
    if len(words) <= GIST_MIN:
        return ""
    return hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def unknown_name(urls: Iterable[str], token: str) -> str:
    """Return ``token`` as the last part of a URL, with the ending that most of ``urls`` have."""
    endings: Counter[str] = Counter()
    for url in urls:
        path = urlsplit(url).path
        if path.strip("/"):
            suffix = _SUFFIX.search(path.lower())
            endings["/" if path.endswith("/") else suffix[0] if suffix else ""] += 1
    most = sorted(endings.items(), key=lambda pair: (-pair[1], pair[0]))
    return token + (most[0][0] if most else "")


def shrank(before: int, after: int) -> bool:
    """Tell whether a text of ``before`` words that has ``after`` now may have lost its page."""
    return before >= SHRINK_FROM and after < SHRUNK_TO * before


@dataclass(frozen=True, slots=True)
class Short:
    """A text that is suddenly short, and the start of the run that found it (epoch seconds)."""

    digest: str
    simhash: int
    at: float
    essence: str = ""

    def doubt(self, before: Mapping[str, Any], apart: float) -> dict[str, Any]:
        """Return what to remember of it; ``believed`` in it once it counts as the page's text.

        That is when a run at least ``apart`` seconds after the first that found this
        text finds it again, or the page was found short for the third time so far apart,
        always with another text. What is believed stays so while the page is short.
        ``before`` is what was remembered until now, empty for nothing.
        """
        if before.get("believed"):
            return dict(before)
        now: dict[str, Any] = {
            "digest": self.digest,
            "simhash": self.simhash,
            "at": self.at,
            "checks": 1,
        }
        now |= {"essence": self.essence} if self.essence else {}
        if not before:
            return now
        later = self.at - before["at"] >= apart
        if self._is(before):
            return {**before, "believed": True} if later else dict(before)
        checks = before["checks"] + later
        return {**now, "checks": checks, **({"believed": True} if checks >= PATIENCE else {})}

    def _is(self, before: Mapping[str, Any]) -> bool:
        near = hamming(self.simhash, before["simhash"]) <= NEAR_BITS
        return self.digest == before["digest"] or near
