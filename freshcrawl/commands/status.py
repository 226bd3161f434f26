"""``scrapy status``: each site's pages, index and last run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.core.pages import Status
from freshcrawl.core.schedule import is_due
from freshcrawl.summary import run_summary

if TYPE_CHECKING:
    import argparse

    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Says how fresh each site is and what its last run did."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Show each site's pages, index and last run"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        parser.add_argument(
            "--check", action="store_true", help="exit 1, 3 or 4 if a site needs attention"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the status."""
        cli.refuse_options(args, words=False)
        self.exitcode = cli.guarded(lambda: self._status(opts))

    def _status(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        sites = cli.each_state(
            config, opts.site, lambda state: site_status(state, now, config.max_age_secs)
        )
        if opts.json:
            cli.print_json({"sites": sites})
        else:
            print_status(sites)
        return cli.worst(check(site) for site in sites) if opts.check else cli.OK


def site_status(state: SiteState, now: float, max_age: float) -> dict[str, Any]:
    """Return the status of one site as the contract has it."""
    snapshot = state.corpus.snapshot()
    try:
        generation = snapshot.generation
        info = snapshot.info() if generation else {}
    finally:
        snapshot.close()
    records = state.pages()
    live = [record for record in records.values() if record.status == Status.LIVE]
    reports = state.reports()
    staged = list(state.staged())
    checked = [record.last_checked for record in live]
    return {
        "site": state.name,
        "url": (state.site_table() or {}).get("url", ""),
        "pages": dict(sorted(Counter(str(r.status) for r in records.values()).items())),
        "due": sum(is_due(record, now, max_age) for record in records.values()),
        "stale": sum(now - r.last_checked > max_age or bool(r.stale_reason) for r in live),
        "staged": len(staged),
        "held": sum(bool(entry.held) for entry in staged),
        "chunks": info.get("chunks", 0),
        "model": info.get("model", ""),
        "generation": generation,
        "oldest_check_s": round(now - min(checked), 1) if checked else None,
        "index_lag_s": round(now - min(e.staged_at for e in staged), 1) if staged else 0.0,
        "last_run": reports[-1].as_contract() if reports else None,
    }


def print_status(sites: list[dict[str, Any]]) -> None:
    """Print the status for reading."""
    if not sites:
        print("no site yet: run scrapy crawl docs -a url=https://docs.example.com/")
    for site in sites:
        pages = ", ".join(f"{count} {name}" for name, count in site["pages"].items()) or "no pages"
        print(f"{site['site']}  {site['url']}")
        print(
            f"  {pages}; {site['chunks']} chunks, generation {site['generation']}; "
            f"{site['due']} due, {site['stale']} stale, {site['held']} held"
        )
        if site["oldest_check_s"] is not None:
            print(f"  oldest check {cli.ago(site['oldest_check_s'])} ago")
        if site["last_run"]:
            run = site["last_run"]
            print(f"  last run {run['started_at']}: {run['status']}")
            for line in run_summary(run):
                print(f"    {line}")


def check(site: dict[str, Any]) -> int:
    """Return the exit code that a site's status stands for."""
    run = site["last_run"]
    if run is None or run["status"] in {"failed", "killed"}:
        return cli.ERROR
    if site["held"]:
        return cli.HELD
    return cli.INCOMPLETE if site["stale"] or run["incomplete_reasons"] else cli.OK
