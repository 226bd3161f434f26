"""Unused room is given back, whatever happens meanwhile."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections import namedtuple
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from freshcrawl import cli
from freshcrawl.compacting import Compacted, compact
from freshcrawl.config import Config
from freshcrawl.core.published import Chunk, Edit, Published, Staged
from freshcrawl.ledger import Ledger
from freshcrawl.seams import Seam, listening
from freshcrawl.state import SiteState, open_for_reading, open_for_writing
from freshcrawl.stores import compacting
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import LockedError
from tests.support.project import REPO, environment, scrapy

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_000_000.0
PAGES = 40
BIG = bytes(np.random.default_rng(1).integers(0, 256, 20_000, dtype=np.uint8))
"""Content that cannot be compressed."""

KILLED_VACUUM = """
import os, pathlib, signal, sys, threading, time
from freshcrawl.stores import compacting
path = pathlib.Path(sys.argv[1])
def kill():
    log = path.with_name(path.name + "-wal")
    while not log.exists() or log.stat().st_size < 200_000:
        time.sleep(0.0005)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=kill, daemon=True).start()
compacting.compact_file(path)
time.sleep(30)
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(
        state_dir=str(tmp_path / "state"), generations_kept=1, versions_kept=1,
        vector_retention_days=0,
    )  # fmt: skip


def opened(config: Config) -> SiteState:
    return open_for_writing(config, "docs", "test", NOW)


def publish(state: SiteState, version: int) -> None:
    """Publish a version of each page, with content that differs from that of the others."""
    edits, contents = [], {}
    for number in range(PAGES):
        key, name = f"docs/{number:02}", f"content of {number} {version}"
        text = f"text of {number} {version}"
        base = (version * PAGES + number) * 1000 + 1
        contents[name] = BIG + name.encode()
        edits.append(
            Edit(
                Published(key, f"https://{key}", digest=text, content=name),
                [Chunk(base, key, 0, ["Top"], "", text, f"embed {text}")],
            )
        )
    state.corpus.put_content(contents)
    vectors = {e.chunks[0].embed_digest: np.ones(4, dtype=np.float32) / 2 for e in edits}
    state.corpus.put_vectors("m", vectors)

    def build(snapshot: Any) -> None:
        rows = list(snapshot.vectors())
        ids, matrix = [n for n, _ in rows], np.vstack([v for _, v in rows])
        state.index.write(snapshot.generation, ids, matrix, {"generation": snapshot.generation})

    state.corpus.publish(
        edits, run_id="r", model="m", dimension=4, published_at=NOW + version, build=build
    )


@pytest.fixture
def folder(config: Config) -> Path:
    """Return the folder of a site of which most is not needed any more."""
    with closing(opened(config)) as state:
        for version in range(3):
            publish(state, version)
        state.corpus.put_content({"never published": BIG})
        for number in range(300):
            state.records.put(f"work:{number}", {"blocks": "x" * 2_000})
        state.records.commit()
        for number in range(300):
            state.records.delete(f"work:{number}")
        state.records.commit()
        assert state.folder is not None
        for name in ("9.faiss", "9.json", "4.faiss.tmp", "3.json.tmp"):
            (state.folder / "index" / name).write_bytes(b"left by a crash")
        (state.folder / "index" / "notes.txt").write_text("not ours")
        return state.folder


def answers(config: Config) -> tuple[int, list[tuple[str, str]], list[str], int]:
    with (
        closing(open_for_reading(config, "docs")) as state,
        closing(state.corpus.snapshot()) as snapshot,
    ):
        pages = [(page.key, page.digest) for page in snapshot.pages()]
        texts = [chunk.text for chunk in snapshot.chunks()]
        return snapshot.generation, pages, texts, len(state.index.open(snapshot.generation))


def compacted(config: Config) -> Compacted:
    with closing(opened(config)) as state:
        return compact(state, config, NOW + 10)


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.name != "notes.txt")


def test_unused_room_is_given_back(config: Config, folder: Path) -> None:
    before = answers(config)
    done = compacted(config)
    assert answers(config) == before
    assert done.bytes_before > 2.5 * done.bytes_after
    assert done.bytes_after < 1.5 * PAGES * len(BIG)
    assert done.logs_in_use == []
    names = {path.name for path in (folder / "index").iterdir()}
    assert names == {"3.faiss", "3.json", "notes.txt"}
    assert done.files_removed == 8
    for name in ("records.sqlite", "corpus.sqlite"):
        with closing(sqlite3.connect(folder / name)) as conn:
            assert conn.execute("PRAGMA freelist_count").fetchone() == (0,)
            assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with closing(open_for_reading(config, "docs")) as state:
        assert state.corpus.get_content("never published") is None
        assert state.corpus.get_content("content of 0 2") is not None
    again = compacted(config)
    assert (again.files_removed, again.bytes_after) == (0, done.bytes_after)


def test_reader_with_an_open_snapshot_is_waited_for_and_named(
    config: Config, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from freshcrawl.stores import sqlitefile

    monkeypatch.setattr(sqlitefile, "BUSY_SECS", 0.2)
    with closing(open_for_reading(config, "docs")) as reader, closing(opened(config)) as state:
        publish(state, 3)
        with closing(reader.corpus.snapshot()) as snapshot:
            texts = [chunk.text for chunk in snapshot.chunks()]
            publish(state, 4)
            done = compact(state, config, NOW + 10)
            assert done.logs_in_use == ["corpus.sqlite"]
            assert [chunk.text for chunk in snapshot.chunks()] == texts
    assert (folder / "corpus.sqlite").stat().st_size > 0
    assert compacted(config).logs_in_use == []
    assert answers(config)[0] == 5


def test_too_little_room_is_said_before_anything_is_rewritten(
    config: Config, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10, 10, 1_000))
    monkeypatch.setattr(compacting, "compact_file", lambda path: pytest.fail("rewritten"))
    before = answers(config)
    with pytest.raises(StoreError, match=r"takes \d\.\d MB of free disk, and 0\.0 MB are free"):
        compacted(config)
    assert answers(config) == before


@pytest.mark.parametrize("seam", [Seam.ROWS_DROPPED, Seam.TIDIED])
def test_cut_off_between_its_steps(config: Config, folder: Path, seam: Seam) -> None:
    before = answers(config)

    def stop(reached: Seam) -> None:
        if reached == seam:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(stop):
        compacted(config)
    assert answers(config) == before
    compacted(config)
    assert answers(config) == before
    assert size(folder) < 1.5 * PAGES * len(BIG)


def test_killed_while_a_file_is_rewritten(config: Config, folder: Path) -> None:
    before = answers(config)
    path = folder / "corpus.sqlite"
    done = subprocess.run(
        [sys.executable, "-c", KILLED_VACUUM, str(path)],
        cwd=REPO, env=environment(), check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == -9
    assert answers(config) == before
    assert {file.name for file in folder.iterdir() if file.name.startswith("etilqs")} == set()
    compacted(config)
    assert answers(config) == before
    assert size(folder) < 1.5 * PAGES * len(BIG)


def test_command(config: Config, folder: Path) -> None:
    done = scrapy("compact", "--json", state=folder.parent)
    assert done.returncode == 0, done.stderr
    [told] = json.loads(done.stdout)["sites"]
    assert told["site"] == "docs"
    assert told["bytes_after"] < told["bytes_before"]


def test_no_site_yet(tmp_path: Path) -> None:
    done = scrapy("compact", state=tmp_path / "none")
    assert done.returncode == 0
    assert done.stdout == f"no site yet in {tmp_path / 'none'}: nothing to compact\n"


def test_vectors_that_were_never_published_go_but_for_those_that_work_waits_for(
    config: Config, folder: Path
) -> None:
    def chunk(text: str) -> Chunk:
        return Chunk(7, "docs/new", 0, ["Top"], "", text, f"embed {text}")

    waits, lost = chunk("waits"), chunk("lost")
    kept = chunk("text of 0 2")
    with closing(opened(config)) as state:
        entry = Staged(
            "docs/new", "https://docs/new", "live", "new", NOW, digest="d",
            chunks=[waits.to_json()],
        )  # fmt: skip
        Ledger(state, NOW).restage(entry)
        state.records.commit()
        vectors = {c.embed_digest: np.ones(4, dtype=np.float32) / 2 for c in (waits, lost)}
        state.corpus.put_vectors("m", vectors)
        # As a reindex leaves them that was cut off while it embedded for another model.
        state.corpus.put_vectors("other", {kept.embed_digest: np.ones(4, dtype=np.float32) / 2})
    compacted(config)
    digests = [c.embed_digest for c in (waits, lost, kept)]
    with closing(open_for_reading(config, "docs")) as state:
        assert state.corpus.missing_vectors("m", digests) == {lost.embed_digest}
        assert state.corpus.missing_vectors("other", [kept.embed_digest]) == set()


@pytest.mark.parametrize("seam", [Seam.ROWS_DROPPED, Seam.TIDIED])
def test_folder_that_was_made_anew_meanwhile_is_left_alone(
    config: Config, folder: Path, seam: Seam
) -> None:
    before = list[dict[str, bytes]]()

    def replace_folder(reached: Seam) -> None:
        if reached == seam:
            aside = folder.with_name("aside")
            folder.rename(aside)
            shutil.copytree(aside, folder)
            before.append(contents(folder))

    with (
        pytest.raises(StoreError, match="the folder was deleted or replaced"),
        listening(replace_folder),
    ):
        compacted(config)
    assert [contents(folder)] == before


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open database file"):
        compacting.compact_file(tmp_path / "corpus.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_site_in_use_is_left(config: Config, folder: Path) -> None:
    with closing(opened(config)), pytest.raises(LockedError, match="in use by `test`"):
        cli.with_writer(config, "docs", "compact", NOW, lambda state, own: compact(state, own, NOW))
