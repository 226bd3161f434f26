"""Scrapy settings of the project: what an operator edits. FRESHCRAWL_* defaults: ``config.py``."""

from __future__ import annotations

from freshcrawl import __version__

BOT_NAME = "freshcrawl"
SPIDER_MODULES = ["freshcrawl.spiders"]
NEWSPIDER_MODULE = "freshcrawl.spiders"
COMMANDS_MODULE = "freshcrawl.commands"
ADDONS = {"freshcrawl.addon.FreshcrawlAddon": 500}

# Politeness. FRESHCRAWL_CONTACT (setting or environment) puts your address into the user agent.
USER_AGENT = f"freshcrawl/{__version__} (documentation index refresher)"
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "freshcrawl"
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.25
AUTOTHROTTLE_TARGET_CONCURRENCY = 2.0
CONCURRENT_REQUESTS_PER_DOMAIN = 4
DOWNLOAD_DELAY = 0.1
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_MAXSIZE = 64 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
RETRY_TIMES = 2

# Safe switches. JOBDIR must stay unset: its list of seen requests would hide every page of the
# next run; freshcrawl resumes from its own state.
COOKIES_ENABLED = False
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
DOWNLOAD_VERIFY_CERTIFICATES = True
HTTPCACHE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False
FEED_EXPORT_ENCODING = "utf-8"
LOG_LEVEL = "INFO"
