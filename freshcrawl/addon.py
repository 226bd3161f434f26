"""The add-on: puts freshcrawl's components into any Scrapy project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware

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

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PIPELINES = {
    NormalizePipeline: 100,
    BoilerplatePipeline: 200,
    ChangePipeline: 300,
    RejectPipeline: 320,
    PresencePipeline: 350,
    IndexPipeline: 400,
}


class FreshcrawlAddon:
    """``ADDONS = {"freshcrawl.addon.FreshcrawlAddon": 500}``."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components that the project has not placed or disabled itself."""
        add = settings.setdefault_in_component_priority_dict
        add("EXTENSIONS", RunExtension, 500)
        # Before robots.txt (100): what is not due needs no permission.
        add("DOWNLOADER_MIDDLEWARES", FreshnessMiddleware, 75)
        add("DOWNLOADER_MIDDLEWARES", SiteHeadersMiddleware, 80)
        add("DOWNLOADER_MIDDLEWARES", RobotsMiddleware, 100)
        add("DOWNLOADER_MIDDLEWARES", RobotsTxtMiddleware, None)
        for pipeline, priority in PIPELINES.items():
            add("ITEM_PIPELINES", pipeline, priority)
