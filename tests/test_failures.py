"""Why a request got no answer, in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from OpenSSL import SSL
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed, ResponseNeverReceived

from freshcrawl.failures import in_words
from freshcrawl.robots import RobotsForbidden
from tests.support.origin import Origin, page
from tests.support.project import report, scrapy


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (CannotResolveHostError("DNS lookup failed"), "the name of the host was not found"),
        (DownloadConnectionRefusedError("111"), "the connection was refused"),
        (DownloadTimeoutError(), "no answer in time"),
        (TimeoutError(), "no answer in time"),
        (ResponseDataLossError(), "the answer was cut short"),
        (RobotsForbidden("disallowed by robots.txt"), "disallowed by robots.txt"),
        (RobotsForbidden(), "RobotsForbidden"),
        (ValueError("first line.\nsecond"), "ValueError: first line"),
        (
            RuntimeError("start() must be awaited before launch_browser()"),
            "the driver of the browser does not start: `python -m playwright --version` says why; "
            "on Debian it needs libatomic1",
        ),
        (None, "no answer"),
    ],
)
def test_words(error: BaseException | None, words: str) -> None:
    assert in_words(error) == words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SSL.Error([("SSL routines", "", "wrong version number")]), "wrong version number"),
        (SSL.Error([("", "", "one"), ("", "", "two")]), "one, two"),
        (SSL.SysCallError(-1, "Unexpected EOF"), "Unexpected EOF"),
        (SSL.SysCallError(104, "ECONNRESET"), "ECONNRESET"),
        (SSL.ZeroReturnError(), ""),
        (SSL.Error([]), ""),
        (SSL.Error([()]), ""),
        (SSL.Error("plain"), "plain"),
        (SSL.WantReadError(), ""),
    ],
)
def test_what_openssl_may_say(error: SSL.Error, words: str) -> None:
    failed = DownloadFailedError("[<twisted.python.failure.Failure>]")
    failed.__cause__ = ResponseNeverReceived([Failure(error)])
    assert in_words(failed) == f"the connection failed: {words}".removesuffix(": ")


class Untellable(Exception):
    """An error whose text is an error."""

    def __str__(self) -> str:
        raise ValueError("no")


KINDS = (
    *(SSL.Error, SSL.SysCallError, SSL.ZeroReturnError, DownloadFailedError, IgnoreRequest),
    *(OSError, UnicodeError, Untellable, KeyError, TimeoutError),
)
ARGS = st.recursive(
    st.none() | st.integers() | st.text() | st.binary() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner, inner) | st.tuples(),
    max_leaves=5,
)


@given(st.sampled_from(KINDS), st.lists(ARGS, max_size=5), st.booleans(), st.booleans())
def test_any_error_has_one_line(
    kind: type[BaseException], args: list[Any], inside: bool, wrapped: bool
) -> None:
    """An error that had none would leave its page without an outcome."""
    error = kind(*args)
    if inside:
        outer = DownloadFailedError("outer")
        outer.__cause__ = ResponseFailed([Failure(error) if wrapped else error])
        error = outer
    words = in_words(error)
    assert words
    assert "\n" not in words
    assert len(words) < 250


def test_long_details_are_cut() -> None:
    assert len(in_words(ValueError("x" * 1000))) < 200


def test_what_openssl_says(tmp_path) -> None:
    with Origin() as origin:
        origin["/"] = page("Start", "text")
        wrong = origin.url.replace("http:", "https:")
        scrapy("crawl", "docs", "-a", f"url={wrong}", state=tmp_path)
    [reason, _] = report(tmp_path)["incomplete_reasons"]
    assert reason == "robots.txt unavailable (the connection failed: wrong version number)"
