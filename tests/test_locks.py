"""Two commands that write to one site at once: one works, the other ends at once with 5.

The tests of this module follow each other on one site.
"""

from __future__ import annotations

import ast
import json
import shutil
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from freshcrawl.commands.status import print_status
from freshcrawl.config import Config
from freshcrawl.doctor.state import state_checks
from freshcrawl.state import open_for_writing
from freshcrawl.stores.locks import WAIT_SECS, LockedError, SiteLock
from tests.support.held_site import PAGES, Site, exported, last_run, wait_for
from tests.support.origin import Origin, page
from tests.support.project import export_without_clocks, scrapy, start_scrapy
from tests.support.receiver import SECRET
from tests.test_imports import MODULES, runtime_imports, source_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.project import Result

WEBHOOK = (
    *("-s", "FRESHCRAWL_WEBHOOK_URL=http://127.0.0.1:9/"),
    *("-s", f"FRESHCRAWL_WEBHOOK_SECRET={SECRET}"),
)
WRITERS: dict[str, tuple[str, ...]] = {
    "crawl": ("crawl", "docs", "-a", "site={site}"),
    "approve": ("approve", "--site", "{site}"),
    "discard": ("discard", "--site", "{site}"),
    "reindex": ("reindex", "--site", "{site}"),
    "rollback": ("rollback", "1", "--site", "{site}"),
    "verify": ("verify", "--repair", "--site", "{site}"),
    "forget": ("forget", "/page", "--site", "{site}"),
    "alerts": ("alerts", "--send", "--site", "{site}", *WEBHOOK),
    "compact": ("compact", "--site", "{site}"),
    "embed": ("embed", "--site", "{site}"),
}
"""How each command that writes is called for one site."""
READERS = {"doctor"}
"""Those that import what writes, for another reason (it asks sites as a crawl does)."""
OPENS, SHARED, COMMANDS = "open_for_writing", "freshcrawl.cli", "freshcrawl.commands."
HELD_BACK = page(PAGES[20], "The page at which a crawl waits for its answer.")
TRIES = 5
"""Of which the fastest counts: this machine may be busy."""
AT_ONCE_S = 30.0
"""Far more than a command takes to start and to be refused; far less than its work takes here."""


def writing_commands() -> set[str]:
    """Return the commands whose code opens a site for writing, itself or by what it imports."""
    # All commands import this one: what counts is which of its functions they call.
    cli = [node for node in tree_of(SHARED).body if isinstance(node, ast.FunctionDef)]
    openers = {OPENS, *(function.name for function in cli if OPENS in names_in(function))}
    opening = {module for module in MODULES if openers & names_in(tree_of(module))}
    return {
        module.removeprefix(COMMANDS)
        for module in MODULES
        if module.startswith(COMMANDS) and needed_by(module) & opening
    }


def needed_by(module: str) -> set[str]:
    """Return a module and all that it imports, directly or not, but for what commands share."""
    needed, waiting = set[str](), {module}
    while waiting := waiting - needed - {SHARED}:
        needed |= waiting
        waiting = {other for one in waiting for other in runtime_imports(one)}
    return needed


def tree_of(module: str) -> ast.Module:
    return ast.parse(source_of(module).read_text("utf-8"))


def names_in(tree: ast.AST) -> set[str]:
    """Return the names that code uses."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


@dataclass
class Held:
    """A site that a crawl is at, and cannot end as the site's answers are held back."""

    site: Site
    state: Path
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def name(self) -> str:
        """Name of the site."""
        return f"127.0.0.1-{self.site.origin.port}"

    def run(self, command: str, *args: str) -> Result:
        """Run a command that writes to the site."""
        line = [part.format(site=self.name) for part in WRITERS[command]]
        return scrapy(*line, *args, state=self.state, timeout=AT_ONCE_S)

    def is_refused(self, command: str, holder: str = "crawl") -> None:
        """Check that a command ends with 5 and one line that names the holder."""
        done = self.run(command)
        assert (done.returncode, done.stdout) == (5, ""), done.stderr[-2000:]
        named = f"{self.state / self.name} is in use by `{holder}` (process {self.process.pid} on "
        assert named in done.stderr
        assert ", since 20" in done.stderr
        assert done.stderr.count("\n") == 1
        assert self.process.poll() is None


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Serve a site whose answers can be held back."""
    with Origin() as origin:
        site = Site(origin)
        origin[PAGES[20]] = HELD_BACK
        yield site


@pytest.fixture(scope="module")
def state(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the state of the site, crawled once."""
    state = tmp_path_factory.mktemp("locks") / "state"
    site.crawl(state)
    return state


@contextmanager
def held(site: Site, state: Path) -> Iterator[Held]:
    """Start a crawl that is held back at one of the site's pages."""
    site.origin[PAGES[20]] = HELD_BACK
    gate = site.hold(PAGES[20])
    log = state.with_name(f"{len(list(state.parent.iterdir()))}.log")
    process = site.start(state, log)
    try:
        assert gate.reached.wait(30)
        yield Held(site, state, log, process)
    finally:
        site.open()
        process.kill()
        process.wait(10)


@pytest.fixture(scope="module")
def busy(site: Site, state: Path) -> Iterator[Held]:
    """Return the site while a crawl is at it, until the test that lets it end."""
    with held(site, state) as busy:
        yield busy


def test_all_commands_that_write_are_in_the_table() -> None:
    """Add a line to WRITERS for a new one; the tests below do the rest."""
    assert writing_commands() == WRITERS.keys() | READERS


@pytest.mark.parametrize("command", WRITERS)
def test_beside_a_crawl_each_is_refused(busy: Held, command: str) -> None:
    before = exported(busy.state)
    busy.is_refused(command)
    assert exported(busy.state) == before


def test_readers_say_who_writes(busy: Held, capsys: pytest.CaptureFixture[str]) -> None:
    told = f"`crawl` (process {busy.process.pid} on "
    done = scrapy("status", "--json", state=busy.state)
    [site] = json.loads(done.stdout)["sites"]
    assert told in site["writer"]
    assert site["last_run"]["status"] == "running"
    print_status([site], time.time())
    assert f"in use by {site['writer']}" in capsys.readouterr().out
    checks = state_checks(Config(state_dir=str(busy.state)), busy.name, "")
    assert f"in use by {told}" in checks[0].what


def test_waiting_for_a_lock_is_bounded(busy: Held) -> None:
    """A command is refused within a second; what it takes before that is the start of Python."""
    assert WAIT_SECS < 0.5
    config = Config(state_dir=str(busy.state))
    took = []
    for _ in range(TRIES):
        began = time.monotonic()
        with pytest.raises(LockedError):
            open_for_writing(config, busy.name, "test", 0.0)
        took.append(time.monotonic() - began)
    assert min(took) < 1.0, took


def test_spellings_of_one_state_folder_are_one_lock(busy: Held, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(busy.state)
    for folder in (link, busy.state / ".." / busy.state.name):
        with pytest.raises(LockedError, match="in use by `crawl`"):
            SiteLock(folder / busy.name).acquire("test", 0.0)


def test_holder_that_is_stopped_keeps_it_and_ends_well(busy: Held) -> None:
    busy.process.send_signal(signal.SIGSTOP)
    busy.site.open()
    busy.is_refused("crawl")
    busy.process.send_signal(signal.SIGCONT)
    assert busy.process.wait(60) == 0, busy.log.read_text()[-2000:]
    assert last_run(busy.state).complete
    SiteLock(busy.state / busy.name).acquire("test", 0.0).release()


def test_holder_that_is_killed_loses_it_at_once(site: Site, state: Path) -> None:
    stuck = {
        "FRESHCRAWL_EMBED_MODEL": "other",
        "FRESHCRAWL_EMBEDDER_CLASS": "tests.support.embedder.StuckEmbedder",
    }
    with held(site, state) as killed:
        kill(killed.process)
        # The next one takes over, whatever it is.
        log = state.with_name("reindex.log")
        killed.process = start_scrapy("reindex", state=state, log=log, settings=stuck)
        try:
            wait_for_holder(killed, "reindex")
            killed.is_refused("crawl", "reindex")
        finally:
            kill(killed.process)
        site.open()
        done = killed.run("crawl", "-a", "full=1")
    assert done.returncode == 0, done.stderr[-2000:]
    assert last_run(state).unchanged == len(PAGES)


def kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(10)


def wait_for_holder(site: Held, command: str) -> None:
    """Wait until a command has the lock."""
    until = time.monotonic() + 30
    while f'"{command}"' not in (site.state / site.name / ".lock").read_text():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_one_locked_site_does_not_stop_a_crawl_of_the_others(tmp_path: Path) -> None:
    state, sites = tmp_path / "state", tmp_path / "sites.toml"
    with Origin() as one, Origin() as other:
        for origin in (one, other):
            origin["/a"] = page("A", f"text of {origin.port}")
            origin.serve_sitemap("/a")
        sites.write_text(f'[sites.one]\nurl = "{one.url}"\n[sites.other]\nurl = "{other.url}"\n')
        settings = {"FRESHCRAWL_SITES": sites}
        with SiteLock(state / "one").acquire("verify", 1_700_000_000.0):
            done = scrapy("crawl", "docs", state=state, settings=settings)
        assert done.returncode == 5
        assert "one is in use by `verify`" in done.stderr
        assert one.paths() == []
        assert [row["url"] for row in export_without_clocks(state)] == [f"{other.url}a"]


def test_folder_that_is_deleted_and_made_anew_under_a_crawl(site: Site, state: Path) -> None:
    """It belongs to who made it anew: the crawl that had it before writes nothing into it."""
    before = exported(state)
    with held(site, state) as robbed:
        (state / robbed.name).rename(state.with_name("bin"))  # at once, unlike what comes next
        shutil.rmtree(state.with_name("bin"))
        site.origin[PAGES[20]] = page(PAGES[20], "Another text than the one held back.")
        site.crawl(state)
        after = exported(state)
        assert after != before
        site.open()
        assert robbed.process.wait(60) == 1
        wait_for(robbed.log, "the folder was deleted or replaced while this process wrote to it")
        assert exported(state) == after
        assert last_run(state).complete
