"""Hosts: which are one and the same, which are somebody's private network."""

from __future__ import annotations

import ipaddress
from urllib.parse import unquote, urlsplit

from freshcrawl.core.urls import ascii_host, split_url


def is_private(url: str) -> bool:
    """Tell whether a URL's host is written as a private, loopback or link-local address.

    Names are not resolved here.
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


def is_near(url: str) -> bool:
    """Tell whether a URL's host is in one's own network: private, or a name that only such have.

    Names without a dot, and those below ``.internal`` and ``.local``.
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    named = ":" not in host and ("." not in host or host.endswith((".internal", ".local")))
    return is_private(url) or bool(host and named)


def origin(url: str) -> str:
    """Return scheme, host and port of a URL in one spelling, without the scheme's own port.

    Raises:
        ValueError: the URL is not http(s), or has no usable host.
    """
    parts = split_url(url)
    host = ascii_host(unquote(parts.hostname or ""))
    own = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port not in {None, own} else "")


def same_host(one: str, other: str) -> bool:
    """Tell whether two URLs have the same host, whatever their ports."""
    return urlsplit(one).hostname == urlsplit(other).hostname
