"""Hosts: which of them are somebody's private network."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


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


def same_host(one: str, other: str) -> bool:
    """Tell whether two URLs have the same host, whatever their ports."""
    return urlsplit(one).hostname == urlsplit(other).hostname
