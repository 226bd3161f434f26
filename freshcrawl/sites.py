"""Sites: one documentation source each, from ``sites.toml``, the command line or the state."""

from __future__ import annotations

import tomllib
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cssselect import HTMLTranslator, SelectorError

from freshcrawl.config import Config, ConfigError
from freshcrawl.core.urls import Scope, UrlRules, normalize_url, slug

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CHOICES = {
    "discovery": ("auto", "sitemap", "links"),
    "render": ("never", "always"),
    "absent": ("keep", "hide", "delete"),
    "noindex": ("hide", "keep"),
    "robots": ("keep", "hide"),
}
SELECTORS = frozenset({"drop", "keep"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteConfig:
    """One site and its policies; a table ``[sites.NAME]`` of ``sites.toml``."""

    name: str
    url: str
    """Root of the site, a page of it, or its sitemap."""
    absent: str = "keep"
    """What becomes of a page that answers but is listed nowhere: keep, hide or delete."""
    discovery: str = "auto"
    """Where pages are found: auto (sitemap, else links), sitemap or links."""
    drop: tuple[str, ...] = ()
    """CSS selectors of parts that are not content."""
    drop_params: tuple[str, ...] = ()
    """Query parameters that do not make another page."""
    keep: tuple[str, ...] = ()
    """CSS selectors of the main content, instead of those known for the generator."""
    keep_params: tuple[str, ...] = ()
    """Query parameters that make another page although they look like tracking."""
    noindex: str = "hide"
    """What becomes of pages marked noindex: hide or keep."""
    render: str = "never"
    """Which pages are rendered in a browser: never or always."""
    robots: str = "keep"
    """What becomes of a known page that robots.txt starts to disallow: keep or hide."""
    sitemaps: tuple[str, ...] = ()
    """Sitemap URLs, instead of those that robots.txt names and the usual places."""
    subdomains: bool = False
    """Whether subdomains of the host belong to the site."""
    wait_for: str = ""
    """CSS selector that a rendered page must show before it is read."""
    scope: Scope = field(init=False)
    rules: UrlRules = field(init=False)

    def __post_init__(self) -> None:
        """Derive scope and URL rules."""
        scope = Scope.from_url(self.url)
        if self.subdomains:
            scope = Scope.from_url(self.url, subdomains=True)
        object.__setattr__(self, "scope", scope)
        rules = UrlRules(keep_params=self.keep_params, drop_params=self.drop_params)
        object.__setattr__(self, "rules", rules)

    def to_json(self) -> dict[str, Any]:
        """Return what makes this site again, without values at their default."""
        return {
            f.name: list(value) if isinstance(value, tuple) else value
            for f in fields(self)
            if f.init and (value := getattr(self, f.name)) != f.default
        }


def make_site(table: Mapping[str, Any], where: str) -> SiteConfig:
    """Build a site from a table of values.

    Args:
        table: names and values as in ``sites.toml``, with ``name``.
        where: words for error messages, such as ``sites.toml [sites.mako]``.

    Raises:
        ConfigError: a name is unknown, missing or has a value that cannot be used.
    """
    known = {f.name: f for f in fields(SiteConfig) if f.init}
    for name in table:
        if name not in known:
            raise ConfigError(f"{where}: unknown key {name!r}; known: {', '.join(sorted(known))}")
    values = {name: _checked(where, name, table[name], known[name].default) for name in table}
    if "url" not in values:
        raise ConfigError(f"{where}: key 'url' is missing: give the root of the site")
    values["url"] = checked_url(values["url"], where)
    values["sitemaps"] = tuple(
        checked_url(url, f"{where}: sitemaps") for url in values.get("sitemaps", ())
    )
    values.setdefault("name", slug(values["url"]))
    return SiteConfig(**values)


def checked_url(url: str, where: str) -> str:
    """Return ``url`` made fetchable.

    Raises:
        ConfigError: it is not an http or https URL with a host, or holds a password.
    """
    try:
        slug(url)
        fetchable = normalize_url(url)
    except ValueError as error:  # it names the URL, without a password
        raise ConfigError(
            f"{where}: cannot be crawled ({error}); expected something like "
            "https://docs.example.com/"
        ) from None
    if urlsplit(url.strip()).username is not None:
        raise ConfigError(f"{where}: a URL must not hold a user name or password: it is stored")
    return fetchable


def load_sites(config: Config) -> dict[str, SiteConfig]:
    """Return the sites of ``sites.toml`` by name; none if there is no such file.

    Raises:
        ConfigError: the file cannot be read or holds something that cannot be used.
    """
    path = config.sites_path()
    if path is None:
        return {}
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    if unknown := sorted(set(data) - {"sites"}):
        raise ConfigError(f"{path}: unknown key {unknown[0]!r}; sites are tables [sites.NAME]")
    tables = data.get("sites", {})
    if not isinstance(tables, dict):
        raise ConfigError(f"{path}: sites are tables [sites.NAME]")
    return {name: _from_table(path, name, table) for name, table in tables.items()}


def _from_table(path: Path, name: str, table: Any) -> SiteConfig:
    where = f"{path.name} [sites.{name}]"
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: expected a table")
    if "name" in table:
        raise ConfigError(f"{where}: unknown key 'name': the name is that of the table")
    if not name.replace("-", "").replace(".", "").replace("_", "").isalnum() or name[0] == ".":
        raise ConfigError(f"{where}: a name has letters, digits, '.', '-' and '_' only")
    return make_site({**table, "name": name}, where)


def _checked(where: str, name: str, value: Any, default: Any) -> Any:
    if name in CHOICES and value not in CHOICES[name]:
        raise ConfigError(f"{where}: {name} = {value!r}: expected {', '.join(CHOICES[name])}")
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise ConfigError(f"{where}: {name} = {value!r}: expected a list of strings")
        for selector in value if name in SELECTORS else ():
            _check_selector(f"{where}: {name}", selector)
        return tuple(value)
    kind = bool if isinstance(default, bool) else str
    if not isinstance(value, kind) or (default is MISSING and not value):
        expected = "true or false" if kind is bool else "a string"
        raise ConfigError(f"{where}: {name} = {value!r}: expected {expected}")
    return value


def _check_selector(where: str, selector: str) -> None:
    try:
        HTMLTranslator().css_to_xpath(selector)
    except SelectorError as error:
        raise ConfigError(f"{where}: {selector!r} is not a CSS selector ({error})") from None
