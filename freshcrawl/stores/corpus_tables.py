"""Tables of ``corpus.sqlite`` and the rows in them.

A row of ``published`` or ``chunks`` belongs to the generations from
``from_gen`` up to, not including, ``to_gen``; it is open (in the current one)
while ``to_gen`` is NULL.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from freshcrawl.core.published import Chunk, Published
from freshcrawl.stores.sqlitefile import connect_checked

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SCHEMA_VERSION = 1
VERSION_QUERY = "SELECT value FROM meta WHERE name = 'schema'"

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value);
INSERT INTO meta VALUES ('schema', 1);
CREATE TABLE generations (
  generation INTEGER PRIMARY KEY, published_at REAL NOT NULL, run_id TEXT NOT NULL,
  model TEXT NOT NULL, dimension INTEGER NOT NULL,
  pages INTEGER NOT NULL DEFAULT 0, chunks INTEGER NOT NULL DEFAULT 0,
  kept INTEGER NOT NULL DEFAULT 1 -- 0: only its time is still asked for
);
CREATE TABLE published (
  key TEXT NOT NULL, url TEXT NOT NULL, status TEXT NOT NULL, digest TEXT NOT NULL,
  links_digest TEXT NOT NULL, title TEXT NOT NULL, simhash TEXT NOT NULL, -- hex, unsigned
  changed_at REAL NOT NULL, content TEXT NOT NULL, from_gen INTEGER NOT NULL, to_gen INTEGER
);
CREATE UNIQUE INDEX published_open ON published (key) WHERE to_gen IS NULL;
CREATE INDEX published_closed ON published (to_gen) WHERE to_gen IS NOT NULL;
CREATE TABLE chunks (
  id INTEGER NOT NULL, key TEXT NOT NULL, ordinal INTEGER NOT NULL,
  heading_path TEXT NOT NULL, anchor TEXT NOT NULL, text TEXT NOT NULL,
  embed_digest TEXT NOT NULL, from_gen INTEGER NOT NULL, to_gen INTEGER
);
CREATE UNIQUE INDEX chunks_open ON chunks (id) WHERE to_gen IS NULL;
CREATE INDEX chunks_of_page ON chunks (key, ordinal) WHERE to_gen IS NULL;
CREATE INDEX chunks_closed ON chunks (to_gen) WHERE to_gen IS NOT NULL;
CREATE INDEX chunks_digest ON chunks (embed_digest);
CREATE VIEW open_pages AS SELECT key, url, status, digest, links_digest, title, simhash,
  changed_at, content, from_gen FROM published WHERE to_gen IS NULL;
CREATE VIEW open_chunks AS SELECT id, key, ordinal, heading_path, anchor, text, embed_digest
  FROM chunks WHERE to_gen IS NULL;
CREATE TABLE vectors (
  model TEXT NOT NULL, embed_digest TEXT NOT NULL, vector BLOB NOT NULL, -- float32, little-endian
  used_at REAL, -- when it last left the current generation; NULL: it has not
  UNIQUE (embed_digest, model)
);
CREATE INDEX vectors_used ON vectors (used_at) WHERE used_at IS NOT NULL;
CREATE TABLE content (
  digest TEXT PRIMARY KEY, data BLOB NOT NULL, -- zlib
  published INTEGER NOT NULL DEFAULT 0
);
"""

INDEXES = """
CREATE INDEX IF NOT EXISTS published_of_page ON published (key, from_gen);
CREATE INDEX IF NOT EXISTS published_from ON published (from_gen);
CREATE INDEX IF NOT EXISTS published_content ON published (content);
"""
"""Later than the layout, which they do not change: files of before get them when written to."""

# The columns of open_pages and open_chunks.
PAGE_FIELDS = (
    "key",
    "url",
    "status",
    "digest",
    "links_digest",
    "title",
    "simhash",
    "changed_at",
    "content",
    "from_gen",
)
CHUNK_FIELDS = ("id", "key", "ordinal", "heading_path", "anchor", "text", "embed_digest")

_BATCH = 500


def connect_existing(path: Path) -> sqlite3.Connection | None:
    """Return a new connection for reading; None while there is no file with tables."""
    return connect_checked(path, VERSION_QUERY, SCHEMA_VERSION) if path.exists() else None


def create_tables(conn: sqlite3.Connection) -> None:
    """Make all tables of a new file in one transaction."""
    conn.executescript(f"BEGIN IMMEDIATE;{SCHEMA}{INDEXES}COMMIT;")


def add_indexes(conn: sqlite3.Connection) -> None:
    """Give a file of an earlier release the indexes that came later, in one transaction."""
    query = "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = ?"
    if not conn.execute(query, ("published_content",)).fetchone()[0]:
        conn.executescript(f"BEGIN IMMEDIATE;{INDEXES}COMMIT;")


def page_row(page: Published, generation: int) -> tuple[Any, ...]:
    """Return the values of PAGE_FIELDS."""
    encoded = {"simhash": format(page.simhash, "x"), "from_gen": generation}
    return tuple(encoded.get(name, getattr(page, name)) for name in PAGE_FIELDS)


def read_page(row: tuple[Any, ...]) -> Published:
    """Return the page of a row of PAGE_FIELDS."""
    values = dict(zip(PAGE_FIELDS, row, strict=True))
    return Published(**{**values, "simhash": int(values["simhash"], 16)})


def chunk_row(chunk: Chunk) -> tuple[Any, ...]:
    """Return the values of CHUNK_FIELDS."""
    encoded = {"heading_path": json.dumps(chunk.heading_path, ensure_ascii=False)}
    return tuple(encoded.get(name, getattr(chunk, name)) for name in CHUNK_FIELDS)


def read_chunk(row: tuple[Any, ...]) -> Chunk:
    """Return the chunk of a row of CHUNK_FIELDS."""
    values = dict(zip(CHUNK_FIELDS, row, strict=True))
    return Chunk(**{**values, "heading_path": json.loads(values["heading_path"])})


def select_in(
    conn: sqlite3.Connection, query: str, args: tuple[Any, ...], values: Iterable[Any]
) -> Iterator[tuple[Any, ...]]:
    """Run ``query``, ending in ``IN``, over ``values`` in batches; ``args`` come first."""
    wanted = list(values)
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        marks = ",".join("?" * len(batch))
        yield from conn.execute(f"{query} ({marks})", (*args, *batch))


def current_generation(conn: sqlite3.Connection) -> int:
    """Return the number of the newest generation, 0 for none."""
    return int(conn.execute("SELECT ifnull(max(generation), 0) FROM generations").fetchone()[0])
