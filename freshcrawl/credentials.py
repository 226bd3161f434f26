"""Request headers and credentials of a site: secrets come from the environment, not the state."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, urlsplit

from scrapy.exceptions import NotConfigured
from w3lib.http import basic_auth_header

from freshcrawl.config import ConfigError
from freshcrawl.core.hosts import origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Request

    from freshcrawl.sites import SiteConfig

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of RFC 9110, 5.6.2."""
SECRET_NAME = re.compile(
    r"access|auth|bearer|cookie|credential|csrf|jwt|key|pass|pwd|secret|session|signature"
    r"|\bsign(?!al)|token|xsrf",
    re.IGNORECASE,
)
"""Headers that may be secret by their name."""
SECRET_PARAMETERS = frozenset(
    {"apikey", "auth", "authorization", "credential", "credentials", "jwt", "key", "pass"}
    | {"passwd", "password", "pwd", "secret", "session", "sessionid", "sig", "signature", "token"}
    | {"accesstoken", "authtoken"}
)
"""Words that a query parameter which may be secret has in its name."""
SCHEMES = "apikey|basic|bearer|bot|digest|geniekey|jwt|key|negotiate|oauth|ssws|token"
_PART = rf'(?:[\w.-]+=)?"?{VARIABLE.pattern}"?'
SECRET_VALUE = re.compile(
    rf"(?:(?:{SCHEMES}) +)?{_PART}(?:[;,:.]? *{_PART})*", re.IGNORECASE | re.ASCII
)
"""What may be written of a secret: a scheme, names before ``=``, and variables."""
OURS = frozenset(
    {"if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"}
    | {"host", "content-length", "connection", "transfer-encoding", "accept-encoding"}
)
"""Headers that the conditional requests and the protocol need for themselves."""


def check_header(name: str, value: str) -> None:
    """Refuse what is no header, what freshcrawl sets itself, and secrets written out.

    Raises:
        ConfigError: see the message; it does not show the value.
    """
    if not HEADER_NAME.fullmatch(name):
        raise ConfigError(f"headers: {name!r} is not the name of a header")
    if name.lower() in OURS:
        raise ConfigError(f"headers: {name} is set by freshcrawl itself")
    if not value.isprintable() or not value.isascii():
        raise ConfigError(f"headers: the value of {name} must be one line of ASCII text")
    if SECRET_NAME.search(name) and not SECRET_VALUE.fullmatch(value):
        raise ConfigError(
            f"headers: {name} may be secret, and what is written here would be stored: "
            'expected an environment variable, such as "${DOCS_TOKEN}" or "Bearer ${DOCS_TOKEN}"'
        )


def check_password(value: str) -> None:
    """Refuse a password that is written out.

    Raises:
        ConfigError: see the message; it does not show the value.
    """
    if value and not VARIABLE.fullmatch(value):
        raise ConfigError(
            "http_pass: what is written here would be stored: "
            'expected an environment variable, such as "${DOCS_PASS}"'
        )


def check_query(url: str) -> None:
    """Refuse a URL with a secret in its query.

    Raises:
        ConfigError: see the message; it does not show the value.
    """
    for name, _ in parse_qsl(urlsplit(url).query):
        spaced = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
        if not SECRET_PARAMETERS.isdisjoint(re.split("[^a-z]+", spaced)):
            raise ConfigError(
                f"the parameter {name!r} of the URL may be secret, and what is written here would "
                "be stored: send it as a header from an environment variable (docs/sites.md), if "
                "the site takes it there"
            )


def variable_problems(site: SiteConfig) -> Iterator[tuple[str, str]]:
    """Yield pairs (key of the site, problem) of what the environment lacks; no value is shown."""
    given = {"http_user": site.http_user, "http_pass": site.http_pass}
    for key, text in [*(("headers", value) for value in site.headers.values()), *given.items()]:
        for name in VARIABLE.findall(text):
            if not (value := _variable(name)):
                yield key, f"the environment variable {name} is not set"
            elif not value.isprintable():
                yield key, f"the environment variable {name} is not one line of text in UTF-8"


def _variable(name: str) -> str:
    """Return an environment variable without the line end that a file of a secret has."""
    return os.environ.get(name, "").rstrip("\r\n")


def expanded(text: str) -> str:
    """Return ``text`` with its ``${NAME}`` replaced.

    Raises:
        ConfigError: the environment does not have one.
    """

    def value(match: re.Match[str]) -> str:
        found = _variable(match[1])
        if not found:
            raise ConfigError(f"the environment variable {match[1]} is not set")
        return found

    return VARIABLE.sub(value, text)


def site_headers(site: SiteConfig) -> dict[str, str]:
    """Return the headers of a site's requests, with secrets.

    Raises:
        ConfigError: an environment variable is not set.
    """
    headers = {name: expanded(value) for name, value in site.headers.items()}
    if site.http_user:
        user, password = expanded(site.http_user), expanded(site.http_pass)
        headers["Authorization"] = basic_auth_header(user, password, "utf-8").decode("ascii")
    return headers


def browser_credentials(site: SiteConfig) -> dict[str, Any]:
    """Return the options of a browser context that make it log in, at the site's origin only."""
    if not site.http_user:
        return {}
    return {
        "http_credentials": {
            "username": expanded(site.http_user),
            "password": expanded(site.http_pass),
            "origin": origin(site.scope.root),
        }
    }


class SiteHeadersMiddleware:
    """Puts a site's headers on requests to the origin of its root, and on no others."""

    def __init__(self, site: SiteConfig) -> None:
        self._origin = origin(site.scope.root)
        self._headers = site_headers(site)
        if not self._headers:
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware.

        Raises:
            NotConfigured: the spider has no site, or the site no headers.
            ConfigError: an environment variable is not set.
        """
        spider = crawler.spider
        site = getattr(spider, "site", None) or getattr(spider, "target", None)
        if site is None:
            raise NotConfigured
        return cls(site)

    def process_request(self, request: Request) -> None:
        """Set the headers; take them off a request that a redirect leads elsewhere."""
        for name in self._headers:
            request.headers.pop(name, None)
        if self._is_own(request.url):
            for name, value in self._headers.items():
                # A browser would send it to whatever host it is sent to; it logs in by itself.
                if not (request.meta.get("playwright") and name == "Authorization"):
                    request.headers[name] = value

    def _is_own(self, url: str) -> bool:
        """Tell a request to the site's own scheme, host and port."""
        try:
            return origin(url) == self._origin
        except ValueError:
            return False
