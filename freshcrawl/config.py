"""Every ``FRESHCRAWL_*`` setting: name, type, default, unit and check. Defaults live only here."""

from __future__ import annotations

import math
import os
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.conf import closest_scrapy_cfg

from freshcrawl.embedding_config import EMBED_AT_LEAST_ONE, ENVIRONMENT_ONLY, EmbeddingConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

PREFIX = "FRESHCRAWL_"
DAY = 86_400.0
INTERVALS = ("min_interval_secs", "start_interval_secs", "max_interval_secs")
AT_LEAST_ONE = (
    *EMBED_AT_LEAST_ONE,
    *("commit_every", "generations_kept", "guard_confirm_runs", "max_age_secs"),
    *("missing_runs", "versions_kept", "webhook_attempts", "webhook_batch"),
)
AT_MOST_ONE = ("guard_changed_ratio", "guard_failed_ratio", "guard_removed_ratio")
SHARE = "a share that is at most 1: 0.1 is 10 %"


class ConfigError(ValueError):
    """A setting or argument cannot be used; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(EmbeddingConfig):
    """Settings of a project. ``SETTINGS`` are its fields by name: ``FRESHCRAWL_`` + capitals."""

    enabled: bool = True
    """Whether the components do anything."""
    check_run_hours: float = 168.0
    """Hours without a run after which ``status --check`` says so; 0: never."""
    clock_offset_secs: float = 0.0
    """Seconds added to the real clock everywhere (tests and simulations)."""
    commit_every: int = 50
    """Pages after which progress is made durable."""
    contact: str = ""
    """Address or URL in the user agent, for the people whose site is crawled."""
    discovery_interval_secs: float = DAY / 4
    """Seconds after which a site's sitemaps are read again by a run that names no site."""
    generations_kept: int = 3
    """Published generations that are kept for readers."""
    guard_changed_min: int = 20
    """Changed pages that never trip the guard."""
    guard_changed_ratio: float = 0.5
    """Share of the live pages above which changes of one run are held."""
    guard_confirm_hours: float = 12.0
    """Hours between runs that count as independent confirmations of held work."""
    guard_confirm_runs: int = 2
    """Later runs that must find the same before held work is released by itself."""
    guard_failed_min: int = 5
    """Failed and rejected pages of a run that never keep it from taking pages away."""
    guard_failed_ratio: float = 0.2
    """Share of the pages asked for above which failures keep a run from taking pages away."""
    guard_removed_min: int = 5
    """Removed pages that never trip the guard, unless they are more than half of the live ones."""
    guard_removed_ratio: float = 0.1
    """Share of the live pages above which removals of one run are held."""
    max_age_secs: float = 60 * DAY
    """Longest time between two checks of a page; older answers are marked stale."""
    max_interval_secs: float = 60 * DAY
    """Longest interval of the schedule."""
    max_pages: int = 50_000
    """Pages that link discovery may add to a site; more make the run incomplete."""
    min_interval_secs: float = DAY / 4
    """Shortest interval of the schedule."""
    missing_runs: int = 3
    """Runs in a row that must find a page unlisted before the site's policy decides."""
    noise_days: float = 90.0
    """Days after which a place that did not differ is no proven noise any more."""
    progress_secs: float = 30.0
    """Seconds between log lines of progress; 0: none."""
    publish_growth_ratio: float = 0.25
    """Growth by new pages, relative to what is published, that triggers a publish in between."""
    simhash_max_bits: int = 0
    """Bits of the simhash that a long page's prose may differ in without a change; 0: none."""
    sites: str = ""
    """Path of the file that lists the sites; by default ``sites.toml`` beside ``scrapy.cfg``."""
    start_interval_secs: float = 3 * DAY
    """First interval of a page."""
    state_dir: str = "state"
    """Folder of state and index; relative to ``scrapy.cfg``, absolute where there is none."""
    vector_retention_days: float = 90.0
    """Days that vectors are kept for reuse after their last chunk left the answers."""
    version_retention_days: float = 90.0
    """Days that an earlier version of a page is kept after it left the answers."""
    versions_kept: int = 5
    """Versions of a page that are kept for history and diff, the current one among them."""
    webhook_attempts: int = 3
    """Times that the receiver may refuse a batch of events before it is a dead letter."""
    webhook_batch: int = 100
    """Events of one POST."""
    webhook_events: str = ""
    """Types of events that are sent, or patterns of them; empty: all."""
    webhook_max_age_hours: float = 72.0
    """Hours after which a batch that cannot be delivered is a dead letter."""
    webhook_run_secs: float = 30.0
    """Seconds that a run may take at its end to deliver."""
    webhook_secret: str = field(default="", repr=False)
    """Secret that signs what is sent; several, apart by spaces, sign each."""
    webhook_timeout_secs: float = 10.0
    """Seconds that one POST may take."""
    webhook_url: str = field(default="", repr=False)
    """Where events are sent; empty: nowhere."""
    commanded: frozenset[str] = field(default=frozenset(), compare=False)
    """Fields that the command line gave: the table of a site does not replace them."""

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read Scrapy settings, then environment variables of the same names.

        Raises:
            ConfigError: a name is unknown, a value has the wrong type or settings contradict.
        """
        given = {name: settings[name] for name in settings if str(name).startswith(PREFIX)}
        from_env = {n: v for n, v in os.environ.items() if n.startswith(PREFIX)}
        _refuse_unknown(SETTINGS, [*given, *from_env])
        if given.get(hidden := PREFIX + ENVIRONMENT_ONLY):
            raise ConfigError(f"{hidden} must be in the environment: settings are logged")
        values = {
            f.name: _convert(name, given[name] if name in given else from_env[name], f)
            for name, f in SETTINGS.items()
            if name in given or name in from_env
        }
        commanded = {SETTINGS[name].name for name in given if _is_commanded(settings, name)}
        config = cls(**values, commanded=frozenset(commanded))
        config.check()
        return config

    def for_site(self, policies: Mapping[str, float]) -> Self:
        """Return the settings of one site: its ``policies``, but for what was commanded.

        Raises:
            ConfigError: they contradict the others.
        """
        own = {name: value for name, value in policies.items() if name not in self.commanded}
        config = replace(self, **own)  # type: ignore[arg-type]
        config.check()
        return config

    def check(self) -> None:
        """Refuse values that cannot work or contradict each other.

        Raises:
            ConfigError: see the message.
        """
        for name, f in SETTINGS.items():
            value = getattr(self, f.name)
            if isinstance(value, (int, float)) and value < 0 and f.name != "clock_offset_secs":
                raise ConfigError(f"{name} is {value}: it must not be negative")
        if self.out_of_order():
            names = " <= ".join(PREFIX + name.upper() for name in INTERVALS)
            values = ", ".join(f"{getattr(self, name):g}" for name in INTERVALS)
            raise ConfigError(f"{names} does not hold: {values}")
        for name in AT_LEAST_ONE:
            if getattr(self, name) < 1:
                raise ConfigError(f"{PREFIX}{name.upper()} must be at least 1")
        for name in AT_MOST_ONE:
            if (share := getattr(self, name)) > 1:
                raise ConfigError(f"{PREFIX}{name.upper()} is {share:g}: it must be {SHARE}")
        if not self.state_dir:
            raise ConfigError(f"{PREFIX}STATE_DIR is empty: give the path of a folder")
        if problem := self.embedding_problem():
            raise ConfigError(PREFIX + problem)

    def out_of_order(self) -> tuple[str, ...]:
        """Return the two intervals of which the first is too long; or the one that is none."""
        if not self.min_interval_secs > 0:
            return INTERVALS[:1]
        for short, long in pairwise(INTERVALS):
            if getattr(self, short) > getattr(self, long):
                return short, long
        return ()

    def state_path(self) -> Path:
        """Return the state folder as an absolute path.

        Raises:
            ConfigError: the path is relative and there is no ``scrapy.cfg`` to resolve it against.
        """
        path = _expanded(self.state_dir)
        if path.is_absolute():
            return path
        return project_folder(f"{PREFIX}STATE_DIR={self.state_dir}") / path

    def sites_path(self) -> Path | None:
        """Return the file that lists the sites, or None if there is none."""
        if self.sites:
            path = _expanded(self.sites)
            return path if path.is_absolute() else project_folder(f"{PREFIX}SITES") / path
        cfg = closest_scrapy_cfg()
        path = Path(cfg).parent / "sites.toml"
        return path if cfg and path.is_file() else None


SETTINGS: Mapping[str, Field[Any]] = {
    PREFIX + f.name.upper(): f
    for f in sorted(fields(Config), key=lambda field: (field.name != "enabled", field.name))
    if f.name != "commanded"
}
"""Each setting's field, the switch first."""


def _is_commanded(settings: BaseSettings, name: str) -> bool:
    """Tell whether ``-s`` gave a setting, or a job of Scrapyd."""
    return (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ConfigError(f"{text!r}: there is no such home folder") from None


def project_folder(what: str) -> Path:
    """Return the folder of ``scrapy.cfg``.

    Raises:
        ConfigError: there is none; ``what`` names the relative path that asked for it.
    """
    cfg = closest_scrapy_cfg()
    if not cfg:
        raise ConfigError(
            f"{what} is relative and there is no scrapy.cfg here to resolve it against: "
            "give an absolute path"
        )
    return Path(cfg).resolve().parent


def _refuse_unknown(known: Mapping[str, Any], names: list[str]) -> None:
    for name in names:
        if name not in known:
            raise ConfigError(f"unknown setting {name}: see docs/settings.md for the names")


def _convert(name: str, value: Any, field: Field[Any]) -> Any:
    default = field.default
    if default is MISSING:
        raise TypeError(f"{field.name} has no default")
    if isinstance(default, bool):
        return to_bool(name, value)
    return converted(name, type(default), value)


def converted(name: str, kind: type, value: Any) -> Any:
    """Return a value as int, float or str.

    Raises:
        ConfigError: it is not one; ``name`` says where it was given.
    """
    try:
        return _CONVERT[kind](value)
    except (TypeError, ValueError, OverflowError):
        expected = {int: "a whole number", float: "a number", str: "text"}[kind]
        raise ConfigError(f"{name} is {value!r}: expected {expected}") from None


def wanted_of(name: str, number: float) -> str:
    """Return in words what the number of a setting has to be, "" if it is that."""
    if number < 0 or (name in AT_LEAST_ONE and number < 1):
        return f"a number that is {'at least 1' if name in AT_LEAST_ONE else 'not negative'}"
    return SHARE if name in AT_MOST_ONE and number > 1 else ""


def _to_int(value: Any) -> int:
    if isinstance(value, bool) or int(value) != float(value):
        raise ValueError(value)
    return int(value)


def _to_float(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(number := float(value)):
        raise ValueError(value)
    return number


def _to_text(value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(value)
    return str(value)


_CONVERT: Mapping[type, Callable[[Any], Any]] = {int: _to_int, float: _to_float, str: _to_text}


def to_bool(name: str, value: Any) -> bool:
    """Read a switch.

    Raises:
        ConfigError: ``value`` is neither; ``name`` says where it was given.
    """
    text = str(value).strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off", ""}:
        return False
    raise ConfigError(f"{name} is {value!r}: expected true or false")
