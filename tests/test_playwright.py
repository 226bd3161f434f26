"""Pages that a script fills in: rendered in a real Chromium, then kept fresh like any other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.render import launch_options
from tests.support.origin import Answer, Origin
from tests.support.project import export, report, scrapy, start_scrapy

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import SiteFactory
    from tests.support.nginx import LoggedRequest, NginxSite

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.nginx,
    pytest.mark.skipif(
        "executable_path" not in launch_options(), reason="chromium is not installed"
    ),
]


@pytest.fixture(scope="module", autouse=True)
def driver() -> None:
    """Skip where the driver that Playwright brings along cannot start."""
    say = [sys.executable, "-m", "playwright", "--version"]
    done = subprocess.run(say, capture_output=True, text=True, check=False)
    if "libatomic" in done.stderr:
        pytest.skip("libatomic1 is not installed")
    assert done.returncode == 0, done.stderr


CRAWL_TIMEOUT_S = 90.0
EXIT_TIMEOUT_S = 10.0
TEXTS = {
    "index.html": "Start here to learn how the tool is installed.",
    "guide/config.html": "Options are read from a file beside the program.",
    "guide/errors.html": "Each error names the option that caused it.",
}
SHELL = """\
<!doctype html><html><head><title>Loading</title></head><body>
<div id="root"><main><p>Loading</p></main></div>
<script>{script}</script></body></html>
"""
FILL = """
setTimeout(() => {{
  document.title = "{name}";
  document.getElementById("root").innerHTML = `<main><h1>About {name}</h1><p>{text}</p>
    <h2>Example</h2><pre><code class="language-sh">tool --page {name}
tool --check</code></pre></main>`;
}}, 200);
"""
SITES = """\
[sites.app]
url = "{url}"
render = "{render}"
wait_for = "main h1"
"""
LOGIN = """\
http_user = "me"
http_pass = "${DOCS_PASS}"
"""


@dataclass
class App:
    """A served app of three pages, with its state folder."""

    site: NginxSite
    folder: Path
    login: str = ""
    """More lines for the site's table."""

    @property
    def state(self) -> Path:
        """State folder."""
        return self.folder / "state"

    def deploy(self, **scripts: str) -> None:
        """Lay the shells in; ``scripts`` (by the stem of the page) stand in for those that work."""
        for name, text in TEXTS.items():
            path = self.folder / "pages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            script = scripts.get(path.stem, FILL.format(name=name, text=text))
            path.write_text(SHELL.format(script=script))
        self.site.deploy(self.folder / "pages")

    def remove(self, name: str) -> None:
        """Take a page away."""
        (self.folder / "pages" / name).unlink()
        self.site.deploy(self.folder / "pages")

    def settings(self, render: str) -> dict[str, object]:
        """Return the settings that name the site and how it is read."""
        path = self.folder / "sites.toml"
        text = SITES.format(url=self.site.url, render=render) + self.login
        path.write_text(text if render == "always" else text.replace("wait_for", "# wait_for"))
        return {"FRESHCRAWL_SITES": path}

    def crawl(self, render: str = "always", **settings: object) -> dict[str, Any]:
        """Check every page and return the run report."""
        self.site.clear()
        result = scrapy(
            *("crawl", "docs", "-a", "site=app", "-a", "full=1"),
            state=self.state,
            settings=self.settings(render) | settings,
            timeout=CRAWL_TIMEOUT_S,
        )
        assert result.returncode == 0, result.stderr[-3000:]
        return report(self.state)

    def start(self) -> subprocess.Popen[bytes]:
        """Start a crawl with rendering."""
        return start_scrapy(
            *("crawl", "docs", "-a", "site=app"),
            state=self.state,
            log=self.folder / "crawl.log",
            settings=self.settings("always"),
        )

    def page_requests(self) -> list[LoggedRequest]:
        """Return what was asked of the pages."""
        return [r for r in self.site.requests() if r.path.endswith(".html")]

    def texts(self) -> dict[str, str]:
        """Return all text in the answers by path: titles, headings and passages."""
        found: dict[str, str] = {}
        for row in export(self.state):
            name = row["url"].removeprefix(self.site.url)
            parts = [found.get(name, ""), row["title"], *row["heading_path"], row["text"]]
            found[name] = "\n".join(parts)
        return found


@pytest.fixture
def app(nginx_site: SiteFactory, tmp_path: Path) -> App:
    """Serve the app."""
    served = App(nginx_site(), tmp_path)
    served.deploy()
    return served


def assert_rendered(found: dict[str, str]) -> None:
    assert found.keys() == TEXTS.keys()
    for name, text in found.items():
        assert f"About {name}" in text
        assert TEXTS[name] in text
        assert f"```sh\ntool --page {name}\ntool --check\n```" in text
        assert "Loading" not in text


def test_rendered_pages_are_indexed_and_found_unchanged(app: App) -> None:
    first = app.crawl()
    assert (first["complete"], first["new"], first["failed"]) == (True, len(TEXTS), 0)
    assert_rendered(app.texts())

    again = app.crawl()
    assert (again["unchanged"], again["not_modified"]) == (len(TEXTS), 0)
    assert (again["new"], again["changed"], again["chunks_embedded"]) == (0, 0, 0)
    assert again["generation"] == first["generation"]
    # A shell's ETag says nothing about what its script shows.
    asked = app.page_requests()
    assert sorted(r.path.lstrip("/") for r in asked) == sorted(TEXTS)
    assert {(r.status, r.if_none_match, r.if_modified_since) for r in asked} == {(200, "", "")}
    assert {r.user_agent.partition("/")[0] for r in asked} == {"freshcrawl"}


def test_site_switched_to_rendering_keeps_nothing_of_its_shells(app: App) -> None:
    app.crawl("never")
    switched = app.crawl("always")
    assert switched["changed"] == len(TEXTS)
    # 404: what is asked for to learn how the host says that a page does not exist.
    asked = {(r.status, r.if_none_match) for r in app.page_requests()}
    assert asked == {(200, ""), (404, "")}
    assert_rendered(app.texts())


@pytest.mark.slow
def test_page_whose_script_fails_keeps_its_text(app: App) -> None:
    app.crawl()
    app.deploy(config="throw new Error('no chunk');")
    run = app.crawl()
    assert (run["failed"], run["unchanged"], run["changed"]) == (1, len(TEXTS) - 1, 0)
    assert_rendered(app.texts())


def test_rendered_page_that_is_removed_leaves_the_answers(app: App) -> None:
    app.crawl()
    app.remove("guide/errors.html")
    run = app.crawl()
    assert (run["gone"], run["failed"]) == (1, 0)
    assert app.texts().keys() == TEXTS.keys() - {"guide/errors.html"}


def test_rendered_page_that_sends_on_is_not_indexed_with_the_text_of_another(
    app: App, nginx_site: SiteFactory
) -> None:
    app.crawl()
    foreign = nginx_site()
    app.deploy(
        config="location.replace('/index.html')", errors=f"location.replace('{foreign.url}')"
    )
    run = app.crawl(FRESHCRAWL_GUARD_REMOVED_RATIO=1)
    assert (run["hidden"], run["moved"], run["failed"]) == (2, 0, 0)
    assert app.texts().keys() == {"index.html"}


def test_a_browser_logs_in_at_the_site_and_nowhere_else(
    nginx_site: SiteFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCS_PASS", "hunter2")
    users = tmp_path / "users"
    users.write_text("me:{PLAIN}hunter2\n")
    with Origin() as foreign:
        foreign["/"] = Answer("who are you?", 401, {"WWW-Authenticate": 'Basic realm="docs"'})
        served = nginx_site(
            server_config=f"location / {{ auth_basic docs; auth_basic_user_file {users}; }}"
            f"location = /guide/errors.html {{ return 302 {foreign.url}; }}"
        )
        app = App(served, tmp_path, LOGIN)
        app.deploy()
        run = app.crawl()
        assert (run["new"], run["failed"]) == (2, 1)
        assert app.texts().keys() == TEXTS.keys() - {"guide/errors.html"}
        assert "/" in {asked.path for asked in foreign.asked}
        assert not any("Authorization" in asked.headers for asked in foreign.asked)


def test_no_browser_outlives_a_crawl(app: App) -> None:
    crawl = app.start()
    started = descendants_until_end(crawl)
    assert crawl.returncode == 0, (app.folder / "crawl.log").read_text()[-3000:]
    assert any("chrom" in process.name for process in started)
    assert still_there(started) == set()


def test_no_browser_outlives_a_killed_crawl_and_the_next_one_goes_on(app: App) -> None:
    app.deploy(errors="")  # keeps the browser waiting for a heading
    crawl = app.start()
    started = descendants_until_end(crawl, kill_when=lambda: bool(app.page_requests()))
    assert crawl.returncode == -signal.SIGKILL
    assert any("chrom" in process.name for process in started)
    assert still_there(started) == set()
    app.deploy()
    app.crawl()
    assert_rendered(app.texts())


@dataclass(frozen=True)
class Process:
    """A process, told from later ones with its number by its start."""

    pid: int
    parent: int
    name: str
    started: str


def processes() -> set[Process]:
    """Return all processes that run, without those that have ended and were not waited for."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text().rpartition(")")
        except OSError:  # it has ended meanwhile
            continue
        fields = tail.split()
        if fields[0] != "Z":
            name = head.partition("(")[2]
            found.add(Process(int(path.parent.name), int(fields[1]), name, fields[19]))
    return found


def descendants_until_end(
    crawl: subprocess.Popen[bytes], kill_when: Callable[[], bool] = lambda: False
) -> set[Process]:
    """Wait for a crawl, or kill it at the given moment; return all that it started."""
    seen: set[Process] = set()
    family = {crawl.pid}
    deadline = time.monotonic() + CRAWL_TIMEOUT_S
    try:
        while crawl.poll() is None and time.monotonic() < deadline:
            # By number, so that a parent is known before its children.
            for process in sorted(processes(), key=lambda process: process.pid):
                if process.parent in family:
                    family.add(process.pid)
                    seen.add(process)
            if kill_when():
                crawl.kill()
            time.sleep(0.05)
    finally:
        crawl.kill()
        crawl.wait(timeout=EXIT_TIMEOUT_S)
    return seen


def still_there(started: set[Process]) -> set[Process]:
    """Return which of the processes do not end in time; these are killed."""
    ids = {(process.pid, process.started) for process in started}
    deadline = time.monotonic() + EXIT_TIMEOUT_S
    while True:
        left = {process for process in processes() if (process.pid, process.started) in ids}
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    for process in left:
        os.kill(process.pid, signal.SIGKILL)
    return left


ROUTER = """
const texts = {texts};
const name = location.pathname.slice(1);
document.title = "App";
document.getElementById("root").innerHTML = texts[name]
  ? `<main><h1>About ${{name}}</h1><p>${{texts[name]}}</p></main>`
  : `<main><h1>Nothing here</h1><p>The app has no page ${{name}}. Try the menu.</p></main>`;
"""


def test_pages_that_an_app_does_not_have_are_told_in_the_browser(tmp_path: Path) -> None:
    """The server answers every URL with one and the same 200; so does the app, but for its text."""
    state, sites = tmp_path / "state", tmp_path / "sites.toml"
    with Origin() as origin:
        sites.write_text(SITES.format(url=origin.url, render="always"))
        origin.serve_sitemap("/a", "/b", "/never")
        reports = []
        for day, texts in enumerate(
            [{"a": "The text of a.", "b": "The text of b."}, {"a": "New."}]
        ):
            origin.unknown = Answer(SHELL.format(script=ROUTER.format(texts=json.dumps(texts))))
            origin.asked.clear()
            result = scrapy(
                "crawl", "docs", state=state, settings={"FRESHCRAWL_SITES": sites},
                clock_offset_s=day * 4 * 86_400, timeout=CRAWL_TIMEOUT_S,
            )  # fmt: skip
            assert result.returncode == 0, result.stderr[-3000:]
            reports.append(report(state))
            odd = {path for path in origin.paths() if len(path) == 17}
            assert len(odd) == 1, "asked for once"
    first, second = reports
    assert (first["new"], first["excluded"]) == (2, 1)
    assert (second["changed"], second["rejected_kinds"]) == (1, {"soft 404": 1})
    assert any("The text of b." in row["text"] for row in export(state))
