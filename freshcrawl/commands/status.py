"""``scrapy status``: each site's pages, index and last run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.core.pages import Status
from freshcrawl.core.words import ago, count, when
from freshcrawl.policies import schedule_policy
from freshcrawl.problems import Kind, Problem, alert_problems, site_problems
from freshcrawl.site_status import KINDS, listed, never_crawled, site_status
from freshcrawl.summary import pending_words, problem_lines, run_lines, run_outcome, standing_lines

if TYPE_CHECKING:
    import argparse

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState

CODES = {
    Kind.FAILED: cli.ERROR,
    Kind.OVERDUE: cli.ERROR,
    Kind.HELD: cli.HELD,
    Kind.INCOMPLETE: cli.INCOMPLETE,
    Kind.STALE: cli.INCOMPLETE,
    Kind.ALERTS: cli.INCOMPLETE,
}
"""Exit code of each kind of problem."""
FIRST_CRAWL = "run scrapy crawl docs -a url=https://docs.example.com/"


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
            "--check",
            action="store_true",
            help="say only what needs attention, and exit 1, 3 or 4 if something does",
        )
        parser.add_argument(
            "--pages",
            metavar="KIND",
            choices=KINDS,
            help=f"list the pages of a kind: {', '.join(KINDS)}",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the status."""
        cli.refuse_options(args, words=False)
        self.exitcode = cli.guarded(lambda: self._status(opts))

    def _status(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        problems: list[dict[str, Any]] = []

        def look(state: SiteState, own: Config) -> dict[str, Any]:
            status = site_status(state, now, schedule_policy(own))
            if opts.pages:
                status["listed"] = listed(state, opts.pages, now, schedule_policy(own))
            if opts.check:
                problems.extend(_rows(status, site_problems(status, now, own)))
            return status

        waiting = cli.never_crawled(config, opts.site)
        sites, code = (
            ([], cli.OK) if opts.site and waiting else cli.each_state(config, opts.site, look)
        )
        for site in waiting:
            sites.append(never_crawled(site) | ({"listed": []} if opts.pages else {}))
            problems += _rows(sites[-1], site_problems(sites[-1], now, config))
        if opts.check:
            return cli.worst([code, self._check(config, sites, problems, opts)])
        sites.sort(key=lambda site: str(site["site"]))
        if opts.json:
            cli.print_json({"sites": sites})
        elif sites or code == cli.OK:
            has_webhook = bool(config.webhook_url)
            print_status(sites, now, opts.pages or "", has_webhook=has_webhook)
            if not sites:
                print(f"no site yet in {config.state_path()}: {FIRST_CRAWL}")
        return code

    def _check(
        self,
        config: Config,
        sites: list[dict[str, Any]],
        problems: list[dict[str, Any]],
        opts: argparse.Namespace,
    ) -> int:
        """Say what needs attention, nothing if nothing does; return the exit code."""
        if not sites:
            words = f"no site yet in {config.state_path()}"
            problems.append(_row("", cli.ERROR, words, FIRST_CRAWL))
        problems.sort(key=lambda row: (cli.SERIOUSNESS.index(row["code"]), row["site"]))
        if opts.json:
            cli.print_json({"problems": problems, "sites": sites})
        for row in [] if opts.json else problems:
            print(f"{row['site']}: {row['problem']}; {row['remedy']}".removeprefix(": "))
        return cli.worst(row["code"] for row in problems)


def print_status(
    sites: list[dict[str, Any]], now: float, kind: str = "", *, has_webhook: bool = True
) -> None:
    """Print the status for reading, or the pages of a kind."""
    for site in sites:
        print(f"{site['site']}  {site['url']}")
        for line in _pages(site, kind) if kind else _site(site, now, has_webhook=has_webhook):
            print(f"  {line}")


def _site(site: dict[str, Any], now: float, *, has_webhook: bool) -> list[str]:
    run = site["last_run"]
    if run is None:
        return [f"not crawled yet: scrapy crawl docs -a site={site['site']}"]
    by_status = sorted(site["pages"].items(), key=lambda pair: pair[0] != Status.LIVE)
    pages = ", ".join(f"{number} {name}" for name, number in by_status) or "no pages"
    index = f"{count(site['chunks'], 'passage')}, generation {site['generation']}"
    lines = [
        f"{pages}; {index}; {site['due']} due" if site["generation"] else f"{pages}; no answers"
    ]
    if site["writer"]:
        lines.append(f"in use by {site['writer']}")
    if site["oldest_check_s"] is not None:
        lines.append(f"oldest check {ago(site['oldest_check_s'])} ago")
    if site["pending_embed"]:
        lines.append(pending_words(site))
    if site["staged"] > site["held"] + site["pending_embed"]:
        waiting = site["staged"] - site["held"] - site["pending_embed"]
        them = "it" if waiting == 1 else "them"
        lines.append(f"{count(waiting, 'change')} found; a later run publishes {them}")
    lines.append(f"last run {when(run['started_at'], now)}: {run_outcome(run)}")
    lines += [f"  {line}" for line in [*run_lines(run), *problem_lines(run, site["site"])]]
    if not run["complete"] and run["status"] != "running":
        seen = "no run has been complete yet"
        if site["last_complete"]:
            seen = f"last complete run: {when(site['last_complete'], now)}"
        lines.append(seen)
    alerts = alert_problems(site["alerts"], site["site"], has_webhook=has_webhook)
    lines += [f"{problem.words}; {problem.remedy}" for problem in alerts]
    return [*lines, *standing_lines(site, site["site"])]


def _pages(site: dict[str, Any], kind: str) -> list[str]:
    """Return the pages of a kind, one a line, with their reasons."""
    if not site["listed"]:
        return [f"no page is {kind}"]
    return [
        "  ".join(
            filter(
                None,
                (page["url"], page["status"] if kind != page["status"] else "", page["reason"]),
            )
        )
        for page in site["listed"]
    ]


def _rows(site: dict[str, Any], problems: list[Problem]) -> list[dict[str, Any]]:
    """Return the problems of a site as JSON has them."""
    return [_row(site["site"], CODES[p.kind], p.words, p.remedy) for p in problems]


def _row(site: str, code: int, problem: str, remedy: str) -> dict[str, Any]:
    return {"site": site, "code": code, "problem": problem, "remedy": remedy}
