"""A page's identity, made from its URL, and what belongs to a site."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, unquote_plus, urlsplit

from w3lib.url import safe_url_string

if TYPE_CHECKING:
    from collections.abc import Iterable

TRACKING_PARAMS = (
    *("utm_*", "mtm_*", "pk_*", "piwik_*", "matomo_*", "hsa_*", "vero_*", "oly_*", "_hs*"),
    *("_ga", "_gl", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "srsltid", "fbclid"),
    *("msclkid", "yclid", "ysclid", "twclid", "ttclid", "igshid", "igsh", "li_fat_id"),
    *("mc_cid", "mc_eid", "mkt_tok", "hsctatracking", "s_cid", "epik", "rdt_cid", "_openstat"),
)
"""Names (``*`` is any text, any case) that say where a visitor came from."""

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PERCENT = re.compile("%([0-9A-Fa-f]{2})?")
_HOST_NAME = re.compile(r"[a-z0-9_~-]+(\.[a-z0-9_~-]+)*")
_INDEX = re.compile(r"/index\.html?$")
_USER_INFO = re.compile(r"//[^/?#]*@")
_DEFAULT_PORTS = (None, 80, 443)


@dataclass(frozen=True, slots=True)
class UrlRules:
    """Which spellings of a URL are one key; one switch a rule."""

    drop_www: bool = True
    drop_index: bool = True
    drop_trailing_slash: bool = True
    drop_tracking: bool = True
    sort_query: bool = True
    keep_params: tuple[str, ...] = ()
    """Names to keep (``*`` is any text), whatever the other lists say."""
    drop_params: tuple[str, ...] = ()
    """Names to drop (``*`` is any text)."""


DEFAULT_RULES = UrlRules()


def url_key(url: str, rules: UrlRules = DEFAULT_RULES) -> str:
    """Return the key ``host/path?query`` of ``url``.

    ``url_key("http://" + key)`` is the key again. The ports 80 and 443 are
    both dropped, since the scheme is. User names and passwords are left out.

    Raises:
        ValueError: the URL is not http(s), or has no usable host.
    """
    parts = split_url(url)
    query = _key_query(parts.query, rules)
    key = key_host(parts, drop_www=rules.drop_www) + _key_path(parts.path, rules)
    return f"{key}?{query}" if query else key


def normalize_url(url: str) -> str:
    """Return ``url`` as it can be fetched: trimmed, safely encoded, no fragment, no user name.

    Raises:
        ValueError: the URL is not http(s), or has no host.
    """
    split_url(url)
    safe = _safe(url).partition("#")[0]
    user, at, host = urlsplit(safe).netloc.rpartition("@")
    return safe.replace(f"{user}{at}{host}", host, 1)


def _safe(url: str) -> str:
    try:
        return safe_url_string(url.strip())
    except ValueError as error:
        raise ValueError(f"not a usable URL ({error}): {_shown(url)}") from None


def split_url(url: str) -> SplitResult:
    """Return the parts of ``url``, safely encoded.

    Raises:
        ValueError: the URL is not http(s), or has no host; the message shows no password.
    """
    try:
        parts = urlsplit(_safe(url))
    except ValueError as error:
        raise ValueError(f"not a usable URL ({error}): {_shown(url)}") from None
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"not an http or https URL: {_shown(url)}")
    if not parts.hostname:
        raise ValueError(f"URL without a host: {_shown(url)}")
    return parts


def _shown(url: str) -> str:
    """Return ``url`` for a message, without a password or the secrets of a query in it."""
    shown, mark, _ = _USER_INFO.sub("//", url).partition("?")
    return repr(f"{shown}?..." if mark else shown)


def key_host(parts: SplitResult, *, drop_www: bool) -> str:
    """Return host and port; ``www.`` goes only where a domain is left."""
    host = ascii_host(unquote(parts.hostname or ""))
    while drop_www and host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return host if parts.port in _DEFAULT_PORTS else f"{host}:{parts.port}"


def ascii_host(name: str) -> str:
    """Return a host name as it stands in keys.

    Raises:
        ValueError: it is no usable name.
    """
    if ":" in name:
        return f"[{IPv6Address(name).compressed}]"
    host = name.rstrip(".").lower()
    if not host.isascii():
        host = host.encode("idna").decode("ascii")
    if not _HOST_NAME.fullmatch(host):
        raise ValueError(f"not a usable host: {name!r}")
    return host


def clean_path(path: str) -> str:
    """Return ``path`` with normalised escapes and without dot segments (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    segments = _clean_escapes(path).split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _clean_escapes(text: str) -> str:
    """Decode escapes of unreserved characters, write the others in upper case."""
    return _PERCENT.sub(_clean_escape, text)


def _clean_escape(match: re.Match[str]) -> str:
    if match[1] is None:  # a bare "%" could form an escape with what is decoded after it
        return "%25"
    byte = int(match[1], 16)
    return chr(byte) if byte in _UNRESERVED else match[0].upper()


def _key_path(path: str, rules: UrlRules) -> str:
    before, path = "", clean_path(path)
    while path != before:  # "/a/index.html/index.html" needs more than one turn
        before = path
        if rules.drop_index:
            path = _INDEX.sub("/", path)
        if rules.drop_trailing_slash:
            path = path.rstrip("/") or "/"
    return path


def _key_query(query: str, rules: UrlRules) -> str:
    pieces = [piece for piece in _clean_escapes(query).replace("%20", "+").split("&") if piece]
    kept = [piece for piece in pieces if not _is_dropped(_param_name(piece), rules)]
    if rules.sort_query:
        kept.sort(key=_param_name)
    return "&".join(kept)


def _param_name(piece: str) -> str:
    return piece.partition("=")[0]


def _is_dropped(name: str, rules: UrlRules) -> bool:
    name = unquote_plus(name)
    if _matches(name, rules.keep_params):
        return False
    return _matches(name, rules.drop_params) or (
        rules.drop_tracking and _matches(name, TRACKING_PARAMS)
    )


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(_pattern(pattern).fullmatch(name) for pattern in patterns)


def _pattern(pattern: str) -> re.Pattern[str]:
    # re keeps what it compiled, so there is no cache of ours
    return re.compile(re.escape(pattern).replace(r"\*", ".*"), re.IGNORECASE | re.DOTALL)
