"""``scrapy history URL``: the versions of a page that were published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.core.pages import Status
from freshcrawl.core.words import count, when
from freshcrawl.page_history import history, span

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    """Lists a page's versions, newest first, with what changed."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] URL"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "List the versions of a page that were published"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the versions."""
        cli.refuse_options(args)
        if len(args) != 1:
            raise UsageError("give one URL")
        self.exitcode = cli.guarded(lambda: self._history(args[0], opts))

    def _history(self, url: str, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        pages, code = cli.each_state(config, opts.site, lambda state, own: history(state, url))
        found = [page for page in pages if page is not None]
        if opts.json:
            cli.print_json(found)
        for page in [] if opts.json else found:
            print("\n".join(_lines(page, now)))
        return code if found else cli.unknown_page(url, code)


def _lines(page: dict[str, Any], now: float) -> list[str]:
    """Return the versions of a page for reading."""
    why = f" ({page['reason']})" if page["reason"] else ""
    lines = [page["url"], f"  site {page['site']}, key {page['key']}: {page['status']}{why}"]
    if page["moved_to"]:
        lines.append(f"  moved to {page['moved_to']}")
    if page["status"] == Status.FORGOTTEN:
        lines.append(f"  nothing of it is kept: it was {page['reason']}")
    elif not page["versions"]:
        lines.append("  nothing of it was published")
    for version in page["versions"]:
        lines += _version_lines(version, now)
    return lines


def _version_lines(version: dict[str, Any], now: float) -> list[str]:
    generations = span(version["from_generation"], version["to_generation"])
    title = f' "{version["title"]}"' if version["title"] else ""
    entered = when(version["published_at"], now) if version["published_at"] else "unknown"
    left = f", left {when(version['left_at'], now)}" if version["left_at"] else ""
    digest = f", text {version['content_digest'][:12]}" if version["content_digest"] else ""
    lines = [
        f"  generation {generations}: {version['status']}{title}",
        f"    published {entered}{left}{digest}",
    ]
    if not version["content_kept"]:
        lines.append("    its content is not kept any more")
    elif version["words_added"] is not None:
        added = count(version["words_added"], "word")
        lines.append(f"    {added} added, {version['words_removed']} removed")
    return lines
