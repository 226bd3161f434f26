"""Taking out of main content what is not part of it, in one pass over its elements."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from freshcrawl.extract import noise
from freshcrawl.extract.dom import (
    HEADINGS,
    Element,
    classes,
    climb,
    first,
    has_class,
    remove,
    tag_of,
    text_of,
)

if TYPE_CHECKING:
    from freshcrawl.extract.selectors import Rule

_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_WORD = re.compile(r"\w")
_INVISIBLE = re.compile("[\u200b\ufeff\u00ad\ue000-\uf8ff]")  # the last are icon fonts
_KEEP_CODE = frozenset({"pre", "code", "table"})
_TITLED = frozenset({*HEADINGS, "dt"})
_PLAIN_BOXES = frozenset({"div", "aside", "ul", "ol", "table", "p", "span"})
_RELEASE = re.compile(r"[@v]\s?\d+(?:\.\d+)+[\w.+-]*")
_IN_PAGE = frozenset({"article", "main", "section"})
_FOOTER_CONTENT = ("pre", "table", "dl")
_CONTENTS_MIN = 2
_FORM_TEXT = (*HEADINGS, "pre", "article")


def prune(main: Element, rule: Rule) -> None:
    """Remove navigation, controls, permalinks and build facts from ``main``.

    A heading without an id takes over that of its permalink.
    """
    doomed: list[Element] = []
    for el in main.iter():
        if el is main:
            continue
        if el.get("role") == "doc-backlink":
            _unlink(el, doomed)
        elif _is_permalink(el):
            _keep_anchor(el)
            doomed.append(el)
        elif is_noise(el, generic=rule.generic) or has_class(el, rule.noise):
            doomed.append(el)
    for el in doomed:
        remove(el)


def _unlink(backlink: Element, doomed: list[Element]) -> None:
    """Keep the text of a link back, as that of a title to the contents, but not a mere arrow."""
    if _WORD.search(text_of(backlink)):
        backlink.attrib.pop("href", "")
    else:
        doomed.append(backlink)


def is_noise(el: Element, *, generic: bool) -> bool:
    """Tell whether an element is no content; ``generic``: no generator is known."""
    tag = tag_of(el)
    if tag in noise.TAGS or (tag in _BY_TAG and _BY_TAG[tag](el, generic)):
        return True
    if not el.attrib:
        return False
    named = el.get("class")
    if named and tag != "body" and _is_noise_class(named, tag, generic):
        return True
    return _is_noise_id(el, tag, generic) or _is_hidden(el)


def is_page_chrome(el: Element) -> bool:
    """Tell whether ``el`` is, or is in, a header, sidebar or footer of the site."""
    return any(is_noise(around, generic=True) for around in [el, *climb(el, 100)])


@lru_cache(maxsize=8192)
def _is_noise_class(value: str, tag: str, generic: bool) -> bool:
    tokens = value.split()
    if not noise.CLASSES.isdisjoint(tokens) and tag not in _KEEP_CODE:
        return True
    if generic and tag in _PLAIN_BOXES and not noise.GENERIC_CLASSES.isdisjoint(tokens):
        return True
    return any(token.startswith(noise.CLASS_STEMS) for token in tokens)


def _is_noise_id(el: Element, tag: str, generic: bool) -> bool:
    name = el.get("id")
    if not name or tag not in _PLAIN_BOXES or "section" in classes(el):
        return False  # sections are named after their titles: "Sidebar", "Footer"
    return name in noise.IDS or (generic and name in noise.GENERIC_IDS)


def _is_hidden(el: Element) -> bool:
    if el.get("role") in noise.ROLES:
        return True
    style = el.get("style")
    hidden = (
        el.get("hidden") not in {None, "until-found"}
        or el.get("aria-hidden") == "true"
        # Doxygen's trees hide their inner rows until they are unfolded.
        or (style is not None and el.tag != "tr" and _HIDDEN_STYLE.search(style) is not None)
    )
    return hidden and not _is_panel(el)


def _is_panel(el: Element) -> bool:
    """Tell whether an element is a tab's content, which is hidden until chosen."""
    return el.get("role") == "tabpanel" or any(token.startswith("tab") for token in classes(el))


def _is_permalink(el: Element) -> bool:
    tag = tag_of(el)
    if tag != "a" or "#" not in (el.get("href") or ""):
        return tag == "span" and "permalink" in classes(el)
    text = _INVISIBLE.sub("", text_of(el)).strip().lower()
    if text not in noise.PERMALINK_MARKS:
        return "headerlink" in classes(el)
    title = _titled(el)
    if title is not None and text.isalpha() and text_of(title).lower() == text:
        return False  # a title such as "Link" that is a link to itself
    return text in {"¶", "§", "🔗", "↩"} or bool(el.get("class")) or title is not None


def _titled(el: Element) -> Element | None:
    return next((around for around in climb(el, 3) if tag_of(around) in _TITLED), None)


def _keep_anchor(el: Element) -> None:
    title = _titled(el)
    name = el.get("id") or el.get("name") or (el.get("href") or "").partition("#")[2]
    if title is not None and name and not title.get("id"):
        title.set("id", name)


def _header(el: Element, generic: bool) -> bool:
    if not generic or any(tag_of(around) in _IN_PAGE for around in climb(el, 100)):
        return False
    title = first(el, "h1")
    return title is None or first(title, "a") is not None


def _footer(el: Element, generic: bool) -> bool:
    if tag_of(next(climb(el, 1), el)) in {"blockquote", "figure"} or _is_notes(el):
        return False
    return first(el, *_FOOTER_CONTENT) is None and not any(map(_is_notes, el.iter()))


def _is_notes(el: Element) -> bool:
    return el.get("role") == "doc-endnotes" or has_class(el, noise.FOOTNOTES)


def _aside(el: Element, generic: bool) -> bool:
    tokens = classes(el)
    if not noise.BOXES.isdisjoint(tokens) or el.get("role") in {"note", "doc-footnote"}:
        return "contents" in tokens
    if "tsd-sources" in tokens:
        return False
    if "contents" in tokens or first(el, "nav", "form") is not None:
        return True
    return generic and not _is_prose(el)


def _is_prose(el: Element) -> bool:
    """Tell whether an element of a page's content is text rather than links."""
    if not any(tag_of(around) in _IN_PAGE for around in climb(el, 100)):
        return False
    linked = sum(len(text_of(link)) for link in el.iter("a"))
    return 2 * linked < len(text_of(el))


def _source_lines(el: Element, generic: bool) -> bool:
    """TypeDoc's list of lines where something is defined; they move with every edit."""
    around = el.getparent()
    return around is not None and "tsd-sources" in classes(around)


def _list(el: Element, generic: bool) -> bool:
    return _source_lines(el, generic) or (generic and _own_contents(el))


def _own_contents(el: Element) -> bool:
    """Tell a table of contents of the page itself: links to its own parts and nothing else."""
    links = list(el.iter("a"))
    if len(links) < _CONTENTS_MIN or any(not (a.get("href") or "").startswith("#") for a in links):
        return False
    said = sum(len(text_of(link).replace(" ", "")) for link in links)
    return said > 0 and said == len(text_of(el).replace(" ", ""))


def _span(el: Element, generic: bool) -> bool:
    return _code_label(el) or _badge(el, generic)


def _code_label(el: Element) -> bool:
    """The language of a code block, written beside it by VitePress."""
    around = el.getparent()
    return (
        "lang" in classes(el)
        and around is not None
        and any(token.startswith("language-") for token in classes(around))
    )


def _contents(el: Element, generic: bool) -> bool:
    """A docutils table of contents, the only ``div`` that calls itself both."""
    tokens = el.get("class") or ""
    return "contents" in tokens and not {"topic", "local"}.isdisjoint(tokens.split())


def _form(el: Element, generic: bool) -> bool:
    return first(el, *_FORM_TEXT) is None  # some servers wrap whole pages in a form


def _input(el: Element, generic: bool) -> bool:
    item = next((around for around in climb(el, 2) if tag_of(around) == "li"), None)
    return el.get("type") != "checkbox" or item is None or "task-list-item" not in classes(item)


def _link(el: Element, generic: bool) -> bool:
    if len(el) < 3 and text_of(el).lower() in noise.EDIT_LINKS:
        return True
    around = el.getparent()
    if not generic or around is None or tag_of(around) != "header":
        return False
    return any(tag_of(after) == "h1" for after in el.itersiblings())  # the category, above a title


def _badge(el: Element, generic: bool) -> bool:
    """Tell the release that a site puts beside the title of each page: ``npm-audit @11.6.0``."""
    if not generic or "version" not in classes(el) or not _RELEASE.fullmatch(text_of(el)):
        return False
    title = next((around for around in climb(el, 2) if tag_of(around) == "h1"), None)
    return title is not None and text_of(title) != text_of(el)


_BY_TAG = {
    "header": _header,
    "footer": _footer,
    "aside": _aside,
    "div": _contents,
    "form": _form,
    "input": _input,
    "a": _link,
    "span": _span,
    "ul": _list,
    "ol": _list,
}
