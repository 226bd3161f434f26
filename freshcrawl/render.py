"""Which pages need a browser, and how scrapy-playwright is set up for them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from freshcrawl.credentials import browser_credentials

if TYPE_CHECKING:
    from playwright.async_api import Page
    from scrapy.http import Response

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
STATUS = "() => performance.getEntriesByType('navigation')[0].responseStatus"
"""Script that gives the HTTP status of the page that is shown."""


def playwright_settings(site: SiteConfig) -> dict[str, Any]:
    """Return the Scrapy settings that a site with rendered pages needs; empty for others."""
    if site.render == "never":
        return {}
    return {
        "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
        "PLAYWRIGHT_BROWSER_TYPE": "chromium",
        "PLAYWRIGHT_CONTEXTS": {"default": browser_credentials(site)},
        "PLAYWRIGHT_LAUNCH_OPTIONS": launch_options(),
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 4,
    }


def launch_options() -> dict[str, Any]:
    """Return how Chromium is started: the system's own where there is one."""
    args = list(CHROMIUM_ARGS)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        args.append("--no-sandbox")  # Chromium refuses to run as root with its sandbox
    options: dict[str, Any] = {"headless": True, "args": args}
    # Ctrl-C reaches all processes of a terminal: the pages under way are to be finished.
    options["handle_sigint"] = False
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

        meta["playwright_page_methods"] = [PageMethod(shows, site.wait_for)]
    return meta


async def shows(page: Page, selector: str) -> bool:
    """Wait until a page shows what a selector names; False if it does not, or is an error page.

    A time-out raised here would hide the status: a 404 would count as a failure for ever.
    """
    from playwright.async_api import TimeoutError as NotShownError

    if await page.evaluate(STATUS) >= 400:
        return False
    try:
        await page.wait_for_selector(selector, timeout=WAIT_MS)
    except NotShownError:
        return False
    return True


def problem_of(response: Response) -> str:
    """Return why a rendered 200 is not the page, empty if it is."""
    methods = response.meta.get("playwright_page_methods") or []
    if response.status == 200 and not all(method.result for method in methods):
        return f"does not show {methods[0].args[0]!r}"
    return ""


def landed(response: Response) -> tuple[str, bool] | None:
    """Return where the browser ended, and whether for good; None for a page without one.

    The browser follows redirects by itself, those of HTTP and those of scripts.
    """
    if not response.meta.get("playwright"):
        return None
    statuses = response.meta.get("redirect_reasons") or [301]
    return response.url, all(status in {301, 308} for status in statuses)
