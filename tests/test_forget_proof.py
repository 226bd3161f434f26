"""``scrapy forget --proof FILE``: what was removed, in writing, and that nothing is found of it."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import UsageError

from freshcrawl import __version__, cli
from freshcrawl.commands.forget import Command
from freshcrawl.config import ConfigError
from freshcrawl.proof_file import ProofFile
from freshcrawl.purged import COUNTS, Purged, PurgedPage
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.sqlitefile import connect_writer
from freshcrawl.traces import look_for
from tests.support.project import REPO, command, environment, scrapy
from tests.support.quick_site import QuickSite
from tests.support.site_model import key_of, url_of
from tests.test_forget import OLDER, PATHS, SECRET

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

URL, KEY = url_of("/secret"), key_of("/secret")


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, runner: asyncio.Runner) -> QuickSite:
    """Return a site where ``/secret`` has a version in each of two generations."""
    site = QuickSite(tmp_path_factory.mktemp("crawled"), runner)
    for path in PATHS:
        site.serve(path, f"The text of {path} is about valves.")
    site.serve("/secret", OLDER)
    site.serve("/a", "It is about valves.", links=f'<a href="{URL}">more</a>')
    site.on_sitemap(*PATHS)
    site.crawl()
    site.serve("/secret", SECRET)
    site.crawl()
    return site


@pytest.fixture
def site(crawled: QuickSite, tmp_path: Path, runner: asyncio.Runner) -> QuickSite:
    return crawled.copied(tmp_path / "site", runner)


def run(of: QuickSite, target: str, proof: Path | str = "", **given: Any) -> int:
    given = {"site": "", "json": False, "dry_run": False, "undo": False, "all": False, **given}
    forgets = Command()
    forgets.settings = of.place.settings({})
    forgets.run([target], argparse.Namespace(**given, proof=str(proof)))
    return int(forgets.exitcode)


def rows(site: QuickSite, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(site.folder / "corpus.sqlite")) as conn:
        return conn.execute(query).fetchall()


def test_what_it_says(site: QuickSite, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digests = {row[0] for row in rows(site, f"SELECT digest FROM published WHERE key = '{KEY}'")}
    vectors = len(rows(site, "SELECT 1 FROM vectors"))
    proof = tmp_path / "proof.json"
    assert run(site, URL, proof) == cli.OK
    told = json.loads(proof.read_text("utf-8"))
    [page] = told.pop("pages")
    checked = told.pop("checked")
    removed = told.pop("removed")
    written = told.pop("written_at")
    assert written.endswith("Z")
    assert told == {
        "format": 1, "site": "docs", "target": URL, "freshcrawl": __version__, "generation": 3,
        "copies": [], "rewritten": ["records.sqlite", "corpus.sqlite"], "logs_in_use": [],
        "without_room": [], "undo": f"scrapy forget --undo {URL} --site docs",
    }  # fmt: skip
    assert page.pop("text_sha256") == sorted(
        hashlib.sha256(digest.encode()).hexdigest() for digest in digests
    )
    assert page == {
        "key": KEY, "urls": [URL], "status_before": "live", "forgotten_at": written,
        "forgotten_before": False, "removed": page["removed"],
    }  # fmt: skip
    assert {name: removed[name] for name in ("versions", "chunks", "vectors", "content")} == {
        "versions": 2, "chunks": 2, "vectors": vectors - len(rows(site, "SELECT 1 FROM vectors")),
        "content": 2,
    }  # fmt: skip
    assert removed["vectors"] == 2
    assert removed["index_files"] == 2
    assert removed["report_mentions"] > 0
    assert {**page["removed"], "index_files": 2} == removed
    assert page["removed"].keys() == COUNTS.keys()
    assert checked["left"] == []
    assert checked["named_by"]["marks"] == 3
    assert checked["named_by"]["lists"] >= 1
    assert checked["named_by"]["other_pages"] >= 1, "/a links to it"
    assert (checked["names"], checked["digests"], checked["index_files"]) == (2, 6, 1)
    assert (checked["ids"], checked["rows"] > 20) == (2, True)
    for secret in (SECRET, OLDER, *digests):
        assert secret not in proof.read_text("utf-8")
    out = capsys.readouterr().out
    assert "  removed: 2 versions, 2 passages, 2 vectors, 2 kept texts" in out
    assert "nothing is left of them" in out


def test_only_its_owner_can_read_it_and_no_draft_is_left(site: QuickSite, tmp_path: Path) -> None:
    folder = tmp_path / "proofs"
    folder.mkdir()
    before = os.umask(0)
    try:
        assert run(site, URL, folder / "one.json") == cli.OK
    finally:
        os.umask(before)
    assert [path.name for path in folder.iterdir()] == ["one.json"]
    assert stat.S_IMODE((folder / "one.json").stat().st_mode) == 0o600


def test_counts_are_said_without_a_proof_too(
    site: QuickSite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(site, "/old/", json=True) == cli.OK
    [told] = json.loads(capsys.readouterr().out)["sites"]
    assert (told["removed"]["versions"], told["removed"]["vectors"]) == (2, 2)
    assert not {"purged", "traces"} & told.keys()
    assert run(site, URL) == cli.OK
    out = capsys.readouterr().out
    assert "  removed: 2 versions, " in out
    assert "looked for" not in out


def test_what_others_share_is_not_counted_nor_looked_for(site: QuickSite, tmp_path: Path) -> None:
    site.serve("/twin", SECRET)
    site.server.answers["/twin"] = site.server.answers["/secret"]
    site.on_sitemap(*PATHS, "/twin")
    site.crawl()
    proof = tmp_path / "proof.json"
    assert run(site, URL, proof) == cli.OK
    told = json.loads(proof.read_text("utf-8"))
    assert told["copies"] == [url_of("/twin")]
    assert (told["removed"]["vectors"], told["checked"]["left"]) == (1, [])
    assert "/twin" in site.urls()


# -- before anything is purged ------------------------------------------------------


@pytest.mark.parametrize("there", ["file", "link", "folder", "no folder", "a file for a folder"])
def test_nothing_is_purged_where_it_cannot_be_written(
    site: QuickSite, tmp_path: Path, there: str
) -> None:
    path = tmp_path / "proof.json"
    if there == "file":
        path.write_text("mine")
    elif there == "link":
        path.symlink_to(tmp_path / "nowhere")
    elif there == "folder":
        path.mkdir()
    elif there == "no folder":
        path = tmp_path / "none" / "proof.json"
    else:
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "proof.json"
    with pytest.raises(UsageError, match=r"is there already|cannot be .*nothing was changed"):
        run(site, URL, path)
    assert "/secret" in site.urls()
    if there == "file":
        assert path.read_text() == "mine"
    assert not list(tmp_path.glob(".proof.json.*"))


def test_not_for_what_purges_nothing(site: QuickSite, tmp_path: Path) -> None:
    for option in ("dry_run", "undo"):
        with pytest.raises(UsageError, match="not with --dry-run or --undo"):
            run(site, URL, tmp_path / "proof.json", **{option: True})
    assert run(site, url_of("/nothing"), tmp_path / "proof.json") == cli.ERROR
    assert [path.name for path in tmp_path.iterdir()] == ["site"], "no draft is left"


def test_a_file_that_came_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    with ProofFile(path) as file:
        path.write_text("mine")
        with pytest.raises(StoreError, match="forgotten, but the proof cannot be written"):
            file.write({"a": 1})
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ConfigError, match="is there already"), ProofFile(path):
        pass


def test_where_files_have_one_name_only_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "proof.json"
    with ProofFile(path) as file:
        file.write({"a": "\ud800ä"})
    assert json.loads(path.read_bytes()) == {"a": "\ud800ä"}
    assert list(tmp_path.iterdir()) == [path]


# -- what is left ------------------------------------------------------------------


def purged(page: PurgedPage, **more: set[Any]) -> Purged:
    return Purged([page], {page.key, *page.urls}, **more)


def test_all_that_is_left_is_found(site: QuickSite) -> None:
    page = PurgedPage(KEY, [URL], "live", {}, [])
    ids = {row[0] for row in rows(site, f"SELECT id FROM chunks WHERE key = '{KEY}'")}
    digests = {row[0] for row in rows(site, f"SELECT embed_digest FROM chunks WHERE key = '{KEY}'")}
    found = look_for(site.folder, purged(page, ids=ids, digests=digests))
    places = {line.partition(": ")[2].rpartition(": ")[0] for line in found.left}
    assert {"published", "chunks", "records"} <= places
    assert any(line.startswith("corpus.sqlite: vectors: 1 of its") for line in found.left)
    assert any(line.endswith("ids of its passages") for line in found.left)
    other = PurgedPage("docs.test/none", [url_of("/none")], "live", {}, [])
    assert look_for(site.folder, purged(other)).left == []


def test_what_is_left_ends_the_command_with_an_error(
    site: QuickSite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conn = connect_writer(site.folder / "corpus.sqlite")
    conn.execute("CREATE TABLE notes (text)")
    conn.execute("INSERT INTO notes VALUES (?)", (f"somebody looked at {URL}",))
    conn.close()
    proof = tmp_path / "proof.json"
    assert run(site, URL, proof) == cli.ERROR
    [left] = json.loads(proof.read_text("utf-8"))["checked"]["left"]
    assert left.startswith("corpus.sqlite: notes: ")
    assert f"  still found: {left}\n" in capsys.readouterr().out


# -- killed ----------------------------------------------------------------------


@pytest.mark.parametrize("place", ["switched", "freshcrawl.stores.compacting:compact_file"])
def test_the_same_command_after_a_kill_gives_a_proof(
    crawled: QuickSite, tmp_path: Path, place: str
) -> None:
    state, folder = tmp_path / "state", tmp_path / "proofs"
    shutil.copytree(crawled.place.state, state)
    folder.mkdir()
    args = ("forget", URL, "--proof", str(folder / "proof.json"))
    line = command(args, state, "hash", 0, None)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.crash_at", place, *line[3:]],
        cwd=REPO, env=environment(), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert not (folder / "proof.json").exists()
    again = scrapy(*args, state=state)
    assert (again.returncode, again.stderr) == (0, "")
    told = json.loads((folder / "proof.json").read_text("utf-8"))
    [page] = told["pages"]
    assert (page["key"], page["forgotten_before"]) == (KEY, True)
    assert page["forgotten_at"] is not None
    assert told["removed"]["versions"] == 0
    assert told["checked"]["left"] == []
    assert told["rewritten"] == ["records.sqlite", "corpus.sqlite"]
    refused = scrapy(*args, state=state)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "is there already: name a file that is not" in refused.stderr


def test_all_its_fields_are_documented() -> None:
    text = (REPO / "docs" / "operations.md").read_text("utf-8")
    section = text[text.index("### A proof") : text.index("## Looking back")]
    fields = (
        *("format", "site", "target", "written_at", "freshcrawl", "generation", "pages"),
        *("removed", "copies", "rewritten", "logs_in_use", "without_room", "checked", "undo"),
        *("key", "urls", "status_before", "forgotten_at", "forgotten_before", "text_sha256"),
        *("rows", "index_files", "names", "digests", "ids", "named_by", "left"),
        *("marks", "lists", "webhook", "other_pages", *COUNTS),
    )
    assert [name for name in fields if f"`{name}`" not in section] == []
