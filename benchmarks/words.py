"""Words of text and Markdown, so written that both compare fairly.

Typographic quotes and dashes, Markdown's escapes and marks, link targets and
fences make no difference, wherever the text comes from.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Gram: TypeAlias = tuple[str, ...]
SIZE = 4
"""Words of a gram."""
_FENCE = re.compile(r"^[ >\t]*(?:```+|~~~+).*$", re.MULTILINE)
_LINK = re.compile(
    r"!?\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]"
    r"\((?:<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_BREAK = re.compile(r"<br\s*/?>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKS = re.compile("[*`~¶\u00ad\u200b\u2060\ufeff]")
_WORD = re.compile(r"[^\W_]+")
_ARROW = re.compile("→|⇒|=>")


def plain(text: str) -> str:
    """Return text or Markdown without marks, escapes, fences and link targets."""
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", _FENCE.sub("", text)))  # an image in a link
    text = _ESCAPE.sub(r"\1", _BREAK.sub(" ", text))
    return _MARKS.sub("", unicodedata.normalize("NFKC", html.unescape(text)))


def words(text: str) -> list[str]:
    """Return the runs of letters and digits of text or Markdown."""
    return _WORD.findall(plain(text))


def compact(line: str) -> str:
    """Return a line without white space and marks, as signatures are compared."""
    return "".join(_ARROW.sub("->", plain(line)).split())


def grams(tokens: Sequence[str], size: int = SIZE) -> list[Gram]:
    """Return all runs of ``size`` words, in order."""
    return [tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)]


def block_grams(texts: Iterable[str]) -> Counter[Gram]:
    """Return the grams of each text by itself; a shorter text is one shorter gram."""
    counts: Counter[Gram] = Counter()
    for tokens in map(words, texts):
        counts.update(grams(tokens, min(SIZE, len(tokens))) if tokens else [])
    return counts
