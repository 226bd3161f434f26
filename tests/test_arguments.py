"""Spider arguments and the site that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from freshcrawl.arguments import SpiderArguments, known_sites
from freshcrawl.config import Config, ConfigError
from freshcrawl.sites import SiteConfig
from freshcrawl.state import open_for_writing

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://docs.example.com/en/"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Return a configuration with a ``sites.toml`` and an empty state folder."""
    path = tmp_path / "sites.toml"
    path.write_text(
        f"""
        [sites.mako]
        url = "{URL}"
        absent = "hide"
        [sites.lxml]
        url = "https://lxml.example.org/"
        """
    )
    monkeypatch.setenv("FRESHCRAWL_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FRESHCRAWL_SITES", str(path))
    return Config.from_settings(Settings())


def crawled(config: Config, site: SiteConfig) -> None:
    """Leave the state that a run of ``site`` leaves."""
    state = open_for_writing(config, site.name, "test", 0.0)
    state.records.put("meta:site", site.to_json())
    state.records.commit()
    state.close()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, SpiderArguments()),
        ({"url": f" {URL} "}, SpiderArguments(url=URL)),
        ({"site": "mako", "full": "1"}, SpiderArguments(site="mako", full=True)),
        ({"url": "", "site": "mako"}, SpiderArguments(site="mako")),
        ({"dry_run": "TRUE", "full": "no"}, SpiderArguments(dry_run=True)),
        ({"full": True, "dry_run": False}, SpiderArguments(full=True)),
        ({"full": 1, "dry_run": ""}, SpiderArguments(full=True)),
        ({"_job": "6487ec79947edab326d6db28a2d86511e8247444"}, SpiderArguments()),
    ],
)
def test_parse(given: dict[str, Any], expected: SpiderArguments) -> None:
    assert SpiderArguments.parse(given) == expected


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"urls": URL}, "unknown argument -a urls=...; known: url, site, full, dry_run"),
        ({"Full": "1"}, "unknown argument -a Full"),
        ({"full": "maybe"}, "-a full is 'maybe': expected true or false"),
        ({"dry_run": "2"}, "-a dry_run is '2'"),
        ({"full": "1\n0"}, r"-a full is '1\n0'"),
        ({"full": None}, "-a full is None"),
        ({"url": URL, "site": "mako"}, "not both"),
    ],
)
def test_parse_refuses(given: dict[str, Any], part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SpiderArguments.parse(given)
    assert part in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "url", [URL, URL.rstrip("/"), URL.replace("https", "http"), URL + "index.html", URL + "#top"]
)
def test_a_url_of_sites_toml_is_that_site_however_it_is_spelled(config: Config, url: str) -> None:
    site = SpiderArguments(url=url).site_config(config)
    assert (site.name, site.absent) == ("mako", "hide")


def test_another_url_is_a_site_of_its_own(config: Config) -> None:
    site = SpiderArguments(url="https://docs.example.com/de").site_config(config)
    assert site == SiteConfig(name="docs.example.com-de", url="https://docs.example.com/de")


def test_a_url_that_was_crawled_keeps_its_policies(config: Config) -> None:
    known = SiteConfig(name="docs.example.com-de", url="https://docs.example.com/de/", drop=("p",))
    crawled(config, known)
    for url in ("https://docs.example.com/de", "https://docs.example.com/de/page.html"):
        assert SpiderArguments(url=url).site_config(config) == known


def test_sites_toml_beats_what_the_last_run_had(config: Config) -> None:
    crawled(config, SiteConfig(name="mako", url=URL, absent="delete"))
    assert SpiderArguments(site="mako").site_config(config).absent == "hide"
    assert known_sites(config)["mako"].absent == "hide"


def test_a_site_that_has_only_state(config: Config) -> None:
    old = SiteConfig(name="old", url="https://old.example.com/")
    crawled(config, old)
    assert SpiderArguments(site="old").site_config(config) == old
    assert known_sites(config)["old"] == old
    assert list(known_sites(config)) == ["mako", "lxml", "old"]


def test_state_without_a_finished_commit_is_no_site(config: Config) -> None:
    open_for_writing(config, "begun", "test", 0.0).close()
    assert "begun" not in known_sites(config)
    with pytest.raises(ConfigError, match="unknown site 'begun'"):
        SpiderArguments(site="begun").site_config(config)


def test_broken_state_of_one_site_does_not_stop_another(config: Config) -> None:
    crawled(config, SiteConfig(name="old", url="https://old.example.com/"))
    broken = config.state_path() / "broken" / "records.sqlite"
    broken.parent.mkdir()
    broken.write_bytes(b"not a database, but as long as its header" * 10)
    assert SpiderArguments(site="old").site_config(config).name == "old"
    assert SpiderArguments(url="https://new.example.com/").site_config(config).name
    with pytest.raises(ConfigError, match="unknown site 'nix'; known: broken, lxml, mako, old"):
        SpiderArguments(site="nix").site_config(config)


@pytest.mark.parametrize("name", ["../mako", "/etc", "Mako", "."])
def test_unknown_names(config: Config, name: str) -> None:
    with pytest.raises(ConfigError, match=r"^unknown site .*; known: lxml, mako$"):
        SpiderArguments(site=name).site_config(config)


def test_no_site_named(config: Config) -> None:
    with pytest.raises(ConfigError, match=r"^no site named: .* -a site=NAME \(lxml, mako\)$"):
        SpiderArguments().site_config(config)


@pytest.mark.parametrize("url", ["docs.example.com", "ftp://docs.example.com/", "https://"])
def test_a_url_that_cannot_be_crawled(config: Config, url: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^-a url: .*(expected something like|did you mean https:)"
    ):
        SpiderArguments(url=url).site_config(config)


def test_nothing_is_created_by_asking(config: Config) -> None:
    SpiderArguments(url="https://new.example.com/").site_config(config)
    known_sites(config)
    assert not config.state_path().exists()
