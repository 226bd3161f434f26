"""``scrapy forget URL|PATTERN``: purge pages for good, and keep them from coming back."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.config import ConfigError
from freshcrawl.core.forgetting import is_url, undo_command
from freshcrawl.core.pages import Status
from freshcrawl.core.words import count
from freshcrawl.forget_proof import proof_of
from freshcrawl.forgetting import Forgetting, forget, look
from freshcrawl.letting_in import let_in
from freshcrawl.proof_file import ProofFile
from freshcrawl.purged import COUNTS
from freshcrawl.state import open_for_reading

if TYPE_CHECKING:
    import argparse

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Purges pages from every generation; or lets them in again."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] URL|PATTERN"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Purge a page from all that is stored, and keep it from coming back"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="list the pages, and change nothing"
        )
        parser.add_argument(
            "--all", action="store_true", help="also if that is more than half of the site's pages"
        )
        parser.add_argument(
            "--proof",
            metavar="FILE",
            default="",
            help="also write what was removed, and that nothing of it is found, to a new JSON file",
        )
        parser.add_argument("--undo", action="store_true", help="let forgotten pages in again")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Forget, or undo that."""
        cli.refuse_options(args)
        if len(args) != 1:
            raise UsageError("give one URL, or one regular expression that URLs are searched for")
        self.exitcode = cli.guarded(lambda: self._forget(args[0], opts))

    def _forget(self, target: str, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        if opts.proof and (opts.dry_run or opts.undo):
            raise ConfigError("--proof is of pages that are purged: not with --dry-run or --undo")
        now = make_clock(config.clock_offset_secs)()
        name = cli.one_site(config, opts.site)

        def work(state: SiteState, own: Config) -> Forgetting:
            if opts.undo:
                return let_in(state, target, now, dry_run=opts.dry_run)
            if opts.dry_run:
                return look(state, target)
            if not opts.all:
                refuse_most(look(state, target))
            return forget(state, own, target, now, prove=bool(opts.proof))

        if opts.dry_run:
            with closing(open_for_reading(config, name)) as state:
                done = work(state, config)
        else:
            with ExitStack() as stack:
                # Before anything is purged: what cannot be proved is not begun.
                path = Path(opts.proof)
                file = stack.enter_context(ProofFile(path)) if opts.proof else None
                done = cli.with_writer(config, name, "forget", now, work)
                if file is not None:
                    file.write(proof_of(done, now))
        if opts.json:
            cli.print_json({"sites": [{**done.as_contract(), "undo": opts.undo}]})
        else:
            print("\n".join(_undone(done) if opts.undo else _lines(done)))
        return _exit_code(done)


def _exit_code(done: Forgetting) -> int:
    if done.traces is not None and done.traces.left:
        return cli.ERROR
    return cli.INCOMPLETE if done.logs_in_use or done.without_room else cli.OK


def refuse_most(meant: Forgetting) -> None:
    """Refuse a pattern by which several pages would go, and most of those in the answers.

    Raises:
        ConfigError: the message says how many, and how it is done all the same.
    """
    number = sum(page["status"] == Status.LIVE for page in meant.pages)
    if not is_url(meant.target) and number > 1 and 2 * number > meant.live:
        raise ConfigError(
            f"{meant.site}: the regular expression {meant.target!r} is found in {number} of "
            f"{meant.live} pages that are in the answers: nothing was changed; to forget them all "
            "the same, add --all"
        )


def _lines(done: Forgetting) -> list[str]:
    """Return what was, or would be, forgotten."""
    pages = count(len(done.pages), "page")
    lines = [f"{done.site}: {pages} {'would be ' if done.dry_run else ''}forgotten"]
    lines += [f"  {_page(page)}" for page in done.pages]
    if done.before:
        lines.append(f"  {count(len(done.before), 'page')} forgotten before")
    lines += [f"  the same text is, or was, on {url}, which stays" for url in done.copies]
    if not is_url(done.target):
        lines.append("  pages found later whose URL it matches are not let in either")
    if done.dry_run:
        return [*lines, "  nothing was changed"]
    nouns = {**COUNTS, "index_files": "index file"}
    removed = [count(done.removed[name], nouns[name]) for name in nouns if done.removed.get(name)]
    if removed:
        lines.append(f"  removed: {', '.join(removed)}")
    lines.append(f"  generation {done.generation} and all before it are without them")
    if done.traces is not None:
        lines += [f"  still found: {left}" for left in done.traces.left]
        if not done.traces.left:
            rows = f"{done.traces.rows:,} rows and {count(done.traces.index_files, 'index file')}"
            lines.append(f"  looked for in {rows}: nothing is left of them")
    lines += [
        f"  {name}: a reader has it open, so its log may keep deleted text; run again when that "
        "has ended"
        for name in done.logs_in_use
    ]
    lines += [
        f"  {name}: too little of the disk is free to rewrite it, so its unused room may keep "
        "deleted text; make room and run again"
        for name in done.without_room
    ]
    return [*lines, f"  to let them in again: {undo_command(done.site, done.target)}"]


def _page(page: dict[str, Any]) -> str:
    why = f" ({page['reason']})" if page["reason"] else ""
    return f"{page['url']}  {page['status']}{why}".rstrip()


def _undone(done: Forgetting) -> list[str]:
    pages = count(len(done.before), "page")
    if done.dry_run:
        head = f"{done.site}: {pages} would be let in again"
    else:
        head = f"{done.site}: {pages} let in again; the next crawl that finds them fetches them"
    return [head, *(f"  {key}" for key in done.before)]
