"""Errors in words: why a request got no answer, and what a failed run logs."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING

from OpenSSL import SSL
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)

from freshcrawl.stores.advice import in_one_line, is_resource
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    import logging

WORDS: dict[type[BaseException], str] = {
    CannotResolveHostError: "the name of the host was not found",
    DownloadConnectionRefusedError: "the connection was refused",
    DownloadTimeoutError: "no answer in time",
    TimeoutError: "no answer in time",
    ResponseDataLossError: "the answer was cut short",
}
USER_INFO = re.compile(r"(?<=//)[^/\s@]*@|\b[^/\s:@]+:[^/\s@]+@(?=[\w.-])")
NO_DRIVER = "start() must be awaited before launch"
"""What scrapy-playwright says of each page once Playwright's driver has failed to start."""
MAX_DETAIL = 150
NO_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


def in_words(error: BaseException | None) -> str:
    """Return one short line on what kept a request from being answered."""
    for kind, words in WORDS.items():
        if isinstance(error, kind):
            return words
    detail = _detail(error)
    if NO_DRIVER in detail:
        return (
            "the driver of the browser does not start: `python -m playwright --version` says why; "
            "on Debian it needs libatomic1"
        )
    if isinstance(error, IgnoreRequest) and detail:
        return detail
    name = "the connection failed" if isinstance(error, DownloadFailedError) else _name(error)
    return f"{name}: {detail}" if detail else name


def _detail(error: BaseException | None) -> str:
    """Return the first line of what an error says, or of the error of Twisted or OpenSSL in it."""
    reasons = getattr(getattr(error, "__cause__", None), "reasons", None)
    inside = reasons if isinstance(reasons, list) else []
    said = getattr(inside[0], "value", error) if inside else error
    try:
        text = _of_openssl(said.args) if isinstance(said, SSL.Error) else str(said or "")
    except Exception:  # an error that cannot be told is one all the same
        text = ""
    text = without_passwords(text.strip().partition("\n")[0])
    return text.rstrip(".")[:MAX_DETAIL]


def _of_openssl(args: tuple[object, ...]) -> str:
    """Return the reasons of an OpenSSL error; empty for one that has none.

    Most have one argument, a list of (library, function, reason); others a number and a text,
    or nothing.
    """
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        parts = [part for part in args[0] if isinstance(part, tuple) and part]
        return ", ".join(str(part[-1]) for part in parts)
    return str(args[-1]) if args else ""


def without_passwords(text: str) -> str:
    """Return ``text`` without the user names and passwords of URLs and hosts in it."""
    return USER_INFO.sub("", text)


def log_failure(logger: logging.Logger, what: str, error: Exception) -> None:
    """Log an error: one line if it says what to do, as a store's does; else with a traceback."""
    unknown = not isinstance(error, (StoreError, OSError, MemoryError))
    told = in_one_line(error)
    logger.error("%(what)s: %(error)s", {"what": what, "error": told}, exc_info=unknown)


def fatal_of(error: BaseException | None) -> Exception | None:
    """Return what of an error and its causes ends a run: a store's, or a want of this machine's.

    Memory, descriptors or space that are missing say nothing of the page at which they were.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, (StoreError, MemoryError)) or is_resource(error):
            return error if isinstance(error, Exception) else None
        number = getattr(error, "osError", None)  # Twisted's, of a connection
        if number in NO_DESCRIPTORS:
            return OSError(number, os.strerror(number))
        error = error.__cause__ or error.__context__
    return None


def _name(error: BaseException | None) -> str:
    return "no answer" if error is None else type(error).__name__
