"""Inline content of an element as marked Markdown (see `markup`), white space not yet folded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from freshcrawl.extract import markup
from freshcrawl.extract.dom import Element, tag_of

if TYPE_CHECKING:
    from collections.abc import Callable

    _Render = Callable[[Element, "Style", int], str]

_DEPTH_MAX = 60
_SCRIPT = re.compile(r"[+-]?\d+|[a-z]")
_NOT_FOLLOWED = ("javascript:", "data:", "blob:", "about:")


@dataclass(frozen=True, slots=True)
class Style:
    """What inline markup is written."""

    base: str
    """URL that targets are resolved against."""
    links: bool = True
    marks: bool = True
    """Emphasis, code and image marks."""
    inside: tuple[str, ...] = ()
    """Emphasis markers that are open."""

    def unlinked(self) -> Style:
        """Return the style without link targets."""
        return Style(self.base, links=False, marks=self.marks, inside=self.inside)

    def within(self, marker: str) -> Style:
        """Return the style between emphasis markers."""
        return Style(self.base, self.links, self.marks, (*self.inside, marker))


@lru_cache(maxsize=4096)
def resolve(base: str, target: str | None) -> str:
    """Return an absolute URL, ``""`` if there is none that a reader could follow."""
    target = (target or "").strip()
    if not target or target == "#" or target.lower().startswith(_NOT_FOLLOWED):
        return ""
    if "/cdn-cgi/l/email-protection" in target:  # its hash is another one at each request
        return ""
    try:
        return urljoin(base, target)
    except ValueError:
        return ""


def content(el: Element, style: Style, depth: int = 0) -> str:
    """Return what is inside an element."""
    if depth > _DEPTH_MAX:
        return "".join(el.itertext())
    parts = [el.text or ""]
    for child in el:
        parts.append(node(child, style, depth + 1))
        parts.append(child.tail or "")
    return "".join(parts)


def node(el: Element, style: Style, depth: int = 0) -> str:
    """Return one element, without its tail."""
    tag = tag_of(el)
    if not tag:
        return ""
    return _NODES.get(tag, content)(el, style, depth)


def plain(el: Element) -> str:
    """Return the folded text of an element without any markup, images by their alt text."""
    return markup.one_line(content(el, Style("", links=False, marks=False)))


def _emphasis(marker: str) -> _Render:
    def render(el: Element, style: Style, depth: int) -> str:
        if not style.marks or marker in style.inside:
            return content(el, style, depth)
        inner = content(el, style.within(marker), depth)
        if "*" in inner and len(el) == 0:
            inner = inner.replace("*", r"\*")  # such as a parameter named **kwargs
        return markup.around(inner, lambda text: f"{marker}{text}{marker}")

    return render


def _code(el: Element, style: Style, depth: int) -> str:
    text = "".join(el.itertext())
    if el.get("class") == "tsd-tag":  # only its style sets it apart from the name after it
        text += " "
    if not style.marks:
        return text
    span = markup.around(text, markup.code_span)
    # Markdown knows no link inside of code, but code inside of a link.
    inner = [a for a in el.iter("a") if "".join(a.itertext()).strip() == text.strip()]
    url = resolve(style.base, inner[0].get("href")) if inner and style.links else ""
    return markup.around(span, lambda code: markup.link(code, url)) if url else span


def _link(el: Element, style: Style, depth: int) -> str:
    url = resolve(style.base, el.get("href")) if style.links else ""
    if not url:
        return content(el, style, depth)
    label = content(el, style.unlinked(), depth)
    return markup.around(label, lambda text: markup.link(text, url))


def _image(el: Element, style: Style, depth: int) -> str:
    alt = " ".join((el.get("alt") or "").split())
    if len(alt) == 1 and alt.isascii() and not alt.isalnum():
        return ""  # an arrow or a bullet
    if not alt or not style.marks:
        return alt
    url = resolve(style.base, el.get("src"))
    return markup.image(alt, url) if url else alt


def _script(mark: str) -> _Render:
    def render(el: Element, style: Style, depth: int) -> str:
        inner = content(el, style, depth)
        # Also a number that is a link, as to a footnote: else it would run into the word before.
        return mark + inner if _SCRIPT.fullmatch("".join(el.itertext()).strip()) else inner

    return render


def _math(el: Element, style: Style, depth: int) -> str:
    for annotation in el.iter("annotation"):
        if annotation.get("encoding") == "application/x-tex":
            return f"${(annotation.text or '').strip()}$"
    return content(el, style, depth)


def _checkbox(el: Element, style: Style, depth: int) -> str:
    return "[x] " if el.get("checked") is not None else "[ ] "


def _apart(el: Element, style: Style, depth: int) -> str:
    return f" {content(el, style, depth)} "


def _item(el: Element, style: Style, depth: int) -> str:
    return f" - {content(el, style, depth).strip()} "


_NODES: dict[str, _Render] = {
    **dict.fromkeys(("strong", "b"), _emphasis("**")),
    **dict.fromkeys(("em", "i", "cite", "var", "dfn"), _emphasis("*")),
    **dict.fromkeys(("del", "s", "strike"), _emphasis("~~")),
    **dict.fromkeys(("code", "tt", "kbd", "samp", "pre"), _code),
    "a": _link,
    "img": _image,
    "br": lambda el, style, depth: markup.BREAK,
    "sup": _script("^"),
    "sub": _script("_"),
    "math": _math,
    "input": _checkbox,
    "li": _item,
    **dict.fromkeys(("p", "div", "ul", "ol", "dl", "dt", "dd", "table", "tr", "td", "th"), _apart),
    **dict.fromkeys(("section", "figure", "figcaption", "blockquote", "article"), _apart),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "details", "summary"), _apart),
}
