"""``sites.toml``: what it may hold, and on which line a mistake is."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from freshcrawl.config import Config, ConfigError
from freshcrawl.sites_file import line_of, load_sites, place_of

if TYPE_CHECKING:
    from pathlib import Path

    from freshcrawl.sites import SiteConfig


def load(folder: Path, text: str | bytes) -> dict[str, SiteConfig]:
    path = folder / "my.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_sites(Config(sites=str(path)))


def test_sites_of_a_file(tmp_path: Path) -> None:
    sites = load(
        tmp_path,
        """
        [sites.mako]
        url = "https://docs.makotemplates.org/en/latest/"
        absent = "hide"
        sitemaps = ["https://docs.makotemplates.org/sitemap.xml"]

        [sites."lxml-5.0"]
        url = "https://lxml.de/"
        """,
    )
    assert list(sites) == ["mako", "lxml-5.0"]
    assert (sites["mako"].name, sites["mako"].absent) == ("mako", "hide")
    assert sites["mako"].sitemaps == ("https://docs.makotemplates.org/sitemap.xml",)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[sites]\n"])
def test_a_file_without_sites(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == {}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[sites.a", "not valid TOML"),
        (b"[sites.a]\nurl = '\xff'", "not valid TOML"),
        ("[sites.a]\nurl = 'https://a.example/'\n[sites.a]\n", "not valid TOML"),
        ("[site.a]\nurl = 'https://a.example/'", "my.toml:1: unknown key 'site'"),
        ("url = 'https://a.example/'", "my.toml:1: unknown key 'url'"),
        ("sites = 5", "sites are tables"),
        ("[[sites]]\nurl = 'https://a.example/'", "sites are tables"),
        ("[sites]\na = 'https://a.example/'", "my.toml:2: [sites.a]: expected a table"),
        ("[sites.a]\n", "my.toml:1: [sites.a]: key 'url' is missing"),
        (
            "[sites.a]\nname = 'b'\nurl = 'https://a.example/'",
            "my.toml:2: [sites.a]: unknown key 'name'",
        ),
        *(
            (f"[sites.'{name}']\nurl = 'https://a.example/'", "a name has letters")
            for name in ("..", ".", "", ".a", "a/b", "../a", "a b", "a\\b", "-", "a:b", "/tmp")
        ),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str | bytes, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert part in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


GOOD = "url = 'https://a.example/'\n"


@pytest.mark.parametrize(
    ("body", "line", "part"),
    [
        (GOOD + "colour = 'red'", 3, "unknown key 'colour'"),
        (GOOD + "\n# a comment\n\nabsent = 'drop'", 6, "absent = 'drop': expected keep, hide"),
        (GOOD + "drop = [\n  'nav',\n  'a::before',\n]", 3, "drop: 'a::before' is not a CSS"),
        (GOOD + "headers = { Authorization = 'me' }", 3, "headers: Authorization may be secret"),
        (GOOD + "[sites.a.headers]\nAuthorization = 'me'", 3, "headers: Authorization may be"),
        (GOOD + "missing_runs = 0", 3, "missing_runs = 0: expected"),
        (
            GOOD + "max_pages = 9\nmin_interval_secs = 9e9\nmissing_runs = 2",
            4,
            "min_interval_secs (9000000000) must not be longer than start_interval_secs (259200, "
            "from FRESHCRAWL_START_INTERVAL_SECS)",
        ),
        (
            GOOD + "max_pages = 9\nmax_interval_secs = 30000",
            4,
            "start_interval_secs (259200, from FRESHCRAWL_START_INTERVAL_SECS) must not be longer "
            "than max_interval_secs (30000)",
        ),
        (
            GOOD + "max_pages = 9\nstart_interval_secs = 5\nmin_interval_secs = 7",
            5,
            "min_interval_secs (7) must not be longer than start_interval_secs (5)",
        ),
        (GOOD + "max_pages = 9\nmin_interval_secs = 0", 4, "min_interval_secs (0) must not be 0"),
        (GOOD + "render = 'always'\n[sites.b]\nrender = 'no'\nurl = 'x'", 5, "[sites.b]: render"),
        (GOOD + "wait_for = 'main'", 3, "wait_for has no effect"),
        (GOOD + "discovery = 'list'", 3, "discovery = 'list' needs urls"),
        ("urls = ['https://a.example/x', 'ftp://a.example/']", 2, "urls: cannot be crawled"),
        (GOOD + "keep = '''\nurl = 1\n[x]\n'''\ncolour = 1", 3, "keep = "),
    ],
)
def test_mistakes_have_file_and_line(tmp_path: Path, body: str, line: int, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, f"[sites.a]\n{body}\n")
    text = str(caught.value)
    assert text.startswith(f"{tmp_path / 'my.toml'}:{line}: [sites.")
    assert part in text


DOCUMENT = """\
# drop = [] of no table
[sites.one]
url = "https://one.example/"   # drop
drop = [
  "drop",  # it names itself
  "[sites.two]",
]
keep = '''
drop = 1
[sites.two]
'''

[sites."t.wo"]
drop = ["x"]
url = "https://two.example/"
headers = { Accept = "text/html" }
[sites.two.headers]
Accept = "text/plain"
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("sites",), 2),
        (("sites", "one"), 2),
        (("sites", "one", "url"), 3),
        (("sites", "one", "drop"), 4),
        (("sites", "one", "keep"), 8),
        (("sites", "t.wo"), 13),
        (("sites", "t.wo", "drop"), 14),
        (("sites", "t.wo", "url"), 15),
        (("sites", "t.wo", "headers", "Accept"), 16),
        (("sites", "two"), 17),
        (("sites", "two", "headers"), 17),
        (("sites", "two", "headers", "Accept"), 18),
        (("sites", "one", "headers"), 0),
        (("nothing",), 0),
    ],
)
def test_line_of(keys: tuple[str, ...], line: int) -> None:
    assert line_of(DOCUMENT, keys) == line
    assert line_of(DOCUMENT.replace("\n", "\r\n"), keys) == line


def test_line_of_a_key_in_a_long_file_takes_few_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [f"[sites.s{n}]\nurl = 'https://s{n}.example/'\ndrop = ['x']\n" for n in range(300)]
    calls = 0
    real = tomllib.loads

    def counted(text: str) -> dict[str, object]:
        nonlocal calls
        calls += 1
        return real(text)

    monkeypatch.setattr(tomllib, "loads", counted)
    assert line_of("".join(tables), ("sites", "s250", "drop")) == 753
    assert calls < 40


def test_place_of_a_site_that_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert place_of(Config(), "mako")("url") == "site mako"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[sites.a]\nurl = " + "[" * 3_000, "nested too deep"),
        ("[sites.a]\nurl = " + "9" * 5_000, "not valid TOML"),
        (f"[sites.a]\n{GOOD}deny = ['a{{99999999999}}']", "my.toml:3: [sites.a]: deny: "),
        (f"[sites.a]\n{GOOD}deny = ['{'(' * 3_000}{')' * 3_000}']", "my.toml:3: [sites.a]: deny: "),
        (f"[sites.a]\n{GOOD}max_age = 1", "did you mean 'max_age_secs'?"),
        (f"[sites.a]\n{GOOD}FRESHCRAWL_MISSING_RUNS = 1", "did you mean 'missing_runs'?"),
        ("[sites.a]\nurl = 'a.example/docs'", "did you mean https://a.example/docs or http://"),
        (
            f"[sites.a]\n{GOOD}[sites.b]\n{GOOD}",
            "my.toml:3: [sites.b]: the same pages as [sites.a]",
        ),
    ],
)
def test_mistakes_that_are_harder_to_tell(tmp_path: Path, text: str, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert part in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 600


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert list(load(tmp_path, "\ufeff[sites.a]\n" + GOOD)) == ["a"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read \(No such file"):
        load_sites(Config(sites=str(tmp_path / "none.toml")))
    with pytest.raises(ConfigError, match="cannot be read"):
        load_sites(Config(sites=str(tmp_path)))


def test_no_file_is_no_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_sites(Config()) == {}
