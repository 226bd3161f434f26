"""Real edits of a page, beside its noise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from freshcrawl.extract import extract

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from freshcrawl.core.blocks import Block

_TRIES = 5
_PLACES = {
    "words of the noisy block": re.compile("(?<=MARKOFNOISE)"),
    "word": re.compile(r"(?<=<p>)([A-Z][a-z]{2,}) (?=[a-z])"),
    "number": re.compile(r"(?<=[ >])(\d+(?:\.\d+)*)(?=[ .,<])"),
    "code token": re.compile(r'(?<=<span class="n">)(\w+)(?=</span>)'),
    "negation": re.compile(r"\b(is|are|can|will|must) (?=[a-z])"),
    "link target": re.compile(r'(?<=href=")([^":#]+\.html)(?=")'),
}
_INTO = {
    "words of the noisy block": " No support after this.",
    "word": "Nearly ",
    "number": "97",
    "code token": "other_name",
    "negation": "is not ",
    "link target": "elsewhere.html",
}


BESIDE = tuple(_PLACES)


def edited(
    html: str, before: Sequence[Block], kind: str, rng: random.Random, url: str
) -> list[Block] | None:
    """Return the main text after one edit of ``html``, None if there is nothing of the kind.

    ``before`` is its main text as it is.
    """
    old = [block.text for block in before]
    places = list(_PLACES[kind].finditer(html))
    for match in rng.sample(places, min(len(places), _TRIES)):
        found = extract(html[: match.start()] + _INTO[kind] + html[match.end() :], url).blocks
        if [block.text for block in found] != old:
            return found
    return None
