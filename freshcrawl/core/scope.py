"""What belongs to a site, and the name that its URL gives it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Self

from freshcrawl.core.urls import clean_path, key_host, split_url

MAX_SLUG = 100

_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]+$")


@dataclass(frozen=True, slots=True)
class Scope:
    """Host and folder that a site's pages are under; ``www.`` and scheme do not matter."""

    root: str
    """URL of the folder, with scheme and host as given."""
    host: str
    """Host as it stands in keys."""
    prefix: str
    """Path of the folder; starts and ends with ``/``."""
    subdomains: bool = False

    @classmethod
    def from_url(cls, url: str, *, subdomains: bool = False) -> Self:
        """Return the scope of a site root, a page or a sitemap.

        The last segment of the path is a file if it ends in an extension
        (``.html``; not ``2.0``), else a folder, with or without its slash.

        Raises:
            ValueError: the URL is not http(s), or has no usable host.
        """
        parts = split_url(url)
        prefix = _folder(clean_path(parts.path))
        netloc = parts.netloc.rpartition("@")[2]
        root = f"{parts.scheme}://{netloc}{prefix}"
        return cls(root, key_host(parts, drop_www=True), prefix, subdomains)

    def contains(self, url: str) -> bool:
        """Return whether ``url`` is a usable URL of this scope."""
        try:
            parts = split_url(url)
            host = key_host(parts, drop_www=True)
        except ValueError:
            return False
        path = clean_path(parts.path)
        return self._has_host(host) and (path + "/" == self.prefix or path.startswith(self.prefix))

    def _has_host(self, host: str) -> bool:
        return host == self.host or (self.subdomains and host.endswith("." + self.host))


def slug(url: str) -> str:
    """Return a folder name for the scope of ``url``: ``docs.example.com-en``.

    It is made of ``a-z0-9.-`` and has up to 100 characters. Where letters had
    to be changed or cut, a hash keeps it apart from others.
    """
    scope = Scope.from_url(url)
    full = (scope.host + scope.prefix).rstrip("/")
    plain = re.sub("[/:]+", "-", full)
    name = re.sub("[^a-z0-9.]+", "-", plain.lower()).strip("-.")
    if name == plain and len(name) <= MAX_SLUG:
        return name
    digest = hashlib.sha256(full.encode()).hexdigest()[:8]
    return f"{name[: MAX_SLUG - 9].rstrip('-.')}-{digest}"


def _folder(path: str) -> str:
    head, _, last = path.rpartition("/")
    return f"{head}/" if not last or _FILE.search(last) else f"{path}/"
