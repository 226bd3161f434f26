"""64-bit simhash (Charikar, STOC 2002) over word 3-shingles: how alike two texts are."""

from __future__ import annotations

import re
from hashlib import blake2b

import numpy as np

SHINGLE = 3
OTHER_BITS = 14
"""Bits in which texts differ that have next to nothing in common; half of 64 by chance."""

_MASK = (1 << 64) - 1
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Chinese and Japanese put no space between words, so that each of their characters is one.
_WORD = re.compile(f"[{_IDEOGRAPHS}]|[^\\W{_IDEOGRAPHS}]+")


def simhash(text: str) -> int:
    """Return the simhash of ``text``: a signed 64-bit integer, as SQLite stores it.

    Case and punctuation do not count. A text without words has 0.
    """
    shingles = _shingles(_WORD.findall(text.lower()))
    if not shingles:
        return 0
    digests = b"".join(blake2b(shingle.encode(), digest_size=8).digest() for shingle in shingles)
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8).reshape(-1, 8), axis=1)
    majority = bits.sum(axis=0, dtype=np.int64) * 2 > len(shingles)
    return int.from_bytes(np.packbits(majority).tobytes(), "big", signed=True)


def hamming(a: int, b: int) -> int:
    """Return in how many bits (0-64) two simhashes differ, signed or not."""
    return ((a ^ b) & _MASK).bit_count()


def _shingles(words: list[str]) -> list[str]:
    """Return runs of three words; a shorter text is one run."""
    if len(words) <= SHINGLE:
        return [" ".join(words)] if words else []
    return [" ".join(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)]
