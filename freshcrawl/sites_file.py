"""The file that lists the sites, ``sites.toml``; every mistake is said with its line."""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from freshcrawl.config import Config, ConfigError
from freshcrawl.site_tables import check_policies, make_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from freshcrawl.sites import SiteConfig


UNREADABLE = (tomllib.TOMLDecodeError, ValueError, RecursionError)
"""What the parser raises; a number of thousands of digits is a ValueError."""


def load_sites(config: Config) -> dict[str, SiteConfig]:
    """Return the sites of ``sites.toml`` by name; none if there is no such file.

    Raises:
        ConfigError: the file cannot be read or holds something that cannot be used.
    """
    path = config.sites_path()
    if path is None:
        return {}
    text = _read(path)
    try:
        data = tomllib.loads(text)
    except UNREADABLE as error:
        what = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise ConfigError(f"{path}: not valid TOML: {what}") from None
    if unknown := sorted(set(data) - {"sites"}):
        place = _place(path, text, (unknown[0],))
        raise ConfigError(f"{place} unknown key {unknown[0]!r}; sites are tables [sites.NAME]")
    tables = data.get("sites", {})
    if not isinstance(tables, dict):
        raise ConfigError(f"{_place(path, text, ('sites',))} sites are tables [sites.NAME]")
    sites = {name: _from_table(config, path, text, name, tables[name]) for name in tables}
    for name, twin in _twins(sites):
        place = _table_place(path, text, twin, "")
        raise ConfigError(f"{place}: the same pages as [sites.{name}]: leave one of them out")
    return sites


def _twins(sites: dict[str, SiteConfig]) -> Iterator[tuple[str, str]]:
    """Yield the names of sites with the same pages, the earlier one first."""
    seen: dict[Any, str] = {}
    for name, site in sites.items():
        pages = (site.scope.host, site.scope.prefix, site.allow, site.deny, site.urls)
        if pages in seen:
            yield seen[pages], name
        seen.setdefault(pages, name)


def place_of(config: Config, name: str) -> Callable[[str], str]:
    """Return what gives the words for where a key of a site was given."""
    path = config.sites_path()
    if path is None:
        return lambda key: f"site {name}"
    text = _read(path)
    return lambda key: _table_place(path, text, name, key)


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """Return the line, from 1, of valid TOML on which what ``keys`` lead to is given first.

    0 if it is not there in plain spelling. No parser of our own: the statement
    is on the last line with that name before which a whole document ends that
    does not hold the keys.
    """
    text = text.replace("\r\n", "\n")
    if not _holds(_parsed(text), keys):
        return 0
    lines = text.split("\n")
    named = [number for number, line in enumerate(lines) if keys[-1] in line]

    def whole_at(index: int) -> int:
        """Return ``index``, or the one before it that is not inside of a value; -1 for none."""
        while index >= 0 and _parsed("\n".join(lines[: named[index]])) is None:
            index -= 1
        return index

    def given_before(index: int) -> bool:
        index = whole_at(index)
        return index >= 0 and _holds(_parsed("\n".join(lines[: named[index]])), keys)

    found = whole_at(bisect_left(range(len(named)), True, key=given_before) - 1)
    return named[found] + 1 if found >= 0 else 0


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except UNREADABLE:
        return None


def _holds(data: Any, keys: tuple[str, ...]) -> bool:
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")  # some editors put a byte order mark before it
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def _place(path: Path, text: str, keys: tuple[str, ...]) -> str:
    line = line_of(text, keys)
    return f"{path}:{line}:" if line else f"{path}:"


def _table_place(path: Path, text: str, name: str, key: str) -> str:
    keys = ("sites", name, key) if key else ("sites", name)
    return f"{_place(path, text, keys)} [sites.{name}]"


def _from_table(config: Config, path: Path, text: str, name: str, table: Any) -> SiteConfig:
    def place(key: str) -> str:
        return _table_place(path, text, name, key)

    if not isinstance(table, dict):
        raise ConfigError(f"{place('')}: expected a table")
    if "name" in table:
        raise ConfigError(f"{place('name')}: unknown key 'name': the name is that of the table")
    if not name.replace("-", "").replace(".", "").replace("_", "").isalnum() or name[0] == ".":
        raise ConfigError(f"{place('')}: a name has letters, digits, '.', '-' and '_' only")
    site = make_site({**table, "name": name}, place)
    check_policies(config, site, place)
    return site
