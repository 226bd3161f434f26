"""``scrapy query TEXT``: the best passages, with their clocks; ``-`` reads questions from stdin."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import sys
import textwrap
from contextlib import closing
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.asking import Asker
from freshcrawl.clock import make_clock
from freshcrawl.config import ConfigError
from freshcrawl.core.words import when
from freshcrawl.state import make_embedder
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from freshcrawl.answers import Hit

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\([^)\s]*\)")
WIDTH, LINES = 96, 14


class Command(ScrapyCommand):
    """Searches the published index of one or all sites."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] TEXT | -"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Search the index; every answer says when its source was last checked"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        parser.add_argument("-k", type=int, default=5, metavar="N", help="hits (default 5)")
        parser.add_argument(
            "--max-age",
            type=float,
            default=None,
            metavar="SECONDS",
            help="mark hits stale that were not checked for this long",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the hits."""
        lines = args == ["-"]
        cli.refuse_options([] if lines else args)
        text = " ".join(args).strip()
        if not text:
            raise UsageError("give a question, such as: scrapy query 'how do I install it?'")
        if opts.k < 1:
            raise UsageError("-k must be at least 1")
        if opts.max_age is not None and not opts.max_age >= 0:  # nan is not, either
            raise UsageError("--max-age must be a number of seconds, 0 or more")
        self.exitcode = cli.guarded(
            lambda: self._query_lines(opts) if lines else self._query(text, opts)
        )

    def _query(self, text: str, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        with closing(Asker(config, opts.site, opts.k, opts.max_age)) as asker:
            hits = asker.ask(text, now)
        if opts.json:
            cli.print_json([hit.to_json() for hit in hits])
        else:
            print_hits(hits, now)
        return cli.worst(asker.failed)

    def _query_lines(self, opts: argparse.Namespace) -> int:
        """Answer each line of stdin, until it ends or Ctrl-C comes."""
        config = cli.config_of(self.settings)
        make_embedder(config)  # one that cannot be made is no matter of a single question
        clock = make_clock(config.clock_offset_secs)
        with closing(Asker(config, opts.site, opts.k, opts.max_age)) as asker:
            try:
                for question in _lines():
                    _answer(asker, question, clock(), as_json=opts.json)
            except KeyboardInterrupt:
                pass
        return cli.OK


def _lines() -> Iterator[str]:
    """Yield the lines of stdin that are not empty, each as soon as it is there."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    for line in sys.stdin or ():
        if text := line.strip():
            yield text


def _answer(asker: Asker, question: str, now: float, *, as_json: bool) -> None:
    """Print the answer to one of many questions at once; what fails does not end the others."""
    answer: Any
    try:
        hits = asker.ask(question, now)
    except (StoreError, ConfigError, OSError, sqlite3.DatabaseError) as error:
        cli.report_error(error)
        answer = {"error": str(error)}
    else:
        answer = [hit.to_json() for hit in hits]
        if not as_json:
            print_hits(hits, now)
    if as_json:
        print(json.dumps(answer, ensure_ascii=False))
    sys.stdout.flush()


def print_hits(hits: list[Hit], now: float) -> None:
    """Print hits for reading."""
    if not hits:
        print("no passage found")
    for number, hit in enumerate(hits, 1):
        print(f"{number}. {' > '.join(hit.heading_path) or hit.title}  ({hit.score:.3f})")
        print(f"   {hit.link}")
        stale = "  STALE" if hit.stale else ""
        print(
            f"   checked {when(hit.last_checked, now)}, changed "
            f"{when(hit.last_changed, now)}, indexed {when(hit.indexed_at, now)}{stale}"
        )
        for line in excerpt(hit.text):
            print(f"   | {line}".rstrip())
        print()


def excerpt(markdown: str) -> list[str]:
    """Return the first lines of a passage for a terminal: wrapped, without link targets."""
    text = LINK.sub(r"\1", markdown)
    lines = [
        part
        for line in text.splitlines()
        for part in textwrap.wrap(line, WIDTH, drop_whitespace=False) or [""]
    ]
    if len(lines) <= LINES:
        return lines
    return [*lines[:LINES], f"[... {len(lines) - LINES} more lines; --json has them]"]
