"""What an OpenAI-compatible embeddings endpoint answers: its vectors checked, its words cleaned."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from freshcrawl.stores.base import Matrix

    Vector = npt.NDArray[np.float64]

WORDS_CHARS = 200
"""What is shown of an endpoint's own error message at most."""
SHOWN_INSTEAD = "***"
PART_CHARS = 8
"""A word of a message that has so many characters in a row of the key is not shown."""
SHORTEST = 1e-30
"""Length below which a vector is one of zeros."""
LENGTH_1 = 1e-6
"""Vectors whose length is this near to 1 are taken as they are."""


PASSING_STATUS = frozenset({408, 425, 429})
FEWER_STATUS = frozenset({400, 413, 422})
"""Fewer texts may be taken: all at once are too many, or one of them is too long."""
ADVICE = {
    400: "look at FRESHCRAWL_CHUNK_TOKENS and FRESHCRAWL_EMBED_DIMENSION",
    401: "look at FRESHCRAWL_EMBED_API_KEY",
    403: "look at FRESHCRAWL_EMBED_API_KEY",
    404: "look at FRESHCRAWL_EMBED_URL and FRESHCRAWL_EMBED_MODEL",
    413: "look at FRESHCRAWL_CHUNK_TOKENS",
    422: "look at FRESHCRAWL_CHUNK_TOKENS and FRESHCRAWL_EMBED_DIMENSION",
}
"""What a person can do about a status."""


class ReplyError(Exception):
    """A reply cannot be used; the message says why. ``again``: the next one may be better."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


def read_vectors(body: bytes, count: int, dimension: int = 0) -> Matrix:
    """Return the vectors of ``count`` texts in their order: float32 rows of length 1.

    Args:
        body: the reply, ``{"data": [{"index": 0, "embedding": [...]}, ...]}``; an embedding may
            also be the base64 of little-endian float32.
        count: number of texts, at least 1.
        dimension: expected length of a vector; 0: any, but that of all.

    Raises:
        ReplyError: the reply is not that; another ``dimension`` of all of them comes not by
            accident, so that is not to be tried again.
    """
    rows = [_numbers(item.get("embedding")) for item in _in_order(_items(body), count)]
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1 or not lengths[0]:
        raise ReplyError(f"vectors of {' and '.join(map(str, lengths))} numbers")
    if dimension and lengths != [dimension]:
        raise ReplyError(f"vectors of {lengths[0]} numbers, not {dimension}", again=False)
    return _normalised(rows)


def is_passing(status: int) -> bool:
    """Tell whether the same request may be answered soon."""
    return status in PASSING_STATUS or status >= 500


def refusal(status: int, words: str, characters: int) -> str:
    """Return in one line what a status that is no success means.

    Args:
        status: status of the answer.
        words: the server's own, as ``server_words`` gives them.
        characters: length of the text that was sent, where fewer texts were of no use.
    """
    if 300 <= status < 400:
        return f"answered {status}, a redirect, which is not followed: look at FRESHCRAWL_EMBED_URL"
    said = f"answered {status}" + (f" ({words})" if words else "")
    if status in FEWER_STATUS:
        said += f" to one text of {characters:,} characters"
    return said + (f": {ADVICE[status]}" if status in ADVICE else "")


def server_words(body: bytes, secret: str) -> str:
    """Return an endpoint's own error message in one short line without ``secret``; "" for none.

    It is looked for where OpenAI, vLLM, TEI, Ollama and FastAPI put theirs.
    """
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(reply, dict):
        return ""
    error = reply.get("error")
    places = [*((error.get("message"),) if isinstance(error, dict) else (error,))]
    places += [reply.get("message"), reply.get("detail")]
    text = next((found for place in places if (found := _text_of(place))), "")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = _without(line, secret)
    return line if len(line) <= WORDS_CHARS else line[: WORDS_CHARS - 3] + "..."


def _text_of(value: Any) -> str:
    """Return what is said: by text, or by the list that FastAPI makes of what is invalid."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0].get("msg")
    return value if isinstance(value, str) else ""


def _without(line: str, secret: str) -> str:
    """Return a line without a secret, and without the words that have a part of it."""
    if not secret:
        return line
    line = re.sub(re.escape(secret), SHOWN_INSTEAD, line, flags=re.IGNORECASE)
    size = min(PART_CHARS, len(secret))
    parts = {secret[at : at + size].lower() for at in range(len(secret) - size + 1)}

    def shown(word: re.Match[str]) -> str:
        text = word[0].lower()
        found = any(text[at : at + size] in parts for at in range(len(text) - size + 1))
        return SHOWN_INSTEAD if found else word[0]

    return re.sub(r"[^\s\"'`,;()<>]+", shown, line)


def _items(body: bytes) -> list[dict[str, Any]]:
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        raise ReplyError("the answer is no JSON, or cut off") from None
    items = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ReplyError("the answer has no list of embeddings")
    return items


def _in_order(items: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    if len(items) != count:
        raise ReplyError(f"{_counted(len(items), 'vector')} for {_counted(count, 'text')}")
    if count == 1 and "index" not in items[0]:
        return list(items)  # there is nothing to take it for
    found: dict[int, dict[str, Any]] = {}
    for item in items:
        index = item.get("index")
        if type(index) is not int:
            raise ReplyError("a vector without the index of its text")
        if index not in range(count):
            raise ReplyError(f"a vector of text {index}, of {_counted(count, 'text')} from 0")
        if index in found:
            raise ReplyError(f"two vectors of text {index}")
        found[index] = item
    return [found[index] for index in range(count)]


def _numbers(value: Any) -> Vector:
    """Return one vector as it was sent."""
    import numpy as np

    if isinstance(value, str):
        try:
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float64)
        except (binascii.Error, ValueError):
            raise ReplyError("a vector that is text, and no base64 of float32") from None
    if not isinstance(value, list) or not set(map(type, value)) <= {int, float}:
        raise ReplyError("a vector that is no list of numbers")
    try:
        return np.array(value, dtype=np.float64)
    except OverflowError:
        raise ReplyError("a vector with infinite numbers") from None


def _normalised(rows: Sequence[Vector]) -> Matrix:
    import numpy as np

    matrix = np.stack(rows)
    if not np.isfinite(matrix).all():
        raise ReplyError("a vector with numbers that are none, or infinite")
    with np.errstate(over="ignore", under="ignore"):
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if (lengths < SHORTEST).any():
        raise ReplyError("a vector of zeros")
    if not np.isfinite(lengths).all():
        raise ReplyError("a vector with numbers that are too large")
    # A server's own unit vectors stay as they are: rounded again, they would be near them only.
    lengths[np.abs(lengths - 1) < LENGTH_1] = 1
    return np.ascontiguousarray(matrix / lengths, dtype=np.float32)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
