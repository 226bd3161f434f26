"""Admonitions, version notes, quotes and disclosure summaries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from freshcrawl.extract.blocks import quoted, strong
from freshcrawl.extract.dom import HEADINGS, Element, classes, first, remove, tag_of
from freshcrawl.extract.inline import content, plain

if TYPE_CHECKING:
    from freshcrawl.core.blocks import Block
    from freshcrawl.extract.blocks import Scope

_KINDS = {
    "note": "Note", "info": "Info", "tip": "Tip", "hint": "Hint", "important": "Important",
    "warning": "Warning", "caution": "Caution", "danger": "Danger", "attention": "Attention",
    "error": "Error", "seealso": "See also", "success": "Success",
}  # fmt: skip
_BOXES = frozenset({
    "admonition", "admonitionblock", "theme-admonition", "custom-block", "markdown-alert", "alert",
    "callout", "hint-container", "starlight-aside", "topic", "sidebar", "system-message",
})  # fmt: skip
_VERSIONS = frozenset({
    "versionadded", "versionchanged", "versionremoved", "deprecated", "deprecation-block",
})  # fmt: skip
_TITLES = re.compile(
    r"(?:admonition|custom-block|markdown-alert|alert|callout|sidebar|topic|hint-container"
    r"|starlight-aside)"
    r"[-_]+(?:title|heading)|title|(?:admonitionHeading|admonition-heading)(?:_\w+)?"
)
_TAGS = frozenset({"div", "aside", "section", "details", "blockquote"})


def is_admonition(el: Element) -> bool:
    """Tell whether an element is a box of its own: a note, a warning, a sidebar."""
    if tag_of(el) not in _TAGS:
        return False
    tokens = set(classes(el))
    boxed = not tokens.isdisjoint(_BOXES) or not tokens.isdisjoint(_KINDS)
    return boxed and first(el, "h1", "h2") is None  # else it is a part of the page's layout


def is_version_note(el: Element) -> bool:
    """Tell whether an element says since when something is there, changed or deprecated."""
    return tag_of(el) == "div" and not _VERSIONS.isdisjoint(classes(el))


def admonition(el: Element, scope: Scope) -> list[Block]:
    """Return a box as quotes under its title."""
    title = _take_title(el)
    body = next((cell for cell in el.iter("td") if "content" in classes(cell)), el)
    if len(body) == 1 and tag_of(body[0]) == "blockquote":  # else it would be quoted twice
        body = body[0]
    return quoted(scope.walk(body, scope.deeper()), "admonition", title)


def version_note(el: Element, scope: Scope) -> list[Block]:
    """Return a version note as a quote."""
    return quoted(scope.walk(el, scope.deeper()), "admonition")


def blockquote(el: Element, scope: Scope) -> list[Block]:
    """Return a quotation; mdBook and GitHub write admonitions as one."""
    if is_admonition(el):
        return admonition(el, scope)
    return quoted(scope.walk(el, scope.deeper()), "quote")


def summary(el: Element, scope: Scope) -> list[Block]:
    """Return the summary of a disclosure: its blocks, or its text in bold."""
    if first(el, "p", "div", "section", "ul", "pre", "table", *HEADINGS) is not None:
        return scope.walk(el, scope.deeper())
    return strong(content(el, scope.style))


def _take_title(el: Element) -> str:
    """Remove the title from a box and return it; its label or kind if there is none."""
    for child in _first_parts(el):
        named = any(map(_TITLES.fullmatch, classes(child))) or tag_of(child) == "summary"
        if named and (title := plain(child).rstrip(":")):
            remove(child)
            return title
    kinds = (_KINDS[token] for token in classes(el) if token in _KINDS)
    return (el.get("aria-label") or "").strip() or next(kinds, "")


def _first_parts(el: Element) -> list[Element]:
    """Return where a title can be: the first children, and one level further in."""
    parts: list[Element] = []
    for child in list(el)[:2]:
        parts += [child, *list(child)[:2]]
    return parts + [part for part in el.iter("div") if "title" in classes(part)][:1]
