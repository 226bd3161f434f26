"""Looks through all files of a site for what was purged from them."""

from __future__ import annotations

import re
import zlib
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import Status
from freshcrawl.forgotten import MARKS, names_pattern
from freshcrawl.staging import unpack
from freshcrawl.state import CORPUS, INDEX, RECORDS
from freshcrawl.stores.all_rows import all_rows
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.faiss_audit import FaissAudit
from freshcrawl.stores.sqlite import json_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from freshcrawl.purged import Purged

_DIGEST = re.compile(r"[0-9a-f]{64}")
_OF_OTHERS = {
    "listing": "lists",
    "source": "lists",
    "event": "webhook",
    "letter": "webhook",
    "page": "other_pages",
    "staged": "other_pages",
    "work": "other_pages",
    "noise": "other_pages",
}
"""Rows of records that may name a page which is forgotten, and what they count as."""
_UNTOLD = "meta:untold"
_TEXTS = frozenset({"published", "chunks", "content"})
"""Tables of the corpus whose rows may name another page."""


@dataclass(slots=True)
class Traces:
    """What was looked through, and what was found."""

    rows: int = 0
    """Rows of both databases."""
    index_files: int = 0
    names: int = 0
    """Keys and URLs that were looked for."""
    digests: int = 0
    """Digests of texts, content and passages that were looked for."""
    ids: int = 0
    """Ids of passages that were looked for in the index files."""
    named_by: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("marks", "lists", "webhook", "other_pages"), 0)
    )
    """Rows that name a page by right: the marks that keep it out, lists of the site, what the
    webhook is told, and other pages' own texts and records."""
    left: list[str] = field(default_factory=list)
    """Where something of it still is that should not be."""

    def to_json(self) -> dict[str, Any]:
        """Return it as the proof has it."""
        return asdict(self)


def look_for(folder: Path, purged: Purged) -> Traces:
    """Return what is still found of purged pages in a site's folder.

    Raises:
        StoreError: a file cannot be read.
    """
    found = Traces(names=len(purged.names), digests=len(purged.digests), ids=len(purged.ids))
    search = _Search(purged, found)
    for name in (RECORDS, CORPUS):
        if (folder / name).exists():
            for table, row in all_rows(folder / name):
                search.row(name, table, row)
    for path in sorted((folder / INDEX).glob("*.faiss")):
        found.index_files += 1
        try:
            ids = FaissAudit(path).ids
        except StoreError as error:
            found.left.append(f"{path.name}: cannot be looked through: it {error}")
            continue
        if number := len(purged.ids.intersection(ids)):
            found.left.append(f"{path.name}: {number} ids of its passages")
    return found


class _Search:
    """Looks at one row after the other."""

    def __init__(self, purged: Purged, found: Traces) -> None:
        self._digests, self._found = purged.digests, found
        self._keys = {page.key for page in purged.pages}
        self._names = sorted(purged.names)
        self._hosts = {name.partition("://")[2] or name for name in purged.names}
        self._hosts = {name.partition("/")[0] for name in self._hosts}
        self._pattern = names_pattern(purged.names) if purged.names else None

    def row(self, file: str, table: str, row: Mapping[str, Any]) -> None:
        found, texts = self._found, list(_texts(table, row))
        found.rows += 1
        digests = self._digests.intersection(d for t in texts for d in _DIGEST.findall(t))
        if digests:
            found.left.append(f"{file}: {table}: {len(digests)} of its digests")
        if any(map(self._is_named, texts)):
            kind = self._kind(file, table, row)
            if kind:
                found.named_by[kind] += 1
            else:
                found.left.append(f"{file}: {table}: a row of it, or one that names it")

    def _is_named(self, text: str) -> bool:
        if self._pattern is None or not any(host in text for host in self._hosts):
            return False
        if not any(name in text for name in self._names):
            return False
        return self._pattern.search(text) is not None

    def _kind(self, file: str, table: str, row: Mapping[str, Any]) -> str:
        """Return by what right a row names a page, "" for none."""
        if file == RECORDS:
            return self._kind_of_record(str(row["key"]), row["value"])
        if table == "meta":
            return "marks" if str(row["name"]).startswith("forgotten:") else ""
        of_others = table in _TEXTS and row.get("key") not in self._keys
        return "other_pages" if of_others else ""

    def _kind_of_record(self, name: str, value: Any) -> str:
        prefix, _, key = name.partition(":")
        if name == MARKS:
            return "marks"
        if name == _UNTOLD:
            return "webhook"
        if key in self._keys and prefix in {"page", "staged", "work", "noise"}:
            record = json_object(value) or {}
            is_mark = prefix == "page" and record.get("status") == Status.FORGOTTEN
            return "marks" if is_mark else ""
        if prefix in {"listing", "source"} and key.partition(":")[2] in self._keys:
            return ""  # what the page itself listed
        return _OF_OTHERS.get(prefix, "")


def _texts(table: str, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield all that can be read of a row, also what is packed in it."""
    for value in row.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, bytes) and table == "content":
            yield _inflated(value)
        elif isinstance(value, bytes) and table != "vectors":
            yield value.decode("utf-8", "replace")
    if table == "records" and str(row["key"]).startswith("work:"):
        work = json_object(row["value"]) or {}
        for name in ("blocks", "body"):
            try:
                yield unpack(work.get(name, ""))
            except (ValueError, TypeError, zlib.error):
                continue


def _inflated(data: bytes) -> str:
    try:
        return zlib.decompress(data).decode("utf-8", "replace")
    except zlib.error:
        return ""
