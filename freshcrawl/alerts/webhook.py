"""Where events are sent, which ones, and how they are signed (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from freshcrawl.config import PREFIX, ConfigError
from freshcrawl.core.events import TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from freshcrawl.config import Config

URL, SECRET, EVENTS = (f"{PREFIX}WEBHOOK_{name}" for name in ("URL", "SECRET", "EVENTS"))
SECRET_PREFIX = "whsec_"  # noqa: S105 - begins every secret
SECRET_BYTES = range(24, 65)
"""Lengths that the standard allows."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """One receiver. Neither its secret nor the path of its URL may be shown or stored."""

    url: str = field(repr=False)
    secrets: tuple[bytes, ...] = field(repr=False)
    """Each signs; several while one takes the place of another."""
    types: frozenset[str]
    batch: int
    """Events of one POST."""
    attempts: int
    """After so many refusals of one batch by the receiver it is a dead letter."""
    max_age_secs: float
    """A batch that could not be delivered for so long is a dead letter."""
    timeout_secs: float
    run_secs: float

    @property
    def place(self) -> str:
        """Scheme, host and port: what may be shown of the URL."""
        return place_of(self.url)

    def headers(self, message_id: str, body: bytes, now: float) -> dict[str, str]:
        """Return the headers that identify and sign a POST. ``now``: real epoch seconds."""
        timestamp = str(int(now))
        signed = b".".join((message_id.encode(), timestamp.encode(), body))
        return {
            "webhook-id": message_id,
            "webhook-timestamp": timestamp,
            "webhook-signature": " ".join(signature(secret, signed) for secret in self.secrets),
        }


def signature(secret: bytes, signed: bytes) -> str:
    """Return one signature as the header has it."""
    return "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()


def webhook_of(config: Config) -> Webhook | None:
    """Return the receiver that the settings name, None if they name none.

    Raises:
        ConfigError: what they say of it cannot be used; neither URL nor secret is shown.
    """
    if not config.webhook_url:
        return None
    if not config.webhook_timeout_secs:
        raise ConfigError(f"{PREFIX}WEBHOOK_TIMEOUT_SECS must be more than 0")
    return Webhook(
        _checked_url(config.webhook_url),
        _secrets(config.webhook_secret),
        chosen_types(config.webhook_events),
        config.webhook_batch,
        config.webhook_attempts,
        config.webhook_max_age_hours * 3_600,
        config.webhook_timeout_secs,
        config.webhook_run_secs,
    )


def place_of(url: str) -> str:
    """Return what may be shown of a receiver's URL, whose path may be secret.

    Raises:
        ConfigError: it is no URL.
    """
    parts = urlsplit(_checked_url(url))
    return f"{parts.scheme}://{parts.netloc}"


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = bool(parts.scheme in {"http", "https"} and parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigError(f"{URL} is no URL: expected https://host/path")
    if "@" in parts.netloc:
        raise ConfigError(f"{URL} has a user or password in it: what is sent is signed instead")
    return url.partition("#")[0]


def _secrets(text: str) -> tuple[bytes, ...]:
    if not text.split():
        raise ConfigError(
            f"{URL} is set and {SECRET} is not: put the secret that the receiver knows into the "
            "environment under that name (docs/alerts.md says how to make one)"
        )
    return tuple(_secret(word) for word in text.split())


def _secret(word: str) -> bytes:
    try:
        found = base64.b64decode(word.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) not in SECRET_BYTES:
        raise ConfigError(
            f"{SECRET} cannot be used: expected {SECRET_PREFIX} and {SECRET_BYTES[0]} to "
            f"{SECRET_BYTES[-1]} bytes in base64 (docs/alerts.md says how to make one)"
        )
    return found


def chosen_types(text: str) -> frozenset[str]:
    """Return the types of events that a list of names or patterns (``page.*``) means; "": all.

    Raises:
        ConfigError: there is no such type.
    """
    names: Sequence[str] = [name for name in re.split(r"[\s,]+", text) if name] or ["*"]
    chosen: set[str] = set()
    for name in names:
        found = {kind for kind in TYPES if fnmatchcase(kind, name)}
        if not found:
            raise ConfigError(f"{EVENTS}: there is no event {name!r}; known: {', '.join(TYPES)}")
        chosen |= found
    return frozenset(chosen)
