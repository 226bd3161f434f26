"""Bad input: one clear line that says what to do, the right exit code, nothing lost.

Each story begins with a site that is published. After the bad thing its passages are exported as
before, and a good run works.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import stat
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.answers import export_rows
from freshcrawl.config import Config
from freshcrawl.state import open_for_reading, open_for_writing
from tests.support.origin import Answer, Origin, page
from tests.support.permissions import AS_OTHERS, needs_permissions
from tests.support.project import (
    CLOCKS,
    REPO,
    Embedder,
    Result,
    command,
    environment,
    export_without_clocks,
    scrapy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

PATHS = ("/a", "/b", "/c")
QUERY = ("query", "The text of /b", "-k", "1")


@dataclass
class Site:
    """A published site and its state folder."""

    origin: Origin
    state: Path

    @property
    def folder(self) -> Path:
        """The site's own folder of the state."""
        return self.state / f"127.0.0.1-{self.origin.port}"

    def crawl(
        self,
        *args: str,
        embedder: Embedder = "hash",
        settings: Mapping[str, object] | None = None,
        state: Path | None = None,
    ) -> Result:
        """Crawl the site as if every page were due."""
        full = ("crawl", "docs", "-a", f"url={self.origin.url}", "-a", "full=1", *args)
        return scrapy(*full, state=state or self.state, embedder=embedder, settings=settings)

    def passages(self) -> list[dict[str, Any]]:
        """Return what ``scrapy export`` prints, without what tells when pages were looked at."""
        return [
            {n: row[n] for n in row if n != "stale"} for row in export_without_clocks(self.state)
        ]

    def live(self) -> list[dict[str, Any]]:
        """Return the same, with whether it is stale, without a process of its own."""
        state = open_for_reading(Config(state_dir=str(self.state)), self.folder.name)
        try:
            rows = list(export_rows(state, now=time.time(), max_age=3_600.0))
        finally:
            state.close()
        return [{name: row[name] for name in row if name not in CLOCKS} for row in rows]

    def said(self) -> str:
        """Return what ``scrapy status`` prints."""
        result = scrapy("status", state=self.state)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout


def published(origin: Origin, state: Path) -> Site:
    """Return a site of three pages after its first crawl."""
    for path in PATHS:
        origin[path] = page(path, f"The text of {path}.")
    origin.serve_sitemap(*PATHS)
    site = Site(origin, state)
    assert site.crawl().returncode == 0
    return site


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One published site for all that must not even touch it; at the end a good run works."""
    with Origin() as origin:
        site = published(origin, tmp_path_factory.mktemp("bad") / "state")
        before = site.live()
        assert [row["text"] for row in before] == [f"The text of {path}." for path in PATHS]
        yield site
        nothing_lost(site, before)


@pytest.fixture
def site(untouched: Site, tmp_path: Path) -> Iterator[Site]:
    """A published site of a test's own; afterwards nothing is lost and a good run works."""
    own = Site(untouched.origin, tmp_path / "state")
    shutil.copytree(untouched.state, own.state)
    answers, before = dict(own.origin.answers), own.live()
    yield own
    own.origin.answers = answers
    nothing_lost(own, before)


def nothing_lost(site: Site, before: list[dict[str, Any]]) -> None:
    """Check that the passages are exported as before, and are fresh again after a good run."""
    assert [{**row, "stale": False} for row in site.passages()] == before
    good = site.crawl()
    assert good.returncode == 0, good.stderr[-2000:]
    assert site.live() == before


def tree(folder: Path) -> dict[str, str]:
    """Return the digest of each file, by its path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def told(result: Result, code: int, *words: str) -> None:
    """Check the exit code, and that stderr has one clear line, with these words."""
    assert "Traceback" not in result.stdout + result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("freshcrawl: ")]
    assert (result.returncode, len(lines)) == (code, 1), result.stderr[-2000:]
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["crawl", "docs", "-a", "colour=red"], "unknown argument -a colour"),
        (["crawl", "docs", "-a", "url=docs.example.com"], "did you mean https://"),
        (["crawl", "docs", "-a", "url=ftp://docs.example.com/"], "something like https://"),
        (["crawl", "docs", "-a", "url=http://"], "something like https://"),
        (["crawl", "docs", "-a", "url=http://a.test/", "-a", "site=a"], "not both"),
        (["crawl", "docs", "-a", "site=nowhere"], "unknown site 'nowhere'; known: 127.0.0.1-"),
        (["crawl", "docs", "-a", "url=http://a.test/", "-a", "full=maybe"], "true or false"),
        (["crawl", "docs", "-a", "url"], "use -a NAME=VALUE"),
        (["crawl", "docs", "http://a.test/"], "unknown argument 'http://a.test/'"),
        (["crawl", "docs", "-s", "FRESHCRAWL_COLOUR=red"], "unknown setting FRESHCRAWL_COLOUR"),
        (["crawl", "docs", "-s", "FRESHCRAWL_MAX_PAGES=-5"], "must not be negative"),
        (["crawl", "docs", "-s", "FRESHCRAWL_SITES=/nowhere.toml"], "No such file"),
        (["crawl", "doc"], "no spider 'doc'; known: docs"),
        (["crawl"], "no spider is named"),
        (["status", "-s", "FRESHCRAWL_MISSING_RUNS=many"], "expected a whole number"),
        (["status", "-s", "FRESHCRAWL_GUARD_REMOVED_RATIO=-0.1"], "must not be negative"),
        (["status", "--sites", "x"], "unknown argument '--sites'"),
        (["query"], "give a question"),
        (["query", "-k", "0", "why"], "-k must be at least 1"),
        (["query", "-k", "some", "why"], "invalid int value: 'some'"),
        (["query", "--max-age", "-3", "why"], "--max-age must be"),
        (["query", "--max-age", "nan", "why"], "--max-age must be"),
        (["query", "what", "--kk", "3"], "unknown argument '--kk'"),
        (["explain"], "give one URL"),
        (["explain", "nonsense"], "give the URL of a page"),
        (["due", "all"], "unknown argument 'all'"),
        (["export", "--format", "csv"], "invalid choice: 'csv'"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_touched(
    args: list[str], words: str, untouched: Site
) -> None:
    before = tree(untouched.state)
    result = scrapy(*args, state=untouched.state)
    told(result, 2, words)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert tree(untouched.state) == before


@pytest.mark.parametrize("name", ["no.such.Class", "pathlib.Path.cwd"])
def test_embedder_class_that_is_none(name: str, untouched: Site) -> None:
    wrong = {"FRESHCRAWL_EMBEDDER_CLASS": name}
    for result in (
        untouched.crawl(settings=wrong),
        scrapy(*QUERY, state=untouched.state, settings=wrong),
    ):
        told(result, 2, f"FRESHCRAWL_EMBEDDER_CLASS={name}: ")


@pytest.mark.parametrize("args", [["status"], ["query", "why"], ["due"], ["export"]])
def test_unknown_site_name(args: list[str], untouched: Site) -> None:
    result = scrapy(*args, "--site", "nowhere", state=untouched.state)
    told(result, 1, "no state of a site 'nowhere'", "known: 127.0.0.1-")
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["crawl", "docs"], 2, "no site is known yet"),
        (["query", "why"], 1, "nothing is indexed yet"),
        (["explain", "http://a.test/"], 1, "not known to any site"),
    ],
)
def test_without_any_state(args: list[str], code: int, words: str, state: Path) -> None:
    told(scrapy(*args, state=state), code, words)
    assert not state.exists()


def test_status_without_any_state_is_no_error(state: Path) -> None:
    assert scrapy("status", state=state).returncode == 0


@pytest.mark.parametrize("text", ["[sites.x\nurl = 1", 'url = "http://a.test/"', "\xff"])
def test_malformed_toml(text: str, untouched: Site, tmp_path: Path) -> None:
    path = tmp_path / "sites.toml"
    path.write_text(text, "latin-1")
    before = tree(untouched.state)
    result = scrapy("crawl", "docs", state=untouched.state, settings={"FRESHCRAWL_SITES": path})
    told(result, 2, str(path))
    assert tree(untouched.state) == before


def test_host_that_does_not_resolve(site: Site) -> None:
    result = scrapy("crawl", "docs", "-a", "url=http://nowhere.invalid/", state=site.state)
    started_and_said(site, result, "robots.txt unavailable (the name of the host was not found)")


def test_refused_connection(state: Path) -> None:
    with Origin() as origin:
        site = published(origin, state)
        before = site.live()
    started_and_said(site, site.crawl(), "robots.txt unavailable (the connection was refused)")
    with Origin(origin.port) as again:
        again.answers = origin.answers
        nothing_lost(site, before)


def test_empty_site_as_robots_forbid_all(site: Site) -> None:
    site.origin["/robots.txt"] = Answer("User-agent: *\nDisallow: /", content_type="text/plain")
    site.origin.paths()
    started_and_said(
        site, site.crawl(), "none of 3 live pages that were due could be checked (robots.txt"
    )
    assert set(site.origin.paths()) <= {"/robots.txt", "/sitemap.xml"}


def test_new_site_whose_robots_forbid_all(state: Path) -> None:
    with Origin() as origin:
        origin["/robots.txt"] = Answer("User-agent: *\nDisallow: /", content_type="text/plain")
        new = Site(origin, state)
        started_and_said(new, new.crawl(), "no page with content was found", "robots.txt disallows")
        assert set(origin.paths()) == {"/robots.txt"}


def test_sitemap_that_is_html(site: Site) -> None:
    site.origin["/sitemap.xml"] = page("Not found", "but with status 200")
    started_and_said(site, site.crawl(), "sitemap", "not a sitemap")


def test_folder_that_no_sitemap_entry_is_below(site: Site, tmp_path: Path) -> None:
    new = Site(site.origin, tmp_path / "new")
    url = f"{site.origin.url}nothere/"
    result = scrapy("crawl", "docs", "-a", f"url={url}", state=new.state)
    started_and_said(new, result, "list 3 pages, but none of them is below")
    # Of a site that is known, it is just a page.
    result = scrapy("crawl", "docs", "-a", f"url={url}", state=site.state)
    assert result.returncode == 0
    assert f"is a page of the site {site.folder.name} ({site.origin.url})" in result.stderr
    assert not (site.state / f"{site.folder.name}-nothere").exists()


def test_wrong_scheme_does_not_stick(state: Path) -> None:
    with Origin() as origin:
        wrong = origin.url.replace("http:", "https:")
        assert scrapy("crawl", "docs", "-a", f"url={wrong}", state=state).returncode == 4
        told(scrapy(*QUERY, state=state), 1, "nothing is indexed yet")
        site = published(origin, state)
        assert len(site.passages()) == 3


def started_and_said(site: Site, result: Result, *words: str) -> None:
    """Check a run that began: incomplete, and the reason in its summary and in the status."""
    assert result.returncode == 4, result.stderr[-2000:]
    assert "Traceback" not in result.stderr
    for text in (result.stdout + result.stderr, site.said()):
        for word in words:
            assert word in text


@pytest.mark.parametrize("where", ["{file}/state", "{file}", "/proc/nowhere/state"])
def test_state_folder_that_cannot_be_made(where: str, untouched: Site, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    bad = tmp_path / where.format(file=file)
    told(untouched.crawl(state=bad), 1, str(bad), "FRESHCRAWL_STATE_DIR")
    assert file.read_text() == "not a folder"


def test_state_folder_that_is_a_file_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("not a folder")
    for args in (["status"], ["query", "why"], ["crawl", "docs"]):
        told(scrapy(*args, state=tmp_path / "state"), 1, "cannot be read (Not a directory)")


def with_permissions(site: Site, *args: str, state: Path | None = None) -> Result:
    """Run a command to which file permissions apply, whoever runs the tests."""
    done = subprocess.run(
        [*AS_OTHERS, *command(args, state or site.state, "hash", 0, None)],
        cwd=REPO,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@needs_permissions
def test_state_folder_without_permission_to_write(site: Site, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir(0o555)
    crawl = ("crawl", "docs", "-a", f"url={site.origin.url}", "-a", "full=1")
    told(with_permissions(site, *crawl, state=empty), 1, "cannot be made (Permission denied)")
    assert list(empty.iterdir()) == []


@needs_permissions
def test_permission_that_is_missing(site: Site) -> None:
    """Once it is given, all works: what SQLite leaves behind does not inherit the lack."""
    crawl = ("crawl", "docs", "-a", f"url={site.origin.url}", "-a", "full=1")
    for name, mode, args, words in (
        ("", 0o555, crawl, "must be writable by this user"),
        ("", 0, ["status"], "run as the user that owns it"),
        ("..", 0, ["status"], "run as the user that owns it"),
        ("records.sqlite", 0o444, crawl, "must be writable by this user"),
        ("corpus.sqlite", 0, ["export"], "must be writable by this user"),
        (".lock", 0, crawl, "must be writable by this user"),
    ):
        path = (site.folder / name).resolve()
        usual = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode)
        try:
            told(with_permissions(site, *args), 1, words)
        finally:
            path.chmod(usual)
        assert not [
            path for path in site.folder.iterdir() if not path.stat().st_mode & stat.S_IWUSR
        ]


@needs_permissions
def test_index_folder_without_permission_fails_the_run_only(site: Site) -> None:
    (site.folder / "index").chmod(0o555)
    site.origin["/a"] = page("/a", "Another text.")
    crawl = ("crawl", "docs", "-a", f"url={site.origin.url}", "-a", "full=1")
    result = with_permissions(site, *crawl)
    (site.folder / "index").chmod(0o755)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    for text in (result.stdout + result.stderr, site.said()):
        assert "cannot be written (Permission denied)" in text


def newer_records(path: Path) -> None:
    write(path, "UPDATE records SET value = '{\"version\": 7}' WHERE key = 'meta:schema'")


def newer_corpus(path: Path) -> None:
    write(path, "UPDATE meta SET value = 7 WHERE name = 'schema'")


def write(path: Path, statement: str) -> None:
    """Change a database by one statement."""
    with closing(sqlite3.connect(path)) as conn, conn:
        assert conn.execute(statement).rowcount == 1


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database " * 500)


def overwritten(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("records.sqlite", [newer_records]),
        ("corpus.sqlite", [newer_corpus]),
        ("records.sqlite", [garbage, overwritten, emptied]),
        ("corpus.sqlite", [garbage, overwritten, emptied]),
    ],
    ids=["newer records", "newer corpus", "damaged records", "damaged corpus"],
)
def test_database_that_cannot_be_used(
    name: str, bad: list[Callable[[Path], None]], site: Site
) -> None:
    """It is named and left as it is; put back, it works again."""
    path = site.folder / name
    good = path.read_bytes()
    for number, spoil in enumerate(bad):
        spoil(path)
        spoiled = path.read_bytes()
        words = "update freshcrawl" if len(bad) == 1 else "the file is damaged"
        told(site.crawl(), 1, str(path), words)
        reading = [["status"], ["export"], [*QUERY], ["explain", site.origin.url]][number]
        told(scrapy(*reading, state=site.state), 1, str(path), words)
        assert path.read_bytes() == spoiled
        path.write_bytes(good)


def test_empty_file_of_a_crawl_that_was_killed_at_once_is_a_new_one(state: Path) -> None:
    (state / "new").mkdir(parents=True)
    for name in ("records.sqlite", "corpus.sqlite"):
        emptied(state / "new" / name)
    config = Config(state_dir=str(state))
    for opened in (
        open_for_reading(config, "new"),
        open_for_writing(config, "new", "test", 0.0),
        open_for_reading(config, "new"),
    ):
        assert opened.pages() == {}
        opened.close()


def test_damaged_site_does_not_stop_the_others(site: Site) -> None:
    """Neither one that only has state, nor one of ``sites.toml``."""
    toml = site.state.parent / "sites.toml"
    toml.write_text('[sites.listed]\nurl = "http://listed.invalid/"\n')
    for name in ("broken", "listed"):
        (site.state / name).mkdir()
        garbage(site.state / name / "records.sqlite")
    site.origin.paths()
    result = scrapy(
        "crawl", "docs", state=site.state, clock_offset_s=5 * 86_400,
        settings={"FRESHCRAWL_SITES": toml},
    )  # fmt: skip
    lines = [line for line in result.stderr.splitlines() if line.startswith("freshcrawl: ")]
    assert (result.returncode, len(lines)) == (1, 2), result.stderr[-2000:]
    assert all("the file is damaged" in line for line in lines)
    assert set(PATHS) <= set(site.origin.paths())
    for name in ("broken", "listed"):
        shutil.rmtree(site.state / name)


def test_damaged_index_file(site: Site) -> None:
    """The answers are the same, with a line on stderr, until the next publish mends it."""
    right = scrapy(*QUERY, "--json", state=site.state)
    assert (right.returncode, right.stderr) == (0, "")
    for name in ("1.json", "1.faiss"):
        path = site.folder / "index" / name
        good = path.read_bytes()
        path.write_bytes(good[:-9] + bytes([good[-9] ^ 0xFF]) + good[-8:])
        result = scrapy(*QUERY, "--json", state=site.state)
        told(result, 0, str(path), "the file is damaged", "the next publish writes a new one")
        assert (result.stderr.count("\n"), result.stdout) == (1, right.stdout)
        if name == "1.json":
            path.write_bytes(good)
    for text in ("Another text.", "The text of /a."):
        site.origin["/a"] = page("/a", text)
        assert site.crawl().returncode == 0
    assert scrapy(*QUERY, state=site.state).stderr == ""


def test_model_that_cannot_be_found(site: Site) -> None:
    wrong = {"FRESHCRAWL_EMBED_MODEL": "no/such-model"}
    words = ("embedding model 'no/such-model' was not found", "set FRESHCRAWL_EMBED_MODEL")
    told(site.crawl(embedder="real", settings=wrong), 1, *words)
    told(scrapy(*QUERY, state=site.state, embedder="real", settings=wrong), 1, *words)


def test_index_of_another_model(site: Site) -> None:
    other = {"FRESHCRAWL_EMBED_MODEL": "other"}
    words = ["is indexed with the model hash-64, not with other-64", "set FRESHCRAWL_EMBED_MODEL"]
    words.append("run scrapy reindex --site ")
    site.origin.paths()
    told(site.crawl(settings=other), 1, *words)
    told(scrapy(*QUERY, state=site.state, settings=other), 1, *words)
    assert site.origin.paths() == []
