"""What ``corpus.sqlite`` holds of pages that are to be purged, and of nobody else."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshcrawl.stores.corpus_tables import connect_existing
from freshcrawl.stores.sqlitefile import reported

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable
    from pathlib import Path

_VERSIONS = "SELECT url, digest, content FROM published WHERE key = ?"
_CHUNKS = "SELECT id, embed_digest FROM chunks WHERE key = ?"
_KEYS = {
    "digest": "SELECT DISTINCT key FROM published WHERE digest = ?",
    "content": "SELECT DISTINCT key FROM published WHERE content = ?",
    "embed": "SELECT DISTINCT key FROM chunks WHERE embed_digest = ?",
}
_HAS = {
    "content": "SELECT count(*) FROM content WHERE digest = ?",
    "embed": "SELECT count(*) FROM vectors WHERE embed_digest = ?",
}


@dataclass(slots=True)
class Stored:
    """What is stored of a page."""

    urls: set[str] = field(default_factory=set)
    versions: int = 0
    """Published rows, of all generations."""
    chunks: int = 0
    """Rows of passages, of all generations."""
    ids: set[int] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    """Digests of its texts."""
    own: set[str] = field(default_factory=set)
    """Digests of texts, content and passages that no page has which stays."""
    content: int = 0
    """Rows of content of its own."""
    vectors: int = 0
    """Vectors of passages of its own, of all models."""


def inventory(
    path: Path, keys: Collection[str], staged: dict[str, set[str]], waiting: Collection[str]
) -> dict[str, Stored]:
    """Return by key what is stored of pages.

    ``staged`` has the embed digests of what waits of them, ``waiting`` those of what waits of
    other pages. What several of the pages share counts with the first.

    Raises:
        StoreError: the file cannot be read.
    """
    with reported(path):
        conn = connect_existing(path)
        if conn is None:
            return {key: Stored() for key in keys}
        with closing(conn):
            looked = _Looked(conn, frozenset(keys), frozenset(waiting))
            return {key: looked.at(key, staged.get(key, ())) for key in sorted(keys)}


class _Looked:
    """Looks at one page after the other."""

    def __init__(
        self, conn: sqlite3.Connection, keys: frozenset[str], waiting: frozenset[str]
    ) -> None:
        self._conn, self._keys, self._waiting = conn, keys, waiting
        self._counted: set[str] = set()

    def at(self, key: str, staged: Iterable[str]) -> Stored:
        found = Stored()
        digests: dict[str, set[str]] = {"digest": set(), "content": set(), "embed": set(staged)}
        for url, digest, content in self._conn.execute(_VERSIONS, (key,)):
            found.versions += 1
            found.urls.add(url)
            digests["digest"].update(filter(None, (digest,)))
            digests["content"].update(filter(None, (content,)))
        for number, digest in self._conn.execute(_CHUNKS, (key,)):
            found.chunks += 1
            found.ids.add(number)
            digests["embed"].add(digest)
        found.texts = set(digests["digest"])
        own = {kind: {d for d in of if self._is_own(kind, d)} for kind, of in digests.items()}
        found.own = own["digest"] | own["content"] | own["embed"]
        found.content = self._count("content", own["content"])
        found.vectors = self._count("embed", own["embed"])
        return found

    def _is_own(self, kind: str, digest: str) -> bool:
        if kind == "embed" and digest in self._waiting:
            return False
        rows = self._conn.execute(_KEYS[kind], (digest,))
        return all(key in self._keys for (key,) in rows)

    def _count(self, kind: str, digests: set[str]) -> int:
        new = digests - self._counted
        self._counted |= new
        return sum(self._conn.execute(_HAS[kind], (d,)).fetchone()[0] for d in sorted(new))
