"""Sitemaps in the forms found in the wild, and where sites say they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from lxml import etree

from freshcrawl.core.scope import Scope
from freshcrawl.inflate import as_utf8, decompress

if TYPE_CHECKING:
    from collections.abc import Iterator

USUAL_PLACES = (
    "sitemap.xml",
    "sitemap_index.xml",
    "sitemap-index.xml",
    "sitemap.xml.gz",
    "sitemap.txt",
)

_KINDS = {"urlset": "urlset", "sitemapindex": "index", "rss": "feed", "RDF": "feed", "feed": "feed"}
_ENTRIES = {"urlset": ("url",), "index": ("sitemap",), "feed": ("item", "entry")}
_DATES = {"lastmod", "pubDate", "date", "updated", "published"}
# libxml2 silently mends "&y=2" to "=2"; in CDATA an ampersand is itself.
_BARE_AMPERSAND = re.compile(
    rb"<!\[CDATA\[.*?\]\]>|&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)", re.DOTALL
)
_FIRST_TAG = re.compile(rb"<[A-Za-z_][\w.:-]*")
_USED_PREFIX = re.compile(rb"""<([A-Za-z_][\w.-]*):|\s([A-Za-z_][\w.-]*):[\w.-]+\s*=\s*["']""")
_DECLARED_PREFIX = re.compile(rb"\sxmlns:([\w.-]+)\s*=")
_ROBOTS_LINE = re.compile(r"\s*sitemap\s*:\s*([^#]*)", re.IGNORECASE)
_BARE_HOST = re.compile(r"(?:[\w-]+(?:\.[\w-]+)+(?::\d+)?|[\w-]+:\d+)/")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a sitemap: an absolute URL and its ``lastmod`` as written."""

    url: str
    lastmod: str = ""


@dataclass(slots=True)
class Sitemap:
    """What was read of one sitemap.

    ``kind`` is urlset, index, text, feed, or ``""`` if it is none of these.
    Only a ``complete`` one says that a URL is not listed; else ``problem`` is
    one of empty, not a sitemap, truncated, malformed, no locations, too large.
    """

    kind: str = ""
    entries: list[Entry] = field(default_factory=list)
    complete: bool = False
    problem: str = ""


def parse_sitemap(body: bytes, base_url: str) -> Sitemap:
    """Read a sitemap, an index, a text list or a feed; the content decides which.

    Nothing is raised: a file that cannot be read in whole has the entries up
    to there and a ``problem``.
    """
    data, problem = decompress(body)
    data = as_utf8(data).lstrip()
    if not data:
        return Sitemap(problem=problem or "empty")
    read = _read_xml if b"<" in data[:1024] else _read_text
    sitemap = read(data, base_url)
    sitemap.problem = problem or sitemap.problem
    sitemap.complete = not sitemap.problem
    return sitemap


def sitemap_urls_from_robots(body: bytes, robots_url: str) -> list[str]:
    """Return the absolute URLs of the ``Sitemap:`` lines, in order, without repeats."""
    lines = as_utf8(body).decode("utf-8", "replace").splitlines()
    values = [match[1].strip() for line in lines if (match := _ROBOTS_LINE.match(line))]
    scheme = urlsplit(robots_url).scheme
    named = (f"{scheme}://{value}" if _BARE_HOST.match(value) else value for value in values)
    return list(dict.fromkeys(url for value in named if (url := _absolute(robots_url, value))))


def usual_places(scope_root: str) -> list[str]:
    """Return where a sitemap may be if nothing names one: in the folder, then at the root.

    Raises:
        ValueError: the URL is not http(s), or has no usable host.
    """
    root = Scope.from_url(scope_root).root
    folders = dict.fromkeys((root, urljoin(root, "/")))
    return [folder + place for folder in folders for place in USUAL_PLACES]


def _read_text(data: bytes, base_url: str) -> Sitemap:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    urls = [line for line in lines if re.match(r"https?://|/", line, re.IGNORECASE)]
    if not urls:
        return Sitemap(problem="not a sitemap")
    entries = [Entry(url) for line in urls if (url := _absolute(base_url, line))]
    return Sitemap("text", entries, problem="" if len(entries) == len(lines) else "malformed")


def _read_xml(data: bytes, base_url: str) -> Sitemap:
    sitemap = Sitemap(problem="not a sitemap")
    data = _BARE_AMPERSAND.sub(_escape_ampersand, _declare_prefixes(data))
    try:
        for element in _elements(data, sitemap):
            if entry := _entry(element, base_url):
                sitemap.entries.append(entry)
    except etree.XMLSyntaxError:
        if sitemap.kind and re.search(rb"</[^<>]*>\s*$", data):
            sitemap.problem = "malformed"
    return sitemap


def _escape_ampersand(match: re.Match[bytes]) -> bytes:
    return b"&amp;" if match[0] == b"&" else match[0]


def _declare_prefixes(data: bytes) -> bytes:
    """Declare prefixes that are only used (``image:`` often is), which would be an error."""
    used = {found[1] or found[2] for found in _USED_PREFIX.finditer(data)}
    missing = used.difference(_DECLARED_PREFIX.findall(data), (b"xml", b"xmlns"))
    names = b"".join(b' xmlns:%s="%s"' % (prefix, prefix) for prefix in sorted(missing))
    return _FIRST_TAG.sub(lambda tag: tag[0] + names, data, count=1) if names else data


def _elements(data: bytes, sitemap: Sitemap) -> Iterator[etree._Element]:
    """Yield the elements that are entries; set kind and problem as far as they are known."""
    events = etree.iterparse(
        BytesIO(data),
        events=("start", "end"),
        remove_comments=True,
        remove_pis=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
    )
    _, root = next(events)
    sitemap.kind = _KINDS.get(_name(root), "")
    if not sitemap.kind:
        return
    sitemap.problem = "truncated"
    for event, element in events:
        if event == "end" and element is root:
            sitemap.problem = "no locations" if len(root) and not sitemap.entries else ""
            return  # what follows the root does not matter
        if event == "end" and _is_entry(element, root, sitemap.kind):
            yield element
            _release(element)


def _is_entry(element: etree._Element, root: etree._Element, kind: str) -> bool:
    return _name(element) in _ENTRIES[kind] and (kind == "feed" or element.getparent() is root)


def _release(element: etree._Element) -> None:
    """Free what was read; the element itself stays, for the parser is still at its end."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _name(element: etree._Element) -> str:
    return etree.QName(element).localname


def _entry(element: etree._Element, base_url: str) -> Entry | None:
    """Return the location and date among the children, without those of extensions."""
    namespace = etree.QName(element).namespace
    location = lastmod = ""
    for child in element:
        name = etree.QName(child)
        if name.localname in _DATES:
            lastmod = lastmod or (child.text or "").strip()
        elif name.namespace == namespace and name.localname in {"loc", "link"}:
            location = location or _location(child)
    url = _absolute(base_url, location)
    return Entry(url, lastmod) if url else None


def _location(element: etree._Element) -> str:
    href = element.get("href") if element.get("rel", "alternate") == "alternate" else None
    return (href or element.text or "").strip()


def _absolute(base_url: str, url: str) -> str:
    """Return an absolute http(s) URL, or ``""``."""
    try:
        joined = urljoin(base_url, url) if url else ""
    except ValueError:  # such as "http://[x"
        return ""
    return joined if joined.lower().startswith(("http://", "https://")) else ""
