"""The add-on in another project, whose settings name nothing of freshcrawl but the add-on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.extensions.corestats import CoreStats
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

from freshcrawl.addon import FreshcrawlAddon
from freshcrawl.credentials import SiteHeadersMiddleware
from freshcrawl.extensions import RunExtension
from freshcrawl.middlewares import FreshnessMiddleware
from freshcrawl.pipelines import (
    BoilerplatePipeline,
    ChangePipeline,
    IndexPipeline,
    NormalizePipeline,
    PresencePipeline,
    RejectPipeline,
)
from freshcrawl.robots import RobotsMiddleware
from tests.support.project import export, scrapy

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from tests.conftest import SiteFactory

ADDONS = {"freshcrawl.addon.FreshcrawlAddon": 500}
PLACES: dict[str, dict[type, int | None]] = {
    "EXTENSIONS": {RunExtension: 500},
    "DOWNLOADER_MIDDLEWARES": {
        FreshnessMiddleware: 75,
        SiteHeadersMiddleware: 80,
        RobotsMiddleware: 100,
        RobotsTxtMiddleware: None,
    },
    "ITEM_PIPELINES": {
        NormalizePipeline: 100,
        BoilerplatePipeline: 200,
        ChangePipeline: 300,
        RejectPipeline: 320,
        PresencePipeline: 350,
        IndexPipeline: 400,
    },
}
THEIR_FILES = {
    "scrapy.cfg": "[settings]\ndefault = their_settings\n",
    "their_settings.py": f"""
ADDONS = {ADDONS}
SPIDER_MODULES = ["their_spiders", "freshcrawl.spiders"]
ROBOTSTXT_OBEY = True
""",
    "their_spiders.py": """
from scrapy import Spider

class TitleSpider(Spider):
    name = "titles"

    def __init__(self, url):
        super().__init__(start_urls=[url])

    def parse(self, response):
        yield {"title": response.css("h1::text").get()}
""",
}


class OwnPipeline:
    """A pipeline of the other project."""


def project(**settings: Any) -> BaseSettings:
    """Return the settings of a crawler of a project with the add-on."""
    return get_crawler(settings_dict={"ADDONS": ADDONS, **settings}).settings


def components(settings: BaseSettings, name: str) -> list[Any]:
    """Return the classes that Scrapy would build, in their order."""
    merged = settings.get_component_priority_dict_with_base(name)
    return [load_object(entry) for entry in build_component_list(merged)]


@pytest.mark.parametrize("name", PLACES)
def test_components_are_placed(name: str) -> None:
    assert project().getdict(name) == PLACES[name]


def test_order_among_those_of_scrapy() -> None:
    settings = project()
    middlewares = components(settings, "DOWNLOADER_MIDDLEWARES")
    ours = middlewares.index(FreshnessMiddleware)
    expected = [FreshnessMiddleware, SiteHeadersMiddleware, RobotsMiddleware]
    assert middlewares[ours : ours + 3] == expected
    assert RobotsTxtMiddleware not in middlewares
    assert components(settings, "ITEM_PIPELINES") == list(PLACES["ITEM_PIPELINES"])
    assert {CoreStats, RunExtension} <= set(components(settings, "EXTENSIONS"))


def test_adding_twice_is_adding_once() -> None:
    settings = Settings()
    FreshcrawlAddon().update_settings(settings)
    once = settings.copy_to_dict()
    FreshcrawlAddon().update_settings(settings)
    assert settings.copy_to_dict() == once


@pytest.mark.parametrize(
    ("name", "path", "component"),
    [
        ("EXTENSIONS", "freshcrawl.extensions.RunExtension", RunExtension),
        ("DOWNLOADER_MIDDLEWARES", "freshcrawl.robots.RobotsMiddleware", RobotsMiddleware),
        ("ITEM_PIPELINES", "freshcrawl.pipelines.IndexPipeline", IndexPipeline),
        ("ITEM_PIPELINES", IndexPipeline, IndexPipeline),
    ],
)
def test_part_that_the_project_disabled_stays_disabled(
    name: str, path: str | type, component: type
) -> None:
    found = components(project(**{name: {path: None}}), name)
    assert component not in found
    others = [cls for cls, place in PLACES[name].items() if place is not None and cls != component]
    assert [cls for cls in found if cls in others] == others


def test_parts_of_the_project_keep_their_place() -> None:
    pipelines = {
        "freshcrawl.pipelines.NormalizePipeline": 190,
        f"{__name__}.OwnPipeline": 150,
    }
    found = components(project(ITEM_PIPELINES=pipelines), "ITEM_PIPELINES")
    assert [cls.__name__ for cls in found[:2]] == ["OwnPipeline", "NormalizePipeline"]
    assert found[2:] == [
        *(BoilerplatePipeline, ChangePipeline, RejectPipeline),
        *(PresencePipeline, IndexPipeline),
    ]


@pytest.mark.nginx
def test_other_project_runs_its_own_spiders_and_ours(
    nginx_site: SiteFactory, state: Path, tmp_path: Path
) -> None:
    site = nginx_site()
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.html").write_text(
        "<main><h1>Guide</h1><p>How it works.</p></main>"
    )
    site.deploy(tmp_path / "pages")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name, text in THEIR_FILES.items():
        (theirs / name).write_text(text)

    command = ("crawl", "titles", "-a", f"url={site.url}", "-O", "titles.json")
    own = scrapy(*command, state=state, cwd=theirs)
    assert own.returncode == 0, own.stderr[-3000:]
    assert "Traceback" not in own.stderr
    assert json.loads((theirs / "titles.json").read_text()) == [{"title": "Guide"}]
    assert not state.exists()

    ours = scrapy("crawl", "docs", "-a", f"url={site.url}", state=state, cwd=theirs)
    assert ours.returncode == 0, ours.stderr[-3000:]
    [chunk] = export(state)
    assert (chunk["url"], chunk["title"]) == (f"{site.url}index.html", "Guide")
