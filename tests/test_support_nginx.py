"""The rig's own nginx: what it sends, what it logs, and how versions are laid out."""

from __future__ import annotations

import socket
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.support.nginx import LoggedRequest, NginxSite

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import SiteFactory

pytestmark = pytest.mark.nginx

V1 = {"index.html": "<h1>One</h1>", "guide/a.html": "<p>A</p>", "old.html": "<p>Old</p>"}
V2 = {"index.html": "<h1>Two</h1>", "guide/a.html": "<p>A</p>", "guide/b.html": "<p>B</p>"}


def tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def get(url: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    request = Request(url, headers={name.replace("_", "-"): text for name, text in headers.items()})
    try:
        with urlopen(request, timeout=10) as answer:
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()
    except HTTPError as error:
        with error:
            return error.code, {k.lower(): v for k, v in error.headers.items()}, error.read()


@pytest.fixture
def site(nginx_site: SiteFactory, tmp_path: Path) -> NginxSite:
    started = nginx_site()
    started.deploy(tree(tmp_path / "v1", V1))
    return started


@pytest.mark.parametrize(
    ("ours", "theirs"), [("If_None_Match", "etag"), ("If_Modified_Since", "last-modified")]
)
def test_validators_are_honoured(site: NginxSite, ours: str, theirs: str) -> None:
    status, headers, body = get(site.url)
    assert (status, body) == (200, b"<h1>One</h1>")
    assert get(site.url, **{ours: headers[theirs]})[::2] == (304, b"")


def test_no_validators_are_sent_or_honoured(nginx_site: SiteFactory, tmp_path: Path) -> None:
    site = nginx_site(validators=False)
    site.deploy(tree(tmp_path / "v1", V1))
    status, headers, _ = get(site.url, If_None_Match="*", If_Modified_Since=formatdate(usegmt=True))
    assert status == 200
    assert not {"etag", "last-modified"} & headers.keys()


def test_a_changed_page_has_new_validators_and_an_equal_one_keeps_its_own(
    site: NginxSite, tmp_path: Path
) -> None:
    before = {name: get(site.url + name)[1] for name in V1}
    site.deploy(tree(tmp_path / "v2", V2))
    after = {name: get(site.url + name)[1] for name in ("index.html", "guide/a.html")}
    # The two versions of the index have the same length and may be of the same second.
    assert after["index.html"]["etag"] != before["index.html"]["etag"]
    assert after["index.html"]["last-modified"] != before["index.html"]["last-modified"]
    for header in ("etag", "last-modified"):
        assert after["guide/a.html"][header] == before["guide/a.html"][header]


def test_files_that_a_version_lacks_go(site: NginxSite, tmp_path: Path) -> None:
    site.deploy(tree(tmp_path / "v2", V2))
    assert get(site.url + "old.html")[0] == 404
    assert [path.as_posix() for path in site.web.pages()] == sorted(V2)


def test_emptied_folders_go(site: NginxSite, tmp_path: Path) -> None:
    site.deploy(tree(tmp_path / "v3", {"index.html": "<h1>Three</h1>"}))
    assert sorted(path.name for path in site.web.folder.iterdir()) == [
        "index.html",
        "robots.txt",
        "sitemap.xml",
    ]


def test_sitemap_lists_all_pages_with_their_times(site: NginxSite) -> None:
    sitemap = get(site.url + "sitemap.xml")[2].decode()
    for name in V1:
        assert f"<loc>{site.url}{name}</loc>" in sitemap
    assert sitemap.count("<loc>") == sitemap.count("<lastmod>") == len(V1)
    assert f"Sitemap: {site.url}sitemap.xml\n" in get(site.url + "robots.txt")[2].decode()


def test_sitemap_is_left_as_it_is_when_nothing_changed(site: NginxSite, tmp_path: Path) -> None:
    before = get(site.url + "sitemap.xml")[1]
    site.deploy(tmp_path / "v1")
    assert get(site.url + "sitemap.xml")[1]["etag"] == before["etag"]


def test_a_site_may_have_no_sitemap(nginx_site: SiteFactory, tmp_path: Path) -> None:
    site = nginx_site(sitemap=False)
    site.deploy(tree(tmp_path / "v1", V1))
    assert get(site.url + "sitemap.xml")[0] == 404
    assert b"Sitemap" not in get(site.url + "robots.txt")[2]


def test_requests_are_logged_and_cleared(site: NginxSite) -> None:
    etag = get(site.url)[1]["etag"]
    site.clear()
    get(site.url + "guide/a.html?x=1", User_Agent='a "quoted" agent')
    get(site.url, If_None_Match=etag, User_Agent="b")
    get(site.url + "none.html", If_Modified_Since="Thu, 01 Jan 1970 00:00:00 GMT", User_Agent="c")
    first, second, third = site.requests()
    assert first == LoggedRequest(
        "GET", "/guide/a.html?x=1", 200, len(b"<p>A</p>"), "", "", 'a "quoted" agent'
    )
    assert second == LoggedRequest("GET", "/", 304, 0, etag, "", "b")
    assert (third.path, third.status) == ("/none.html", 404)
    assert third.if_modified_since == "Thu, 01 Jan 1970 00:00:00 GMT"
    site.clear()
    assert site.requests() == []


def test_server_config_is_added(nginx_site: SiteFactory, tmp_path: Path) -> None:
    site = nginx_site(server_config="location = /index.html { return 503; }")
    site.deploy(tree(tmp_path / "v1", V1))
    assert get(site.url + "index.html")[0] == 503
    assert get(site.url + "guide/a.html")[0] == 200


def test_a_private_folder_can_be_served(site: NginxSite) -> None:
    # pytest's folders are closed to other users, whom nginx workers normally run as.
    assert site.root.parent.stat().st_mode & 0o077 == 0
    assert get(site.url)[0] == 200


def test_a_stopped_site_refuses_and_comes_back_at_its_port(site: NginxSite) -> None:
    port = site.port
    site.stop()
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass
    site.start()
    assert site.port == port
    assert get(site.url)[0] == 200
