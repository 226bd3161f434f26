"""Why a request got no answer, in words for reports and explanations."""

from __future__ import annotations

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)

WORDS: dict[type[BaseException], str] = {
    CannotResolveHostError: "the name of the host was not found",
    DownloadConnectionRefusedError: "the connection was refused",
    DownloadTimeoutError: "no answer in time",
    ResponseDataLossError: "the answer was cut short",
}
MAX_DETAIL = 150


def in_words(error: BaseException | None) -> str:
    """Return one short line on what kept a request from being answered."""
    for kind, words in WORDS.items():
        if isinstance(error, kind):
            return words
    detail = str(error or "").partition("\n")[0][:MAX_DETAIL]
    if isinstance(error, IgnoreRequest) and detail:
        return detail
    name = "the connection failed" if isinstance(error, DownloadFailedError) else _name(error)
    return f"{name} ({detail})" if detail else name


def _name(error: BaseException | None) -> str:
    return "no answer" if error is None else type(error).__name__
