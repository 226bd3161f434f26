"""Bodies of sitemaps and robots.txt as a parser wants them: without gzip, UTF-8."""

from __future__ import annotations

import re
import zlib
from io import BytesIO

MAX_BYTES = 64 * 2**20
"""Most that is read of one sitemap, after decompression."""

_GZIP = b"\x1f\x8b"
_GZIP_LAYERS = 2
_PIECE = 2**16
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_DECLARATION = re.compile(rb"\s*<\?xml\s[^>]*?\?>")


def decompress(body: bytes) -> tuple[bytes, str]:
    """Return the body without its layers of gzip, and what was wrong with them."""
    problem = ""
    for _ in range(_GZIP_LAYERS):
        if body.startswith(_GZIP):
            body, cut = _gunzip(body)
            problem = problem or cut
    if len(body) > MAX_BYTES:
        return body[:MAX_BYTES], "too large"
    return body, problem


def _gunzip(body: bytes) -> tuple[bytes, str]:
    """Return at most one byte more than ``MAX_BYTES``, and "truncated" for a broken file."""
    out = bytearray()
    while body.startswith(_GZIP) and len(out) <= MAX_BYTES:
        unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
        source = BytesIO(body)
        try:
            while not unzip.eof and len(out) <= MAX_BYTES:
                piece = unzip.unconsumed_tail or source.read(_PIECE)
                if not piece:
                    return bytes(out), "truncated"
                out += unzip.decompress(piece, MAX_BYTES + 1 - len(out))
        except zlib.error:
            return bytes(out), "truncated"
        body = unzip.unused_data + source.read()  # a gzip file can have several members
    return bytes(out), ""


def as_utf8(data: bytes) -> bytes:
    """Return ``data`` without its byte order mark, UTF-16 as UTF-8; else as it is."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _transcode(data[len(bom) :], encoding)
    if b"\0" in data[:4]:
        return _transcode(data, "utf-16-be" if data[:1] == b"\0" else "utf-16-le")
    declaration = _DECLARATION.match(data)
    if declaration and b"utf-16" in declaration[0].lower():  # it would not be readable then
        return data[declaration.end() :]
    return data


def _transcode(data: bytes, encoding: str) -> bytes:
    """Return ``data`` as UTF-8, without the declaration, which would now be wrong."""
    if encoding != "utf-8":
        data = data.decode(encoding, "replace").encode()
    return _DECLARATION.sub(b"", data, count=1) if _DECLARATION.match(data) else data
