"""What the commands share: exit codes, settings, clean output."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from scrapy.exceptions import UsageError

from freshcrawl.config import Config, ConfigError
from freshcrawl.sites_file import load_sites
from freshcrawl.state import SiteState, open_for_reading, open_for_writing, site_names
from freshcrawl.stored_sites import stored_site
from freshcrawl.stores.advice import in_one_line
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import LockedError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.settings import BaseSettings

    from freshcrawl.sites import SiteConfig

OK, ERROR, USAGE, HELD, INCOMPLETE, LOCKED = range(6)
INTERRUPTED = 130
"""What a shell reports for a command that Ctrl-C ended."""
SERIOUSNESS = (ERROR, USAGE, LOCKED, HELD, INCOMPLETE, OK)
QUIET: dict[str, Any] = {"LOG_ENABLED": False}
"""``default_settings`` of commands that only read: stdout and stderr stay clean."""


def plain_errors(parser: argparse.ArgumentParser) -> None:
    """Make wrong usage one line on stderr, without the page of help that Scrapy puts before it."""

    def error(message: str) -> NoReturn:
        print(f"freshcrawl: {message}", file=sys.stderr)
        sys.exit(USAGE)

    parser.error = error  # type: ignore[method-assign]


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--site`` and ``--json``; errors are one line."""
    plain_errors(parser)
    parser.add_argument("--site", metavar="NAME", default="", help="only this site")
    parser.add_argument("--json", action="store_true", help="print JSON")


def refuse_options(args: list[str], *, words: bool = True) -> None:
    """Refuse what the option parser left over: mistyped options, and words where none belong.

    Raises:
        UsageError: there is something.
    """
    for arg in args:
        if arg.startswith("-") or not words:
            raise UsageError(f"unknown argument {arg!r}: --help lists what there is")


def guarded(work: Callable[[], int]) -> int:
    """Run a command's work; return its exit code, with errors as one line on stderr.

    Raises:
        UsageError: a setting or argument cannot be used (exit code 2).
    """
    _show_warnings()
    try:
        return work()
    except ConfigError as error:
        raise UsageError(str(error)) from None
    except BrokenPipeError:
        # The reader (head, less) has seen enough; Python must not complain while it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except (StoreError, OSError, MemoryError, sqlite3.DatabaseError) as error:
        return report_error(error)


def _show_warnings() -> None:
    """Give warnings the form of errors where Scrapy's log is off: one line each on stderr."""
    log = logging.getLogger("freshcrawl")
    if not log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("freshcrawl: %(message)s"))
        log.addHandler(handler)


def worst(codes: Iterable[int]) -> int:
    """Return the most serious of several exit codes; OK for none."""
    return min(codes, key=SERIOUSNESS.index, default=OK)


def report_error(error: BaseException) -> int:
    """Print an error as one line; return its exit code."""
    print(f"freshcrawl: {in_one_line(error)}", file=sys.stderr)
    if isinstance(error, ConfigError):
        return USAGE
    return LOCKED if isinstance(error, LockedError) else ERROR


def leave(code: int) -> NoReturn:
    """End the process now, without a wait for threads that are still at work."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def config_of(settings: BaseSettings | None) -> Config:
    """Return the configuration of a command.

    Raises:
        ConfigError: a setting cannot be used.
    """
    if settings is None:
        raise ConfigError("no settings: run inside a Scrapy project")
    return Config.from_settings(settings)


def chosen_sites(config: Config, site: str) -> list[str]:
    """Return the names of the sites a command is about: the one named, else all with state."""
    return [site] if site else site_names(config)


def opened_states(
    config: Config, site: str, failed: list[int]
) -> Iterator[tuple[SiteState, Config]]:
    """Yield each chosen site, open for reading, with its settings; whoever takes it closes it.

    The settings are those of its table in ``sites.toml``, else of its last run. A site that
    cannot be used is no reason to leave out the others: it is one line on stderr, and its exit
    code is added to ``failed``.

    Raises:
        StoreError: the only site that is named has no state or cannot be used.
        ConfigError: ``sites.toml`` cannot be used.
    """
    listed = load_sites(config)
    for name in chosen_sites(config, site):
        try:
            state = open_for_reading(config, name)
            try:
                own = listed.get(name) or stored_site(config, state)
            except BaseException:
                state.close()
                raise
        except (StoreError, sqlite3.DatabaseError) as error:
            if site:
                raise
            failed.append(report_error(error))
        else:
            yield state, config.for_site(own.policies) if own else config


def each_state(
    config: Config, site: str, work: Callable[[SiteState, Config], Any]
) -> tuple[list[Any], int]:
    """Return what ``work`` gives for each chosen site, and the exit code of those that failed.

    ``work`` is called with the site's state, opened for reading, and its settings.

    Raises:
        StoreError: the only site that is named has no state or cannot be used.
        ConfigError: ``sites.toml`` cannot be used.
    """
    results, failed = [], list[int]()
    for state, own in opened_states(config, site, failed):
        try:
            results.append(work(state, own))
        except (StoreError, sqlite3.DatabaseError) as error:
            if site:
                raise
            failed.append(report_error(error))
        finally:
            state.close()
    return results, worst(failed)


def one_site(config: Config, site: str) -> str:
    """Return the site that a command which writes is about: the one named, or the only one.

    Raises:
        ConfigError: there are several.
        StoreError: there is none.
    """
    names = chosen_sites(config, site)
    if not names:
        raise StoreError(f"no site yet in {config.state_path()}")
    if len(names) > 1:
        raise ConfigError(f"there are several sites: name one with --site ({', '.join(names)})")
    return names[0]


def with_writer(
    config: Config, name: str, command: str, now: float, work: Callable[[SiteState, Config], Any]
) -> Any:
    """Return what ``work`` gives for a known site, opened as its only writer, and its settings.

    Raises:
        LockedError: another process writes to it.
        StoreError: it has no state, or that cannot be used.
        ConfigError: ``sites.toml`` cannot be used.
    """
    open_for_reading(config, name).close()  # a name that is not known must not make a folder
    state = open_for_writing(config, name, command, now)
    try:
        site = load_sites(config).get(name) or stored_site(config, state)
        return work(state, config.for_site(site.policies) if site else config)
    finally:
        state.close()


def unknown_page(url: str, code: int) -> int:
    """Say that no site knows a page, unless a site could not be asked; return the exit code."""
    if code == OK:
        print(
            f"freshcrawl: {url} is not known to any site; scrapy explain tells why", file=sys.stderr
        )
        return ERROR
    return code


def never_crawled(config: Config, site: str) -> list[SiteConfig]:
    """Return the sites of ``sites.toml`` without state, among those a command is about.

    Raises:
        ConfigError: the file cannot be used.
    """
    known = set(site_names(config))
    sites = load_sites(config).values()
    return [s for s in sites if s.name not in known and site in {"", s.name}]


def print_json(data: Any) -> None:
    """Print JSON on stdout."""
    print(json.dumps(data, ensure_ascii=False, indent=2))
