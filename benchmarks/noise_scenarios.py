"""Kinds of noise as sites have them, as HTML of a page at a time."""

from __future__ import annotations

import hashlib
import random
import string
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "MARKOFNOISE"
BEGIN = 1_790_000_000.0
HOUR, DAY = 3_600.0, 86_400.0
_TOPICS = [f"{a} {b}" for a in ("Fast", "Safe", "Small", "Local", "Shared") for b in (
    "sessions", "indexes", "templates", "migrations", "parsers", "caches")]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of noise, and what an edit inside of it is."""

    name: str
    html: Callable[[str, float, random.Random], str]
    """Markup for a page (its key) at a time; stands in a paragraph."""
    edits: Callable[[str, float, random.Random], list[tuple[str, Any]]]
    shown: Callable[[Any, float], str]
    """Markup of an edit at a time after it was made."""
    every: float = 0.0
    """Seconds between fetches that a person or timer asks for, besides the schedule."""
    longest: float = 14 * DAY
    """Longest interval of the schedule."""


def moment(at: float) -> datetime:
    """Return the time in UTC."""
    return datetime.fromtimestamp(at, UTC)


def seed(*parts: object) -> random.Random:
    """Return a generator that is the same for the same parts."""
    text = "\0".join(map(str, parts))
    return random.Random(hashlib.sha256(text.encode()).hexdigest())


def still(edit: Any, at: float) -> str:
    """Return an edit that stays as it was made."""
    return str(edit)


def token(rng: random.Random, length: int = 22) -> str:
    """Return random text as of a session."""
    return "".join(rng.choices(string.ascii_letters + string.digits + "-_", k=length))


def ago(seconds: float) -> str:
    """Return a time that is so many seconds past, as blogs write it."""
    units = (("year", 365 * DAY), ("month", 30 * DAY), ("week", 7 * DAY), ("day", DAY))
    for name, size in (*units, ("hour", HOUR), ("minute", 60.0)):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {name}{'s' * (number > 1)} ago"
    return "just now"


def server_time(at: float) -> str:
    """Return a footer with the time of the answer."""
    return f"Generated {moment(at):%Y-%m-%d %H:%M:%S} UTC for you."


def related(rng: random.Random) -> str:
    """Return related posts, four of thirty."""
    links = "".join(
        f'<li><a href="/posts/{topic.replace(" ", "-").lower()}">{topic}</a></li>'
        for topic in rng.sample(_TOPICS, 4)
    )
    return f"Read more</p><h2>Related posts</h2><ul>{links}</ul><p>The end of the page"


def views(key: str, at: float) -> int:
    """Return how often a page was seen, some thousand times at first, some hundred a day."""
    rng = seed(key)
    return int(rng.randint(900, 9_000) + (at - BEGIN) / DAY * rng.randint(40, 400))


def deployed(key: str, at: float) -> str:
    """Return the footer of one of two nodes, of which one is a deploy behind for an hour."""
    period = 2 * DAY
    build = int(at // period)
    if at % period < HOUR and seed(key, at).random() < 0.5:
        build -= 1
    node = seed("build", build)
    return f"Served by build {node.randbytes(8).hex()} of node group blue."


def _frozen(make: Callable[[float, random.Random], str]) -> Callable[..., list[tuple[str, Any]]]:
    return lambda key, at, rng: [("value that stays", make(at, rng))]


SCENARIOS = (
    Scenario(
        "server time in the footer of the text",
        lambda key, at, rng: server_time(at),
        lambda key, at, rng: [
            ("time that stays", server_time(at - 200 * DAY)),
            ("time of now that stays", server_time(at - 30 * 60)),
        ],
        still,
    ),
    Scenario(
        "CSRF token in a link",
        lambda key, at, rng: f'You may <a href="/vote?csrf={token(rng)}&page=3">vote</a> for it.',
        _frozen(
            lambda at, rng: f'You may <a href="/vote?csrf={token(rng)}&page=3">vote</a> for it.'
        ),
        still,
    ),
    Scenario(
        "rotating related posts",
        lambda key, at, rng: related(rng),
        _frozen(lambda at, rng: related(rng)),
        still,
    ),
    Scenario(
        "view counter",
        lambda key, at, rng: f"This page was seen by <b>{views(key, at):,}</b> people.",
        lambda key, at, rng: [
            ("count that stays", f"This page was seen by <b>{rng.randint(1, 10**6):,}</b> people.")
        ],
        still,
    ),
    Scenario(
        "random ids",
        lambda key, at, rng: f"Request {rng.randbytes(16).hex()}, session {token(rng)}.",
        _frozen(lambda at, rng: f"Request {rng.randbytes(16).hex()}, session {token(rng)}."),
        still,
    ),
    Scenario(
        "relative date",
        lambda key, at, rng: f"Answered {ago(at - BEGIN + 2 * DAY)} by the team.",
        lambda key, at, rng: [("later date", at - 2 * HOUR)],
        lambda edit, at: f"Answered {ago(at - edit)} by the team.",
    ),
    Scenario(
        "daily date, checked every 6 hours",
        lambda key, at, rng: f"Today is {moment(at):%A, %B} {moment(at).day}, {moment(at).year}.",
        lambda key, at, rng: [
            ("past date", f"Today is {moment(at - 9 * DAY):%A, %B} {moment(at).day}, 2025."),
            ("date of today", f"Today is {moment(at):%A, %B} {moment(at).day}, {moment(at).year}."),
        ],
        still,
        every=6 * HOUR,
        longest=6 * HOUR,
    ),
    Scenario(
        "copy of an hour, fetched every 20 minutes",
        lambda key, at, rng: server_time(at // HOUR * HOUR),
        lambda key, at, rng: [("time that stays", server_time(at - 200 * DAY))],
        still,
        every=20 * 60.0,
    ),
    Scenario(
        "rolling deploy, every 2 days",
        lambda key, at, rng: deployed(key, at),
        _frozen(lambda at, rng: f"Served by build {rng.randbytes(8).hex()} of node group blue."),
        still,
    ),
    Scenario(
        "rendering time, 700 values",
        lambda key, at, rng: f"Made in {rng.uniform(0.1, 0.8):.3f} seconds.",
        lambda key, at, rng: [("time that stays", "Made in 2.718 seconds.")],
        still,
    ),
    Scenario(
        "visitors online, 3 to 40",
        lambda key, at, rng: f"There are {rng.randint(3, 40)} visitors online.",
        lambda key, at, rng: [
            ("count that stays", f"There are {rng.randint(41, 99)} visitors online.")
        ],
        still,
    ),
)
