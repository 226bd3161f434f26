"""Markdown with marked links, so that text with and without targets is made in one go.

While blocks are built a link is ``LINK label SEP url END`` and an image is
``IMAGE alt SEP url END``, in non-characters that `dom.parse` takes out of
every page; `display` and `bare` turn the result into the two texts.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LINK, IMAGE, SEP, END, BREAK = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4"
_IMAGE = re.compile(f"{IMAGE}([^{SEP}]*){SEP}([^{END}]*){END}")
_LINK = re.compile(f"{LINK}([^{SEP}]*){SEP}([^{END}]*){END}")
_SPACE = re.compile(r"\s+")
_BREAK = re.compile(f" ?{BREAK} ?")
_PARAGRAPHS = re.compile(r"\n{2,}")
_TICKS = re.compile("`+")
# Soft hyphens and zero-width characters: hints for line breaking, not text.
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_URL_ESCAPES = str.maketrans(
    {" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "|": "%7C", "`": "%60"}
)


def link(label: str, url: str) -> str:
    """Return a marked link."""
    return f"{LINK}{label}{SEP}{url.translate(_URL_ESCAPES)}{END}"


def image(alt: str, url: str) -> str:
    """Return a marked image."""
    return f"{IMAGE}{alt}{SEP}{url.translate(_URL_ESCAPES)}{END}"


def display(text: str) -> str:
    """Return Markdown with link targets."""
    return _LINK.sub(r"[\1](\2)", _IMAGE.sub(r"![\1](\2)", text))


def bare(text: str) -> str:
    """Return Markdown without link targets."""
    return _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))


def fold(raw: str) -> str:
    """Return inline Markdown in NFC with white space folded and breaks as newlines."""
    text = _SPACE.sub(" ", raw)
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    return _BREAK.sub("\n", text).strip() if BREAK in text else text.strip()


def one_line(raw: str) -> str:
    """Return inline Markdown on one line."""
    return fold(raw.replace(BREAK, " "))


def paragraphs(raw: str) -> list[str]:
    """Return the folded paragraphs of a run; two breaks in a row part them."""
    return [part for part in _PARAGRAPHS.split(fold(raw)) if part]


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def code_span(text: str) -> str:
    """Return ``text`` as inline code, ``""`` for white space."""
    text = one_line(text)
    if not text:
        return ""
    ticks = "`" * (1 + _longest_ticks(text))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(code: str, language: str) -> str:
    """Return a fenced block whose fence is longer than any run of backticks inside."""
    ticks = "`" * max(3, 1 + _longest_ticks(code))
    return f"{ticks}{language}\n{code}\n{ticks}"


def around(raw: str, make: Callable[[str], str]) -> str:
    """Return ``raw`` with what is between its outer white space made into something else."""
    inner = raw.strip()
    if not inner:
        return raw
    start = raw[: len(raw) - len(raw.lstrip())]
    return f"{start}{make(inner)}{raw[len(raw.rstrip()) :]}"


def indent(text: str, by: str) -> str:
    """Return ``text`` with its lines after the first indented, blank ones left blank."""
    head, *rest = text.split("\n")
    return "\n".join([head, *(by + line if line else line for line in rest)])


def quote(text: str) -> str:
    """Return ``text`` as a blockquote."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))
