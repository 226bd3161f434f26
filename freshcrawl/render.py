"""Which pages need a browser, and how scrapy-playwright is set up for them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freshcrawl.sites import SiteConfig

HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
CHROMIUM_ARGS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
WAIT_MS = 15_000


def playwright_settings(site: SiteConfig) -> dict[str, Any]:
    """Return the Scrapy settings that a site with rendered pages needs; empty for others."""
    if site.render == "never":
        return {}
    return {
        "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
        "PLAYWRIGHT_BROWSER_TYPE": "chromium",
        "PLAYWRIGHT_LAUNCH_OPTIONS": launch_options(),
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 4,
    }


def launch_options() -> dict[str, Any]:
    """Return how Chromium is started: the system's own where there is one."""
    args = list(CHROMIUM_ARGS)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        args.append("--no-sandbox")  # Chromium refuses to run as root with its sandbox
    options: dict[str, Any] = {"headless": True, "args": args}
    if found := shutil.which("chromium") or shutil.which("chromium-browser"):
        options["executable_path"] = found
    return options


def render_meta(site: SiteConfig) -> dict[str, Any]:
    """Return the request meta for a page of the site."""
    if site.render == "never":
        return {}
    meta: dict[str, Any] = {"playwright": True}
    if site.wait_for:
        from scrapy_playwright.page import PageMethod

        meta["playwright_page_methods"] = [
            PageMethod("wait_for_selector", site.wait_for, timeout=WAIT_MS)
        ]
    return meta
