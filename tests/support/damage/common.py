"""Where a damage is done: the newest generation of a crawled site, from outside of freshcrawl."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPEN = "to_gen IS NULL"


@contextmanager
def corpus(folder: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection whose changes are committed at the end."""
    with closing(sqlite3.connect(folder / "corpus.sqlite")) as conn, conn:
        yield conn


@contextmanager
def records(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / "records.sqlite")) as conn, conn:
        yield conn


def live_key(conn: sqlite3.Connection, place: int = 1) -> str:
    """Return the key of a live page, by its place among them."""
    query = (
        f"SELECT key FROM published WHERE {OPEN} AND status = 'live' ORDER BY key LIMIT 1 OFFSET ?"
    )
    return str(conn.execute(query, (place,)).fetchone()[0])


def generation(folder: Path) -> int:
    with corpus(folder) as conn:
        return int(conn.execute("SELECT max(generation) FROM generations").fetchone()[0])


def index(folder: Path, ending: str = "faiss") -> Path:
    return folder / "index" / f"{generation(folder)}.{ending}"


def content_of(conn: sqlite3.Connection) -> tuple[str, bytes]:
    query = (
        "SELECT digest, data FROM content WHERE digest ="
        f" (SELECT content FROM published WHERE {OPEN} AND key = ?)"
    )
    digest, data = conn.execute(query, (live_key(conn),)).fetchone()
    return digest, data
