"""Why a request got no answer, in words."""

from __future__ import annotations

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

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


def test_long_details_are_cut() -> None:
    assert len(in_words(ValueError("x" * 1000))) < 200


def test_what_openssl_says(tmp_path) -> None:
    with Origin() as origin:
        origin["/"] = page("Start", "text")
        wrong = origin.url.replace("http:", "https:")
        scrapy("crawl", "docs", "-a", f"url={wrong}", state=tmp_path)
    [reason, _] = report(tmp_path)["incomplete_reasons"]
    assert reason == "robots.txt unavailable (the connection failed: wrong version number)"
