"""Rows of ``records.sqlite``."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from tests.support.damage.common import OPEN, content_of, corpus, live_key, records

if TYPE_CHECKING:
    from pathlib import Path


def set_record(folder: Path, **changes: Any) -> None:
    """Change the record of a live page."""
    with corpus(folder) as conn:
        key = live_key(conn)
    with records(folder) as conn:
        name = f"page:{key}"
        [(value,)] = conn.execute("SELECT value FROM records WHERE key = ?", (name,))
        row = json.dumps({**json.loads(value), **changes})
        conn.execute("UPDATE records SET value = ? WHERE key = ?", (row, name))


def put_record(folder: Path, name: str, value: Any) -> None:
    with records(folder) as conn:
        conn.execute("REPLACE INTO records VALUES (?, ?)", (name, json.dumps(value)))


def staged_row(folder: Path, **changes: Any) -> dict[str, Any]:
    """Return what would stage the published text of a live page."""
    names = "key, url, status, digest, links_digest, title"
    with corpus(folder) as conn:
        key = live_key(conn)
        query = f"SELECT {names} FROM published WHERE {OPEN} AND key = ?"
        values = conn.execute(query, (key,)).fetchone()
        made_by = json.loads(zlib.decompress(content_of(conn)[1]))["made_by"]
    row = dict(zip(names.split(", "), values, strict=True))
    return {**row, "verdict": "changed", "staged_at": 1.0, "made_by": made_by, **changes}


def record_missing(folder: Path) -> None:
    with corpus(folder) as conn:
        key = live_key(conn)
    with records(folder) as conn:
        conn.execute("DELETE FROM records WHERE key = ?", (f"page:{key}",))


def record_status(folder: Path) -> None:
    set_record(folder, status="gone")


def record_made_by(folder: Path) -> None:
    set_record(folder, made_by="1.1")


def record_version(folder: Path) -> None:
    """It says that a text was found which is nowhere."""
    set_record(folder, validator_digest="of another text", etag='"1"', next_due=9e9)


def record_unpublished(folder: Path) -> None:
    """A live record of a page that no source lists and that nothing is known of."""
    with corpus(folder) as conn:
        [(url, key)] = conn.execute(f"SELECT url, key FROM published WHERE {OPEN} LIMIT 1")
    row = {"key": f"{key}-ghost", "url": f"{url}-ghost", "status": "live", "etag": '"1"'}
    put_record(folder, f"page:{row['key']}", {**row, "made_by": "2.2", "next_due": 9e9})


def row_of_page_no_json(folder: Path) -> None:
    with corpus(folder) as conn:
        key = live_key(conn)
    with records(folder) as conn:
        conn.execute("UPDATE records SET value = '{' WHERE key = ?", (f"page:{key}",))


def row_of_noise_no_json(folder: Path) -> None:
    with corpus(folder) as conn:
        key = live_key(conn)
    put_record(folder, f"noise:{key}", ["no object"])


def row_of_run_no_json(folder: Path) -> None:
    """Of a kind that is never dropped."""
    put_record(folder, "run:20260101T000000.000000Z-0000", "no object")


def staged_without_work(folder: Path) -> None:
    row = staged_row(folder, digest="of another text")
    put_record(folder, f"staged:{row['key']}", row)


def staged_published(folder: Path) -> None:
    row = staged_row(folder)
    put_record(folder, f"staged:{row['key']}", row)
    put_record(folder, f"work:{row['key']}", {})


def work_without_staged(folder: Path) -> None:
    put_record(folder, "work:elsewhere.example/", {})


def row_of_staged_no_json(folder: Path) -> None:
    row = staged_row(folder)
    put_record(folder, f"staged:{row['key']}", 7)
    put_record(folder, f"work:{row['key']}", {})
