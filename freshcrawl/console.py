"""What a person sees of a crawl: freshcrawl's own lines, warnings, and a line that redraws."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, TextIO, cast

from scrapy.settings import SETTINGS_PRIORITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

OURS = "freshcrawl"
FALLBACK_COLUMNS = 80


class StatusLine:
    """A terminal's stream with a line at its end that is redrawn in place; any thread may call.

    Stands in for ``sys.stderr``, so that whatever is written there, by whom, takes the line off
    first. It comes back when it is next drawn.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # Not a plain lock: an object that is thrown away while writing may log, too.
        self._lock = RLock()
        self._shown = ""
        self._at_start = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write text as it is, in place of the line."""
        with self._lock:
            self.clear()
            if text:
                self._at_start = text.endswith("\n")
            return self._stream.write(text)

    def draw(self, text: str) -> None:
        """Show a text as the line, cut to the terminal's width; not amid a line of others."""
        with self._lock:
            if not self._at_start:
                return
            room = self._columns() - 1  # in the last column some terminals start another line
            text = text[:room]
            blank = " " * (min(len(self._shown), room) - len(text))
            self._stream.write(f"\r{text}{blank}")
            self._stream.flush()
            self._shown = text

    def clear(self) -> None:
        """Take the line off."""
        with self._lock:
            if self._shown:
                blank = " " * min(len(self._shown), self._columns() - 1)
                self._stream.write(f"\r{blank}\r")
                self._stream.flush()
                self._shown = ""

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or FALLBACK_COLUMNS
        except OSError:
            return FALLBACK_COLUMNS


def is_for_reading(settings: BaseSettings) -> bool:
    """Tell whether the log goes to stderr and nobody chose its level on the command line."""
    chosen = (settings.getpriority("LOG_LEVEL") or 0) >= SETTINGS_PRIORITIES["cmdline"]
    return settings.getbool("LOG_ENABLED") and not settings["LOG_FILE"] and not chosen


def set_up(settings: BaseSettings) -> StatusLine | None:
    """Show freshcrawl's own messages, and warnings of all; call before Scrapy sets up its log.

    Returns the line that redraws if stderr is a terminal, else None.
    """
    line = _taken_over()
    # Scrapy's handler shows the rest; it is made anew for each Crawler, from this setting.
    settings.set("LOG_LEVEL", "WARNING", priority="cmdline")
    logging.getLogger(OURS).addHandler(_own_messages(settings))
    return line


@contextmanager
def shown(settings: BaseSettings) -> Iterator[StatusLine | None]:
    """Show freshcrawl's own messages while a command works that has no log of Scrapy's.

    Gives the line that redraws if stderr is a terminal, else None. Nothing is shown where the
    command line turned the log off or on: then it is as that says.
    """
    chosen = (settings.getpriority("LOG_ENABLED") or 0) >= SETTINGS_PRIORITIES["cmdline"]
    if chosen or settings.getbool("LOG_ENABLED"):
        yield None
        return
    log, stream = logging.getLogger(OURS), sys.stderr
    level, line = log.level, _taken_over()
    warnings = logging.StreamHandler(sys.stderr)
    warnings.setLevel(logging.WARNING)
    warnings.setFormatter(logging.Formatter(f"{OURS}: %(message)s"))
    handlers = (_own_messages(settings), warnings)
    for handler in handlers:
        log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield line
    finally:
        log.setLevel(level)
        for handler in handlers:
            log.removeHandler(handler)
        sys.stderr = stream


def _taken_over() -> StatusLine | None:
    """Put a line that redraws in the place of stderr, if that is a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    line = StatusLine(sys.stderr)
    sys.stderr = cast("TextIO", line)
    return line


def _own_messages(settings: BaseSettings) -> logging.Handler:
    """Return what writes messages below warnings to stderr, with the time where it is a log."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.INFO)
    handler.addFilter(lambda record: record.levelno < logging.WARNING)
    form = "%(message)s" if sys.stderr.isatty() else "%(asctime)s %(message)s"
    handler.setFormatter(logging.Formatter(form, settings["LOG_DATEFORMAT"]))
    return handler
