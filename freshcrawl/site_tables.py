"""Sites from tables of values: each mistake is one line that names key, place and expectation."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cssselect import HTMLTranslator, SelectorError

from freshcrawl.config import PREFIX, Config, ConfigError, converted, wanted_of
from freshcrawl.core.scope import slug
from freshcrawl.core.urls import normalize_url
from freshcrawl.credentials import check_header, check_password, check_query
from freshcrawl.site_checks import contradictions
from freshcrawl.sites import POLICIES, SiteConfig, default_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import Field

    Place = Callable[[str], str]

CHOICES = {
    "discovery": ("auto", "sitemap", "links", "list"),
    "render": ("never", "always"),
    "absent": ("keep", "hide", "delete"),
    "gone": ("delete", "hide", "keep"),
    "moved": ("follow", "keep"),
    "noindex": ("hide", "keep"),
    "not_found": ("hide", "delete", "keep"),
    "off_site": ("hide", "keep"),
    "out_of_scope": ("hide", "keep"),
    "robots": ("keep", "hide"),
    "to_home": ("hide", "keep"),
}
SELECTORS = frozenset({"drop", "keep"})
PATTERNS = frozenset({"allow", "deny", "expected_heading", "volatile_patterns"})
URLS = frozenset({"root", "sitemaps", "url", "urls"})
MAX_SHOWN = 100
SECRET = frozenset({"headers", "http_pass", "http_user"})
_FIELDS: dict[str, Field[Any]] = {f.name: f for f in fields(SiteConfig) if f.name != "policies"}
_NUMBERS: dict[str, Field[Any]] = {f.name: f for f in fields(Config) if f.name in POLICIES}
KEYS = tuple(sorted({*_FIELDS, *_NUMBERS} - {"name"}))
"""What a table may hold."""


def make_site(table: Mapping[str, Any], where: str | Place) -> SiteConfig:
    """Build a site from a table of values.

    Args:
        table: names and values as in ``sites.toml``, with ``name`` (else made from the URL).
        where: words for error messages, or what gives them for a key of the table.

    Raises:
        ConfigError: a name is unknown, missing or has a value that cannot be used, or two
            values contradict each other.
    """
    place: Place = where if callable(where) else lambda key: where
    values: dict[str, Any] = {}
    policies: dict[str, float] = {}
    for key, value in table.items():
        try:
            if key in _NUMBERS:
                policies[key] = _number(key, value)
            elif key in _FIELDS:
                values[key] = _value(key, value)
            else:
                raise ConfigError(_unknown(key))
        except ConfigError as error:
            raise ConfigError(f"{place(key)}: {error}") from None
    _complete(values, place)
    site = SiteConfig(**values, policies=policies)
    for key, problem in contradictions(site, table):
        raise ConfigError(f"{place(key)}: {problem}")
    return site


def check_policies(config: Config, site: SiteConfig, place: Place) -> None:
    """Refuse settings of a site that contradict each other, or those of the project.

    Raises:
        ConfigError: see the message; it names the keys, and the line of one that is given.
    """
    wanted = replace(config, **site.policies)  # type: ignore[arg-type]
    names = wanted.out_of_order()
    if not names:
        return
    shown = [
        f"{name} ({getattr(wanted, name):.12g}"
        + (")" if name in site.policies else f", from {PREFIX}{name.upper()})")
        for name in names
    ]
    problem = " must not be longer than ".join(shown) if shown[1:] else f"{shown[0]} must not be 0"
    key = next((name for name in names if name in site.policies), "")
    raise ConfigError(f"{place(key)}: {problem}")


def checked_url(url: str) -> str:
    """Return ``url`` made fetchable.

    Raises:
        ConfigError: it is not an http or https URL with a host, or holds a password.
    """
    try:
        slug(url)
        fetchable = normalize_url(url)
    except ValueError as error:  # it names the URL, without a password
        like = "expected something like https://docs.example.com/"
        if "://" not in url and re.match(r"[\w.-]+\.[a-z]+(:\d+)?(/|$)|localhost|[\d.]+:", url):
            like = f"did you mean https://{url} or http://{url}?"
        raise ConfigError(f"cannot be crawled ({error}): {like}") from None
    if urlsplit(url.strip()).username is not None:
        raise ConfigError(
            "a URL must not hold a user name or password, as it is stored: "
            "use http_user and http_pass of sites.toml"
        )
    check_query(url)
    return fetchable


def _unknown(key: str) -> str:
    plain = key.lower().removeprefix(PREFIX.lower())
    near = [known for known in KEYS if known.startswith(plain)] if plain else []
    near = near or get_close_matches(plain, KEYS, 1)
    meant = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(KEYS)}"
    return f"unknown key {key!r}{meant}"


def _complete(values: dict[str, Any], place: Place) -> None:
    """Fill in what other values tell: list discovery and the root of approved pages, the name.

    Raises:
        ConfigError: there is no ``url``, or the approved pages have no common folder.
    """
    urls = values.get("urls", ())
    if urls:
        values.setdefault("discovery", "list")
    if "url" not in values and urls:
        values["url"] = values.get("root") or _common_folder(urls, place)
    if "url" not in values:
        raise ConfigError(f"{place('')}: key 'url' is missing: give the root of the site")
    values.setdefault("name", slug(values["url"]))


def _common_folder(urls: tuple[str, ...], place: Place) -> str:
    parts = [urlsplit(url) for url in urls]
    if len({part.netloc for part in parts}) > 1:
        raise ConfigError(
            f"{place('urls')}: urls are of several hosts: a site has one "
            "(with subdomains = true give url, the common root)"
        )
    folders = [part.path.split("/")[:-1] for part in parts]
    common: list[str] = []
    for names in zip(*folders, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    return f"{parts[0].scheme}://{parts[0].netloc}{'/'.join(common)}/"


def _number(key: str, value: Any) -> float:
    if isinstance(value, str):  # a number in quotes would do for the command line only
        raise ConfigError(f"{key} = {value!r}: expected a number, without quotes")
    number: float = converted(key, type(_NUMBERS[key].default), value)
    if wanted := wanted_of(key, number):
        raise ConfigError(f"{key} = {value!r}: expected {wanted}")
    return number


def _shown(key: str, value: Any) -> str:
    """Return a key with its value; without it where that may be a secret."""
    return key if key in SECRET or key in URLS else f"{key} = {value!r}"


def _value(key: str, value: Any) -> Any:
    default = default_of(_FIELDS[key])
    if key in CHOICES and value not in CHOICES[key]:
        raise ConfigError(f"{key} = {value!r}: expected {', '.join(CHOICES[key])}")
    if isinstance(default, dict):
        return _headers(key, value)
    if isinstance(default, tuple):
        return _list(key, value)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ConfigError(f"{key} = {value!r}: expected true or false")
        return value
    if not isinstance(value, str) or (default is MISSING and not value):
        raise ConfigError(f"{_shown(key, value)}: expected a string")
    if key in URLS and value:
        return _named(key, checked_url, value)
    if key in PATTERNS and value:
        return _named(key, _pattern, value)
    if key == "http_pass":
        check_password(value)
    return value


def _list(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        raise ConfigError(f"{_shown(key, value)}: expected a list of strings")
    check: Callable[[str], str]
    if key in SELECTORS:
        check = _selector
    elif key in PATTERNS:
        check = _pattern
    elif key in URLS:
        check = checked_url
    else:
        return tuple(value)
    return tuple(_named(key, check, text) for text in value)


def _named(key: str, check: Callable[[str], str], text: str) -> str:
    try:
        return check(text)
    except ConfigError as error:
        raise ConfigError(f"{key}: {error}") from None


def _headers(key: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ConfigError(f'{key}: expected a table of strings, such as {{ A = "b" }}')
    for name, text in value.items():
        if not isinstance(text, str):
            raise ConfigError(f"{key}: the value of {name} must be a string, in quotes")
        check_header(name, text)
    return dict(value)


def _selector(selector: str) -> str:
    try:
        HTMLTranslator().css_to_xpath(selector)
    except SelectorError as error:
        raise ConfigError(f"{selector!r} is not a CSS selector ({error})") from None
    return selector


def _pattern(pattern: str) -> str:
    try:
        matches_nothing = re.compile(pattern).fullmatch("") is not None
    except (re.error, OverflowError, RecursionError) as error:
        shown = repr(pattern[:MAX_SHOWN])
        raise ConfigError(f"{shown} is not a regular expression ({error})") from None
    if matches_nothing:
        raise ConfigError(f"{pattern!r} matches everywhere, as it matches the empty text")
    return pattern
