"""Rows of ``corpus.sqlite``."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from tests.support.damage.common import OPEN, content_of, corpus, live_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def generation_ahead(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(
            "INSERT INTO generations SELECT max(generation) + 1, published_at, run_id, model,"
            " dimension, pages, chunks, 1 FROM generations"
        )


def generation_lost(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(
            "DELETE FROM generations WHERE generation = (SELECT max(generation) FROM generations)"
        )


def counts_altered(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute("UPDATE generations SET pages = pages + 1, chunks = chunks + 4")


def chunks_deleted_some(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(
            f"DELETE FROM chunks WHERE {OPEN} AND key = ? AND ordinal % 2", (live_key(conn),)
        )


def chunks_deleted_page(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(f"DELETE FROM chunks WHERE {OPEN} AND key = ?", (live_key(conn, 2),))


def chunks_altered(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(
            f"UPDATE chunks SET text = 'no ' || text WHERE {OPEN} AND key = ?", (live_key(conn),)
        )


def chunks_of_no_page(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(
            "INSERT INTO chunks SELECT id + 1, 'elsewhere.example/', ordinal, heading_path, anchor,"
            f" text, embed_digest, from_gen, NULL FROM chunks WHERE {OPEN} AND key = ?",
            (live_key(conn),),
        )


def chunks_added_to_page(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(
            "INSERT INTO chunks SELECT id + 1, key, ordinal + 99, heading_path, anchor,"
            f" text, embed_digest, from_gen, NULL FROM chunks WHERE {OPEN} AND key = ?",
            (live_key(conn),),
        )


def page_row_deleted(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(f"DELETE FROM published WHERE {OPEN} AND key = ?", (live_key(conn),))


def page_row_gone(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute(
            f"UPDATE published SET status = 'gone' WHERE {OPEN} AND key = ?", (live_key(conn),)
        )


def set_vectors(folder: Path, make: Callable[[bytes], bytes]) -> None:
    """Change the vectors of a live page."""
    with corpus(folder) as conn:
        rows = conn.execute(
            "SELECT embed_digest, vector FROM vectors WHERE embed_digest IN"
            f" (SELECT embed_digest FROM chunks WHERE {OPEN} AND key = ?)",
            (live_key(conn),),
        ).fetchall()
        conn.executemany(
            "UPDATE vectors SET vector = ? WHERE embed_digest = ?",
            [(make(vector), digest) for digest, vector in rows],
        )


def vectors_short(folder: Path) -> None:
    set_vectors(folder, lambda vector: vector[:-4])


def vectors_nan(folder: Path) -> None:
    set_vectors(folder, lambda vector: b"\x00\x00\xc0\x7f" + vector[4:])


def vectors_not_normalised(folder: Path) -> None:
    import numpy as np

    set_vectors(folder, lambda vector: (np.frombuffer(vector, "<f4") * 2).tobytes())


def vectors_altered(folder: Path) -> None:
    """Sound ones, of other texts."""
    import numpy as np

    set_vectors(folder, lambda vector: (np.frombuffer(vector, "<f4")[::-1] * -1).tobytes())


def vectors_relabelled(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute("UPDATE vectors SET model = 'other-64'")


def vectors_deleted(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute("DELETE FROM vectors")


def vectors_unused_short(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute("INSERT INTO vectors SELECT model, 'nobody', x'00', NULL FROM vectors LIMIT 1")


def content_flipped(folder: Path) -> None:
    with corpus(folder) as conn:
        name, data = content_of(conn)
        middle = len(data) // 2
        data = data[:middle] + bytes([data[middle] ^ 0x40]) + data[middle + 1 :]
        conn.execute("UPDATE content SET data = ? WHERE digest = ?", (data, name))


def content_of_other_text(folder: Path) -> None:
    with corpus(folder) as conn:
        name, data = content_of(conn)
        told = json.loads(zlib.decompress(data))
        told["blocks"][-1]["text"] += " And more."
        data = zlib.compress(json.dumps(told).encode())
        conn.execute("UPDATE content SET data = ? WHERE digest = ?", (data, name))


def content_missing(folder: Path) -> None:
    with corpus(folder) as conn:
        conn.execute("DELETE FROM content WHERE digest = ?", (content_of(conn)[0],))
