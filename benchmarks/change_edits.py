"""Small edits that turn a page's meaning round, made in the HTML of its main content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import lxml.html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from lxml.html import HtmlElement

    from benchmarks.change_themes import Theme

PRICE = " The price is $49.50 a month."
"""Documentation of open source names no prices: one is put into both versions."""
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
PROSE = frozenset({"p", "li", "dd"})
NO_PROSE = frozenset({"pre", "code", "tt", "kbd", "dt", "table", "h1"})
UNSEEN = frozenset({"script", "style", "button", "title", "head", "noscript", "svg"})


@dataclass(frozen=True, slots=True)
class Text:
    """One text node: the ``text`` or ``tail`` of an element."""

    el: HtmlElement
    name: str

    @property
    def value(self) -> str:
        """Return the text."""
        return str(getattr(self.el, self.name) or "")

    def append(self, text: str) -> None:
        """Put text at the end of this one."""
        setattr(self.el, self.name, self.value + text)

    def within(self) -> Iterator[HtmlElement]:
        """Yield the elements around the text, nearest first."""
        if self.name == "text":
            yield self.el
        yield from self.el.iterancestors()

    def is_in(self, *tags: str) -> bool:
        """Tell whether the text is in one of these."""
        return any(around.tag in tags for around in self.within())

    @property
    def is_prose(self) -> bool:
        """Whether the text is in a paragraph, item or definition, and in no code."""
        return not self.is_in(*NO_PROSE) and self.is_in(*PROSE)

    @property
    def is_code(self) -> bool:
        """Whether the text is in a code block."""
        return self.is_in("pre")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of edit."""

    name: str
    fits: Callable[[Text], bool]
    pattern: str
    """What is replaced; a place is one match of it."""
    replacement: Callable[[re.Match[str]], str]


def _up(match: re.Match[str]) -> str:
    """Raise the last number by one."""
    head, digits, tail = re.findall(r"^(.*?)(\d+)(\D*)$", match[0], re.DOTALL)[0]
    return f"{head}{int(digits) + 1:0{len(digits)}}{tail}"


def _default(match: re.Match[str]) -> str:
    swapped = {"True": "False", "False": "True", "None": "True", "true": "false", "false": "true"}
    return swapped[match[0]] if match[0] in swapped else _up(match)


_OPERATORS = {
    "<=": "<", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "<": "<=",
    ">": ">=", "+=": "-=", "and": "or", "or": "and", "&": "|", "|": "&", "/": "*",
}  # fmt: skip


def _is_default(text: Text) -> bool:
    around = list(text.within())[:4]
    if any("default_value" in (el.get("class") or "") for el in around):
        return True
    paragraph = next((el for el in text.within() if el.tag in PROSE), None)
    return paragraph is not None and "efault" in paragraph.text_content()[:400]


_WORDS = "is|are|will|must|should|can|may|does"
_SIGNS = "[<>=!]=|[-+*/<>&|]|and|or"
_DATE = rf"(?:{MONTHS}) \d{{1,2}}(?=,? \d{{4}})|(?<!\d)(?:19|20)\d\d-\d\d-\d\d(?!\d)"
_VERSION = r"(?<![\w.])v?\d+\.\d+(?:\.\d+)?(?:[ab]\d+)?(?![\w.])"
_DEFAULT = r"\b(?:True|False|None|true|false|\d+)\b"

KINDS = (
    Kind("price", lambda t: t.is_prose, r"\$\d+\.\d+", lambda m: "$59.50"),
    Kind("number", lambda t: t.is_prose, r"(?<![\w.,-])\d{1,5}(?![\w.,-])", _up),
    Kind("flag name", lambda t: True, r"(?<![\w-])--[a-z][a-z-]{2,}", lambda m: f"{m[0]}s"),
    Kind("default value", _is_default, _DEFAULT, _default),
    Kind(
        "not inserted", lambda t: t.is_prose, rf"\b(?:{_WORDS})(?= [a-z])", lambda m: f"{m[0]} not"
    ),
    Kind("not removed", lambda t: t.is_prose, r"\bnot ", lambda m: ""),
    Kind(
        "operator",
        lambda t: t.is_code,
        rf"(?<=\s)(?:{_SIGNS})(?=\s)|^(?:{_SIGNS})$",
        lambda m: _OPERATORS[m[0]],
    ),
    Kind("version", lambda t: t.is_prose, _VERSION, _up),
    Kind("date in prose", lambda t: not t.is_code, _DATE, _up),
    Kind("code token", lambda t: t.is_code, r"(?<!\w)[A-Za-z_]\w{2,}(?!\w)", lambda m: f"{m[0]}x"),
    Kind("table cell", lambda t: t.is_in("td"), r"\w+(?=\W*$)", lambda m: f"{m[0]}2"),
)
RARE = frozenset({"flag name", "date in prose"})
"""Kinds that few pages have a place for: the page is not parsed if its HTML has no match."""


def parsed(html: str) -> HtmlElement:
    """Return the root of a page."""
    parser = lxml.html.HTMLParser(encoding="utf-8")
    return lxml.html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)


def written(root: HtmlElement) -> bytes:
    """Return a page as bytes."""
    found = lxml.html.tostring(root, encoding="utf-8", doctype="<!DOCTYPE html>")
    assert isinstance(found, bytes)
    return found


def texts(root: HtmlElement, theme: Theme) -> list[Text]:
    """Return the text nodes of the main content, without those of the theme's own parts."""
    found = root.cssselect(theme.main)
    if not found:
        return []
    main = found[0]
    own = {el for selector in theme.chrome for el in main.cssselect(selector)}
    nodes = [
        Text(el, name)
        for el in main.iter()
        for name in ("text", "tail")
        if isinstance(el.tag, str) and getattr(el, name) and (el is not main or name == "text")
    ]
    return [
        node
        for node in nodes
        if not any(around in own or around.tag in UNSEEN for around in node.within())
    ]


def edit(html: str, theme: Theme, kind: Kind, random: Random) -> tuple[bytes, bytes, str] | None:
    """Return a page before and after one edit, and the edit in words; None if it has no place."""
    if kind.name in RARE and not re.search(kind.pattern, html):
        return None
    root = parsed(html)
    nodes = texts(root, theme)
    if kind.name == "price":
        prose = [node for node in nodes if node.is_prose and node.el.tag == "p"]
        if not prose:
            return None
        random.choice(prose).append(PRICE)
    places = [
        (node, match)
        for node in nodes
        if kind.fits(node)
        for match in re.finditer(kind.pattern, node.value)
    ]
    if not places:
        return None
    before = written(root)
    node, match = random.choice(places)
    new = kind.replacement(match)
    setattr(node.el, node.name, node.value[: match.start()] + new + node.value[match.end() :])
    return before, written(root), f"{match[0]!r} -> {new!r} in {node.value.strip()[:60]!r}"


def retarget(html: str, theme: Theme, random: Random) -> tuple[bytes, bytes, str] | None:
    """Return a page before and after the target of one link in its main content is another."""
    root = parsed(html)
    main = next(iter(root.cssselect(theme.main)), None)
    if main is None:
        return None
    own = {el for selector in theme.chrome for el in main.cssselect(selector)}
    links = [
        el
        for el in main.iter("a")
        if (el.get("href") or "#")[0] != "#"
        and el.text_content().strip()
        and not any(around in own for around in [el, *el.iterancestors()])
        and not any(around.tag in {"dt", "h1", "h2", "h3", "h4"} for around in el.iterancestors())
    ]
    if not links:
        return None
    before = written(root)
    link = random.choice(links)
    link.set("href", f"https://elsewhere.example.com/{random.randrange(1000)}")
    return before, written(root), f"target of {link.text_content().strip()[:40]!r}"


def redate(html: str, theme: Theme) -> tuple[bytes, bytes, str] | None:
    """Return a page before and after each number that the theme writes of the build is another."""
    root = parsed(html)
    before, count = written(root), 0
    for place in {el for selector in theme.facts for el in root.cssselect(selector)}:
        for el in place.iter():
            for name in ("text", "tail"):
                value = str(getattr(el, name) or "")
                if re.search(r"\d", value) and not (el is place and name == "tail"):
                    setattr(el, name, re.sub(r"\d+", _up, value))
                    count += 1
    return (before, written(root), f"{count} texts") if count else None
