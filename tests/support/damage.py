"""Ways in which a site's state is damaged: each a function of the site's folder.

They act on the newest generation of a crawled site, from outside of freshcrawl.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Damage = Callable[[Path], None]

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


def seal(folder: Path) -> None:
    """Make the manifest's count, size and sha256 those of the file."""
    import faiss

    path, manifest = index(folder), index(folder, "json")
    data = path.read_bytes()
    told = json.loads(manifest.read_bytes())
    told |= {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    told["count"] = faiss.read_index(str(path)).ntotal
    manifest.write_text(json.dumps(told))


def rewrite_index(folder: Path, *, ids: int = 0, dimension: int = 0, extra: int = 0) -> None:
    """Put a valid FAISS file of other vectors in the place of the index file.

    ``ids`` is added to each id; ``extra`` vectors of no chunk are added. The ``dimension`` is the
    one before, if it is 0.
    """
    import faiss
    import numpy as np

    path = index(folder)
    before: Any = faiss.read_index(str(path))
    dimension = dimension or before.d
    numbers = faiss.vector_to_array(before.id_map) + ids
    rows = before.index.reconstruct_n(0, before.ntotal)
    if not extra:
        random = np.random.default_rng(1)
        rows = random.standard_normal((len(numbers), dimension)).astype(np.float32)
    more = np.eye(extra, dimension, dtype=np.float32)
    rows = np.vstack([rows / np.linalg.norm(rows, axis=1, keepdims=True), more])
    numbers = np.concatenate([numbers, np.arange(1, extra + 1)])
    after = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))
    after.add_with_ids(rows, numbers)
    faiss.write_index(after, str(path))


def index_missing(folder: Path) -> None:
    index(folder).unlink()


def index_truncated(folder: Path) -> None:
    path = index(folder)
    path.write_bytes(path.read_bytes()[:-100])


def index_flipped(folder: Path) -> None:
    path = index(folder)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def index_foreign(folder: Path) -> None:
    rewrite_index(folder)


def index_foreign_sealed(folder: Path) -> None:
    rewrite_index(folder)
    seal(folder)


def index_of_other_ids_sealed(folder: Path) -> None:
    rewrite_index(folder, ids=1)
    seal(folder)


def index_of_other_dimension_sealed(folder: Path) -> None:
    rewrite_index(folder, dimension=32)
    seal(folder)


def index_with_extra_vectors_sealed(folder: Path) -> None:
    rewrite_index(folder, extra=3)
    seal(folder)


def index_of_other_kind_sealed(folder: Path) -> None:
    import faiss

    faiss.write_index(faiss.IndexFlatL2(64), str(index(folder)))
    seal(folder)


def manifest_missing(folder: Path) -> None:
    index(folder, "json").unlink()


def manifest_damaged(folder: Path) -> None:
    index(folder, "json").write_text("[")


def manifest_of_other_model(folder: Path) -> None:
    path = index(folder, "json")
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "model": "other"}))


def old_index_flipped(folder: Path) -> None:
    number = generation(folder) - 1
    path = folder / "index" / f"{number}.faiss"
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def index_of_no_generation(folder: Path) -> None:
    number = generation(folder) + 5
    for ending in ("faiss", "json"):
        (folder / "index" / f"{number}.{ending}").write_bytes(index(folder, ending).read_bytes())


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


def content_of(conn: sqlite3.Connection) -> tuple[str, bytes]:
    query = (
        "SELECT digest, data FROM content WHERE digest ="
        f" (SELECT content FROM published WHERE {OPEN} AND key = ?)"
    )
    digest, data = conn.execute(query, (live_key(conn),)).fetchone()
    return digest, data


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


def record_missing(folder: Path) -> None:
    with corpus(folder) as conn:
        key = live_key(conn)
    with records(folder) as conn:
        conn.execute("DELETE FROM records WHERE key = ?", (f"page:{key}",))


def record_status(folder: Path) -> None:
    set_record(folder, status="gone")


def record_made_by(folder: Path) -> None:
    set_record(folder, made_by="1.1")


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


def database_zeroed(folder: Path, name: str = "corpus.sqlite") -> None:
    """Overwrite a page in the middle of a database file."""
    path = folder / name
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 64] = b"\xaa" * 64
    path.write_bytes(data)
