"""``scrapy doctor``: what one check says, and what several of them add up to."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from freshcrawl.config import ConfigError
from freshcrawl.core.words import count
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CONFIGURATION = frozenset({"settings", "sites.toml"})
"""Names of the checks without which nothing can run."""


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. ``site`` is empty for the machine."""

    name: str
    level: Level
    what: str
    """One line: what was found."""
    advice: str = ""
    """One line: what to do about it, or nothing."""
    site: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the check as ``--json`` shows it."""
        data = asdict(self)
        return {name: data[name] for name in ("name", "site", "level", "what", "advice")}

    def lines(self) -> list[str]:
        """Return the check for reading: one line, and the advice below it."""
        site = f"{self.site}: " if self.site else ""
        lines = [f"{self.level:<4} {self.name:<11} {site}{self.what}"]
        return [*lines, f"{'':<17}{self.advice}"] if self.advice else lines


def ok(name: str, what: str, advice: str = "") -> Check:
    """Return a check that found nothing wrong."""
    return Check(name, Level.OK, what, advice)


def warn(name: str, what: str, advice: str) -> Check:
    """Return a check that found something that works, but not as well as it could."""
    return Check(name, Level.WARN, what, advice)


def fail(name: str, what: str, advice: str) -> Check:
    """Return a check that found something that does not work."""
    return Check(name, Level.FAIL, what, advice)


def of_site(site: str, checks: Iterable[Check]) -> list[Check]:
    """Return the checks as those of a site."""
    return [replace(check, site=site) for check in checks]


def attempt(name: str, work: Callable[[], Iterable[Check]]) -> list[Check]:
    """Return the checks that ``work`` gives; what it raises is a failed check."""
    try:
        return list(work())
    except ConfigError as error:
        return [fail("settings", one_line(error), "see docs/settings.md")]
    except (StoreError, OSError) as error:
        return [fail(name, one_line(error), "")]
    except Exception as error:
        what = f"cannot be checked ({type(error).__name__}: {one_line(error)})"
        return [fail(name, what, "this is not expected: please report it")]


def one_line(error: BaseException) -> str:
    """Return the first line of an error, or its name if it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def exit_code(checks: Iterable[Check]) -> int:
    """Return 2 if the configuration cannot be used, 1 if anything else failed, else 0."""
    failed = {check.name for check in checks if check.level == Level.FAIL}
    if failed & CONFIGURATION:
        return 2
    return 1 if failed else 0


def conclusion(checks: Iterable[Check]) -> str:
    """Return the last line: how many problems there are."""
    levels = Counter(check.level for check in checks)
    failed = [f"{levels[Level.FAIL]} failed"] if levels[Level.FAIL] else []
    warned = [count(levels[Level.WARN], "warning")] if levels[Level.WARN] else []
    return f"{count(levels.total(), 'check')}: {', '.join(failed + warned) or 'no problem'}"
