"""``scrapy doctor`` as an operator runs it, against real servers and hosts that are not there."""

from __future__ import annotations

import json
import signal
import ssl
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.render import launch_options
from freshcrawl.sitemaps import usual_places
from tests.support.origin import Answer, Origin, page
from tests.support.permissions import AS_OTHERS, needs_permissions
from tests.support.project import REPO, Result, command, environment, scrapy, start_scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = "One more word about the options. " * 10
PLAIN = "text/plain"
SHELL = "<html><body><div id=root></div><script>{script}</script></body></html>"
FILL = f"""setTimeout(() => {{ document.getElementById("root").innerHTML =
    `<main><h1>About</h1><p>{TEXT}</p></main>`; }}, 100);"""


def doctor(*args: str, state: Path, **settings: Any) -> Result:
    """Run the command without the model, and with short waits."""
    values = {"DOWNLOAD_TIMEOUT": 2, **settings}
    return scrapy("doctor", "--no-model", *args, state=state, settings=values, timeout=90)


def checks_of(result: Result) -> dict[str, dict[str, str]]:
    """Return the checks by name, the last of each name."""
    assert result.stderr == ""
    return {check["name"]: check for check in json.loads(result.stdout)["checks"]}


def serve_pages(origin: Origin) -> None:
    for path in ("/", "/a", "/b"):
        origin[path] = page(f"Page {path}", TEXT, links='<a href="/a">a</a> <a href="/b">b</a>')


def test_a_good_site_before_its_first_crawl(state: Path) -> None:
    with Origin() as origin:
        serve_pages(origin)
        origin.serve_sitemap("/", "/a", "/b")
        result = doctor(origin.url, state=state, FRESHCRAWL_CONTACT="me@example.com")
        asked = origin.asked[:]
    assert (result.returncode, result.stderr) == (0, "")
    *lines, last = result.stdout.splitlines()
    assert last == f"{len(lines)} checks: no problem"
    assert "lists 3 pages, all below" in result.stdout
    assert "the site answers 304" in result.stdout
    assert [request.path for request in asked] == ["/robots.txt", "/", "/", "/sitemap.xml"]
    assert all("(+me@example.com)" in request.headers["User-Agent"] for request in asked)
    assert not state.exists()


def test_a_site_without_sitemap_and_validators(state: Path) -> None:
    with Origin() as origin:
        serve_pages(origin)
        origin["/"] = Answer(page("Home", TEXT, links='<a href="/a">a</a>'), validators=False)
        result = doctor("--json", origin.url, state=state)
        paths = origin.paths()
    checks = checks_of(result)
    assert result.returncode == 0
    assert "links to 1 page of the site" in checks["links"]["what"]
    assert "neither ETag nor Last-Modified" in checks["validators"]["what"]
    assert "there is no robots.txt" in checks["robots"]["what"]
    assert len(paths) <= 12


def test_sitemap_that_is_html(state: Path) -> None:
    with Origin() as origin:
        serve_pages(origin)
        origin.serve_sitemap("/a")
        origin["/sitemap.xml"] = page("App", "x")
        checks = checks_of(result := doctor("--json", origin.url, state=state))
    assert result.returncode == 1
    assert checks["sitemap"]["level"] == "fail"
    assert "an HTML page, not a sitemap" in checks["sitemap"]["what"]


def test_index_whose_sitemaps_are_read_in_part(state: Path) -> None:
    with Origin() as origin:
        serve_pages(origin)
        origin.serve_sitemap("/a", "/b", sitemap="/1.xml")
        names = [f"{origin.url}{number}.xml" for number in (1, 2, 1, 1, 1)]
        places = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in names)
        origin["/index.xml"] = f"<sitemapindex>{places}</sitemapindex>"
        origin["/robots.txt"] = Answer(f"Sitemap: {origin.url}index.xml", content_type=PLAIN)
        checks = checks_of(doctor("--json", origin.url, state=state))
    assert "index of 5 sitemaps; 2 of them were read: 4 pages" in checks["sitemap"]["what"]


@pytest.mark.parametrize(
    ("answer", "name", "words"),
    [
        (Answer("User-agent: *\nDisallow: /", content_type=PLAIN), "robots", "forbids"),
        (Answer("busy", status=503), "robots", "HTTP 503"),
    ],
)
def test_robots_that_let_nobody_in(answer: Answer, name: str, words: str, state: Path) -> None:
    with Origin() as origin:
        serve_pages(origin)
        origin["/robots.txt"] = answer
        checks = checks_of(result := doctor("--json", origin.url, state=state))
        assert origin.paths() == ["/robots.txt"]  # once: it is said how it is now
    assert result.returncode == 1
    assert checks[name]["level"] == "fail"
    assert words in checks[name]["what"]


def test_start_page_that_leads_to_another_host(state: Path) -> None:
    with Origin() as origin, Origin() as other:
        other["/docs/"] = page("Other", TEXT)
        origin["/"] = Answer("", status=301, headers={"Location": f"{other.url}docs/"})
        checks = checks_of(result := doctor("--json", origin.url, state=state))
        assert other.paths() == []
    assert result.returncode == 1
    assert checks["start page"]["advice"] == f'set url = "{other.url}docs/"'


def test_start_page_that_leads_on_within_the_site(state: Path) -> None:
    with Origin() as origin:
        serve_pages(origin)
        origin["/"] = Answer("", status=302, headers={"Location": "/en/"})
        refresh = '<meta http-equiv=refresh content="0; url=/a">'
        origin["/en/"] = page("Moved", "Here", head=refresh)
        checks = checks_of(doctor("--json", origin.url, state=state))
        assert checks["start page"]["what"] == f"{origin.url}a answers, after 2 redirects"


def test_pages_made_by_scripts(state: Path) -> None:
    with Origin() as origin:
        origin["/"] = SHELL.format(script=FILL)
        checks = checks_of(result := doctor("--json", origin.url, state=state))
    assert result.returncode == 1
    assert 'render = "always"' in checks["text"]["advice"]


def test_entrance_without_text_is_not_taken_for_the_site(state: Path) -> None:
    with Origin() as origin:
        serve_pages(origin)
        origin["/"] = "<html><body><script>welcome()</script></body></html>"
        origin.serve_sitemap("/", "/a")
        checks = checks_of(result := doctor("--json", origin.url, state=state))
    assert result.returncode == 0
    assert checks["text"]["level"] == "ok"
    assert "/a: " in checks["text"]["what"]


def test_hosts_that_do_not_answer(state: Path) -> None:
    """One that is not there, one that listens nowhere, one that hangs; a good one among them."""

    def hang() -> Answer:
        done.wait(30)
        return Answer()

    done = threading.Event()
    with Origin() as origin, Origin() as closed, Origin() as hanging:
        serve_pages(origin)
        nowhere = "https://nowhere.invalid/docs/"
        hanging["/robots.txt"] = hang
        refused = "http://127.0.0.1:9/"
        result = doctor("--json", origin.url, nowhere, refused, hanging.url, state=state)
        done.set()
        assert closed.paths() == []
    assert (result.returncode, result.stderr) == (1, "")
    said = {
        check["site"]: check["what"]
        for check in json.loads(result.stdout)["checks"]
        if check["name"] == "connection"
    }
    assert len(said) == 4
    for words in ("answers over http", "was not found", "was refused", "no answer in time"):
        assert any(words in what for what in said.values()), words


def test_site_that_hangs_half_way_is_left_in_time(state: Path) -> None:
    def hang() -> Answer:
        done.wait(30)
        return Answer()

    done = threading.Event()
    with Origin() as origin:
        serve_pages(origin)
        origin.serve_sitemap("/a")
        origin["/sitemap.xml"] = hang
        checks = checks_of(doctor("--json", origin.url, state=state))
        done.set()
    assert checks["text"]["level"] == "ok"
    assert "no answer in time" in checks["sitemap"]["what"]


HURRIED = """
import sys
from freshcrawl.doctor import probe
from scrapy.cmdline import execute
probe.PROBE_SECS = 3.0
execute(["scrapy", "doctor", "--no-model", "--json", *sys.argv[1:]])
"""


def test_site_that_answers_slowly_throughout_is_left_in_time(state: Path) -> None:
    def slow() -> Answer:
        done.wait(0.6)
        return Answer("", status=404)

    done = threading.Event()
    with Origin() as origin:
        serve_pages(origin)
        for place in usual_places(origin.url):
            origin["/" + place.removeprefix(origin.url)] = slow
        done_process = subprocess.run(
            [sys.executable, "-c", HURRIED, origin.url, "-s", f"FRESHCRAWL_STATE_DIR={state}"],
            cwd=REPO,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        asked = origin.paths()
    result = Result(done_process.returncode, done_process.stdout, done_process.stderr)
    checks = checks_of(result)
    assert result.returncode == 0
    assert (checks["time"]["level"], checks["text"]["level"]) == ("warn", "ok")
    assert "links" not in checks  # it is not known that there is no sitemap
    assert 3 < len(asked) < 13


def test_ctrl_c_ends_it_with_one_line(state: Path, tmp_path: Path) -> None:
    def hang() -> Answer:
        asked.set()
        done.wait(30)
        return Answer()

    asked, done, log = threading.Event(), threading.Event(), tmp_path / "log"
    with Origin() as origin:
        origin["/robots.txt"] = hang
        process = start_scrapy("doctor", "--no-model", origin.url, state=state, log=log)
        assert asked.wait(30)
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 130
        done.set()
    assert log.read_text().splitlines()[-1] == "freshcrawl: stopped before all was checked"
    assert "connection" not in log.read_text()


@contextmanager
def self_signed(folder: Path) -> Iterator[int]:
    """Serve https with a certificate that nobody vouches for; give the port."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "self-signed.pem"
    path.write_bytes(secret + certificate.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_tls(state: Path, tmp_path: Path) -> None:
    with self_signed(tmp_path) as port, Origin() as plain:
        result = doctor(
            "--json",
            f"https://localhost:{port}/",
            plain.url.replace("http:", "https:"),
            state=state,
        )
    assert result.returncode == 1
    checks = [c for c in json.loads(result.stdout)["checks"] if c["name"] == "connection"]
    assert "cannot be trusted" in checks[0]["what"]
    assert "does not speak TLS" in checks[1]["what"]
    assert "http://" in checks[1]["advice"]


def test_known_sites_with_and_without_state(state: Path, tmp_path: Path) -> None:
    sites = tmp_path / "sites.toml"
    with Origin() as origin, Origin() as second:
        serve_pages(origin)
        serve_pages(second)
        second.serve_sitemap("/a", sitemap="/pages.xml")
        sites.write_text(f'[sites.first]\nurl = "{origin.url}"\n')
        assert scrapy("crawl", "docs", "-a", f"url={second.url}", state=state).returncode == 0
        name = second.url.split("//")[1].strip("/").replace(":", "-")
        # Nothing names it any more, but the state does.
        second["/robots.txt"] = Answer(status=404)
        before = {path: path.read_bytes() for path in state.rglob("*") if path.is_file()}
        for args, names in ([(), {"", "first", name}], [("--site", name), {"", name}]):
            result = doctor("--json", *args, state=state, FRESHCRAWL_SITES=sites)
            assert result.returncode == 0, result.stdout
            assert {c["site"] for c in json.loads(result.stdout)["checks"]} == names
        assert "/pages.xml lists 1 page" in checks_of(result)["sitemap"]["what"]
    assert {path: path.read_bytes() for path in state.rglob("*") if path.is_file()} == before
    (state / name / "records.sqlite").write_text("no database " * 999)
    result = doctor("--json", state=state, FRESHCRAWL_SITES=sites)
    assert result.returncode == 1
    assert checks_of(result)["files"]["level"] == "fail"


def test_credentials_of_a_site(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = tmp_path / "sites.toml"
    with Origin() as origin:
        serve_pages(origin)
        sites.write_text(
            f'[sites.closed]\nurl = "{origin.url}"\n'
            'http_user = "me"\nhttp_pass = "${DOCS_PASS}"\n'
        )
        monkeypatch.delenv("DOCS_PASS", raising=False)
        checks = checks_of(result := doctor("--json", state=state, FRESHCRAWL_SITES=sites))
        assert (result.returncode, origin.paths()) == (1, [])
        assert "the environment variable DOCS_PASS is not set" in checks["credentials"]["what"]
        monkeypatch.setenv("DOCS_PASS", "hunter2")
        result = doctor("--json", state=state, FRESHCRAWL_SITES=sites)
        assert "credentials" not in checks_of(result)
        assert "hunter2" not in result.stdout
        assert {asked.headers["Authorization"][:6] for asked in origin.asked} == {"Basic "}


def test_approved_pages_need_no_sitemap(state: Path, tmp_path: Path) -> None:
    sites = tmp_path / "sites.toml"
    with Origin() as origin:
        serve_pages(origin)
        sites.write_text(f'[sites.few]\nurls = ["{origin.url}a", "{origin.url}b"]\n')
        result = doctor("--json", state=state, FRESHCRAWL_SITES=sites)
        assert set(origin.paths()) == {"/robots.txt", "/a"}
    assert checks_of(result)["sitemap"]["what"] == "not needed: 2 approved pages in urls"
    assert result.returncode == 0


def test_configuration_that_cannot_be_used(state: Path, tmp_path: Path) -> None:
    sites = tmp_path / "sites.toml"
    sites.write_text("[sites.a\n")
    for settings, name in (
        ({"FRESHCRAWL_SITES": sites}, "sites.toml"),
        ({"FRESHCRAWL_COLOUR": "red"}, "settings"),
        ({"FRESHCRAWL_EMBEDDER_CLASS": "no.such.Class"}, "settings"),
    ):
        checks = checks_of(result := doctor("--json", state=state, **settings))
        assert result.returncode == 2
        assert checks[name]["level"] == "fail"
        assert {"python", "packages"} <= set(checks)
    assert not state.exists()


def test_state_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = doctor(state=tmp_path / "file/state")
    assert result.returncode == 1
    assert "is not a folder" in result.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["docs.example.com"], "did you mean https://"),
        (["--site", "nowhere"], "unknown site 'nowhere'"),
        (["--site", "a", "http://a.test/"], "not both"),
        (["--models"], "unknown argument '--models'"),
    ],
)
def test_wrong_usage(args: list[str], words: str, state: Path) -> None:
    result = doctor(*args, state=state)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_settings_of_a_crawl_leave_no_file(state: Path, tmp_path: Path) -> None:
    with Origin() as origin:
        serve_pages(origin)
        result = doctor(
            "--json",
            origin.url,
            state=state,
            JOBDIR=tmp_path / "job",
            FEEDS=json.dumps({str(tmp_path / "feed.jsonl"): {"format": "jsonlines"}}),
            HTTPCACHE_ENABLED=1,
            HTTPCACHE_DIR=tmp_path / "cache",
        )
    assert result.returncode == 0
    assert "HTTPCACHE_ENABLED is set" in result.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.model
def test_the_real_model_is_loaded_and_used(state: Path) -> None:
    result = scrapy("doctor", "--json", state=state, embedder="real")
    check = checks_of(result)["model"]
    assert (result.returncode, check["level"]) == (0, "ok")
    assert "384 dimensions" in check["what"]


def test_a_model_that_is_nowhere(state: Path, tmp_path: Path) -> None:
    result = scrapy(
        "doctor",
        "--json",
        state=state,
        embedder="real",
        settings={"FRESHCRAWL_EMBED_MODEL": tmp_path},
    )
    assert result.returncode == 1
    assert checks_of(result)["model"]["level"] == "fail"


@pytest.mark.chromium
@pytest.mark.skipif("executable_path" not in launch_options(), reason="chromium is not installed")
@pytest.mark.parametrize(
    ("script", "level", "text"), [(FILL, "ok", "ok"), ("", "ok", "fail")], ids=["filled", "empty"]
)
def test_pages_are_rendered_where_the_site_wants_it(
    script: str, level: str, text: str, state: Path, tmp_path: Path
) -> None:
    sites = tmp_path / "sites.toml"
    with Origin() as origin:
        origin["/"] = SHELL.format(script=script)
        wait = 'wait_for = "h1"\n' if script else ""
        sites.write_text(f'[sites.app]\nurl = "{origin.url}"\nrender = "always"\n{wait}')
        settings = {"FRESHCRAWL_SITES": sites, "DOWNLOAD_TIMEOUT": 30}
        checks = checks_of(doctor("--json", state=state, **settings))
    assert checks["browser"]["level"] == level
    assert checks["text"]["level"] == text
    assert list(tmp_path.iterdir()) == [sites]


@pytest.mark.parametrize("urls", [[], ["http://127.0.0.1:9/"]])
@pytest.mark.parametrize("toml", ["", "[sites.a]\nurl = 'http://127.0.0.1:9/'", "[sites.a"])
def test_a_state_folder_that_is_a_file_fails_one_check_and_not_the_others(
    urls: list[str], toml: str, tmp_path: Path
) -> None:
    state, sites = tmp_path / "state", tmp_path / "sites.toml"
    state.write_text("not a folder")
    sites.write_text(toml)
    result = doctor("--json", *urls, state=state, FRESHCRAWL_SITES=sites)
    assert result.stderr == ""
    checks = json.loads(result.stdout)["checks"]
    levels = {check["name"]: check["level"] for check in checks}
    assert (levels["state"], levels["model"], levels["packages"]) == ("fail", "ok", "ok")
    assert result.returncode == (2 if toml == "[sites.a" else 1)
    assert ("connection" in levels) is bool(toml != "[sites.a" and (urls or toml))


@needs_permissions
@pytest.mark.parametrize("mode", [0, 0o300])
def test_a_state_folder_that_cannot_be_read_fails_one_check(mode: int, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode)
    done = subprocess.run(
        [*AS_OTHERS, *command(("doctor", "--no-model", "--json"), state, "hash", 0, None)],
        cwd=REPO, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    state.chmod(0o700)
    failed = [c for c in json.loads(done.stdout)["checks"] if c["level"] == "fail"]
    assert (done.returncode, done.stderr) == (1, "")
    assert [check["name"] for check in failed] == ["state"]
    assert failed[0]["advice"]
