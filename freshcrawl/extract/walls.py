"""Pages that stand in front of the one that was asked for: challenge, login, consent, maintenance.

Each needs a mark that only such a page has, and next to no main content: documentation
about these things has the words, but not the elements, or has more to say.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshcrawl.extract import wall_marks as marks
from freshcrawl.extract.dom import Element, classes, climb, tag_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_WORDS = 250
"""Words of main content above which a page is never a wall (Anubis explains itself in 200)."""
CAPTCHA_MAX = 60
LOGIN_MAX = 60
LOGIN_MAX_IN_THEME = 25
"""The same in the layout of a documentation generator, which a login form may be part of."""
SSO_MAX = 40
CONSENT_MIN = 20
CONSENT_REST = 5
"""Words of main content that a consent wall may have beside its form."""
CLOSED_MAX = 80
CLOSED_LINKS = 5
CLOSED_SIGNS = 2
SCRIPT_READ = 50_000
CHALLENGE, LOGIN, CONSENT, CLOSED = (
    *("bot challenge", "login form", "consent wall"),
    "maintenance page",
)
_WORD = re.compile(r"\w+")
_DATA = "json"
_UNSEEN = frozenset({"script", "style", "noscript", "template"})


@dataclass(frozen=True, slots=True)
class Main:
    """What the extraction found on the page."""

    text: str
    themed: bool
    """A documentation generator's own rule found the main content."""
    prose: bool
    """There is nothing but headings, paragraphs and lists."""

    @property
    def words(self) -> int:
        """Number of words."""
        return len(_WORD.findall(self.text))


def find_wall(root: Element, main: Main) -> tuple[str, str]:
    """Return which kind of wall a page is and the sign for it, two empty texts for none.

    Only for pages of at most ``MAX_WORDS``.
    """
    titles = _titles(root)
    tests: tuple[tuple[str, Callable[[Element, Main, list[str]], str]], ...] = (
        (CHALLENGE, _challenge),
        (LOGIN, _login),
        (CONSENT, _consent),
        (CLOSED, _closed),
    )
    found = ((kind, test(root, main, titles)) for kind, test in tests)
    return next(((kind, sign) for kind, sign in found if sign), ("", ""))


def _titles(root: Element) -> list[str]:
    return [text for el in root.iter("title", "h1", "h2") if (text := text_of(el))][:4]


def _challenge(root: Element, main: Main, titles: list[str]) -> str:
    for el in root.iter("script", "iframe"):
        frame, kind = tag_of(el) == "iframe", (el.get("type") or "").lower()
        text = "" if frame or _DATA in kind else (el.text or "")[:SCRIPT_READ]
        source = f"{el.get('src') or ''} {text}".lower()
        known = marks.FRAMES if frame else marks.SCRIPTS
        for mark, name in known.items():
            if mark in source:
                return f"{name}: {mark}"
    for el in root.iter():
        if (name := marks.CHALLENGE_IDS.get(el.get("id") or "", "")) != "":
            return f"{name}: #{el.get('id')}"
    asked = next(filter(marks.CHECK_TITLE.search, titles), "")
    if asked and not main.themed and main.words <= CAPTCHA_MAX:
        return next((f"{asked!r} with {mark}" for mark in _captchas(root)), "")
    return ""


def _captchas(root: Element) -> Iterator[str]:
    for el in root.iter("div", "script", "iframe"):
        place = f"{el.get('class') or ''} {el.get('src') or ''}"
        yield from (mark for mark in marks.CAPTCHAS if mark in place)


def _login(root: Element, main: Main, titles: list[str]) -> str:
    most = LOGIN_MAX_IN_THEME if main.themed else LOGIN_MAX
    fields = (el for el in root.iter("input") if (el.get("type") or "").lower() == "password")
    if main.words <= most and not all(map(_beside, fields)):
        return "a password field"
    named = next(filter(marks.LOGIN_TITLE.match, titles), "")
    if named and not main.themed and main.words <= SSO_MAX and _asks_who(root):
        return f"a form below {named!r}"
    return ""


def _asks_who(root: Element) -> bool:
    for el in root.iter("form", "div", "a"):
        place = el.get("action") if tag_of(el) == "form" else el.get("href")
        if (el.get("id") or "") in marks.LOGIN_IDS and not _beside(el):
            return True
        if place and marks.LOGIN_ACTION.search(place) and not _beside(el):
            return True
    return False


def _beside(el: Element) -> bool:
    """Tell whether an element is in a bar, a menu or an example of a page, or is not shown."""
    return any(
        tag_of(around) in marks.BESIDE
        or not marks.BESIDE_CLASSES.isdisjoint(classes(around))
        or around.get("hidden") is not None
        or around.get("aria-hidden") == "true"
        for around in (el, *climb(el, 100))
    )


def _consent(root: Element, main: Main, titles: list[str]) -> str:
    if main.themed:
        return ""
    asked: Counter[str] = Counter()
    for el in _consent_boxes(root):
        asked |= Counter(_seen_words(el))
    rest = Counter(_WORD.findall(main.text.lower())) - asked
    if any(Counter(_seen_words(el)) - asked for el in root.iter("h1")):
        return ""  # a page of its own, however short, under a banner
    if asked.total() >= CONSENT_MIN and rest.total() <= CONSENT_REST:
        return "nothing but a question for consent"
    return ""


def _consent_boxes(root: Element) -> Iterator[Element]:
    for el in root.iter("div", "form", "section", "dialog", "aside", "main"):
        named = el.get("id") in marks.CONSENT_IDS or any(
            token in marks.CONSENT_CLASSES for token in classes(el)
        )
        if named or (tag_of(el) == "form" and marks.CONSENT_ACTION.search(el.get("action") or "")):
            yield el
    for el in root.iter("button", "input", "a"):
        label = el.get("value") or "" if tag_of(el) == "input" else text_of(el)
        if marks.CONSENT_BUTTON.fullmatch(label.strip()):
            yield from _question(el)


def _question(button: Element) -> Iterator[Element]:
    """Yield the smallest element around a button that is long enough, if it is about consent."""
    for around in climb(button, 12):
        words = _seen_words(around)
        if len(words) >= CONSENT_MIN:
            if marks.CONSENT_WORDS.search(" ".join(words)):
                yield around
            return


def _seen_words(el: Element) -> list[str]:
    texts = (
        text
        for part in el.iter()
        if tag_of(part) not in _UNSEEN
        for text in (part.text, *(child.tail for child in part))
        if text
    )
    return [word for text in texts for word in _WORD.findall(text.lower())]


def _closed(root: Element, main: Main, titles: list[str]) -> str:
    named = next(filter(marks.CLOSED_TITLE.search, titles), "")
    if not named or main.themed or not main.prose or main.words > CLOSED_MAX:
        return ""
    signs = {found.lower() for found in marks.CLOSED_WORDS.findall(main.text)}
    hrefs = {el.get("href") or "" for el in root.iter("a")}
    links = [href for href in hrefs if href and not href.startswith(("#", "mailto:", "tel:"))]
    if len(signs) >= CLOSED_SIGNS and len(links) <= CLOSED_LINKS:
        return repr(named)
    return ""
