"""What a page says about itself: its head, and all the links of the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from freshcrawl.extract.dom import Element, climb, tag_of, text_of
from freshcrawl.extract.inline import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freshcrawl.core.blocks import Document

_REFRESH_MAX = 5.0
"""Seconds; a page that stays longer is one to be read."""
_REFRESH = re.compile(
    r"\s*([\d.]+)\s*[;,]\s*(?:url\s*=\s*)?(?!\s*url\s*=)(.+)", re.IGNORECASE | re.DOTALL
)
_SITE_NAME = re.compile(r"\s+(?:[\u2014\u2013|·»-]|::)\s+")
_AGENT = re.compile(r"[a-z0-9_-]+")
_BARS = re.compile(r"(?:^|[\s,])(?:noindex|none|unavailable_after)\b", re.IGNORECASE)
_FOLLOWED = ("http://", "https://")
_CONTROLS = re.compile(r"[\t\r\n]")


def base_url(root: Element, url: str) -> str:
    """Return what targets are resolved against: ``base href``, else the page's URL."""
    href = next((el.get("href") for el in root.iter("base") if el.get("href")), None)
    return resolve(url, href) or url


def read_head(root: Element, base: str, document: Document) -> None:
    """Set what the head says on ``document``; the title without the site's name."""
    metas = [el for el in root.iter("meta") if not _without_scripts(el)]
    title = next((text_of(el) for el in root.iter("title") if text_of(el)), "")
    document.head_title = title
    document.title = _SITE_NAME.split(title)[0] or title
    document.language = (root.get("lang") or root.get("xml:lang") or "").strip()
    document.description = _meta(metas, "description") or _meta(metas, "og:description")
    document.robots = "\n".join(dict.fromkeys(_robots(metas)))
    document.canonical = _canonical(root, base)
    document.refresh = _refresh(metas, base)


def page_links(root: Element, base: str) -> list[str]:
    """Return the http(s) targets of all ``a href``, without fragments and repeats.

    A fragment alone leads to the page itself and is left out.
    """
    written = dict.fromkeys(el.get("href") or "" for el in root.iter("a"))
    targets = [resolve(base, _CONTROLS.sub("", href).partition("#")[0]) for href in written]
    return list(dict.fromkeys(url for url in targets if url.lower().startswith(_FOLLOWED)))


def _without_scripts(el: Element) -> bool:
    return any(tag_of(around) == "noscript" for around in climb(el, 5))


def _is(el: Element, name: str) -> bool:
    return (el.get("name") or el.get("property") or "").strip().lower() == name


def _robots(metas: list[Element]) -> Iterator[str]:
    """Yield what robots metas say, as headers would: those for one agent with its name."""
    for el in metas:
        name, content = (el.get("name") or "").strip().lower(), _content(el)
        if content and _is(el, "robots"):
            yield content
        elif _AGENT.fullmatch(name) and _BARS.search(content):
            yield f"{name}: {content}"


def _content(el: Element) -> str:
    return " ".join((el.get("content") or "").split())


def _meta(metas: list[Element], name: str) -> str:
    return next((_content(el) for el in metas if _is(el, name) and _content(el)), "")


def _canonical(root: Element, base: str) -> str:
    for el in root.iter("link"):
        if "canonical" in (el.get("rel") or "").lower().split():
            return resolve(base, el.get("href"))
    return ""


def _refresh(metas: list[Element], base: str) -> str:
    for el in metas:
        match = _REFRESH.fullmatch(el.get("content") or "")
        if (el.get("http-equiv") or "").lower() == "refresh" and match:
            target = match[2].strip().strip("'\"").strip()
            if _seconds(match[1]) <= _REFRESH_MAX and target:
                return resolve(base, target)
    return ""


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
