"""``scrapy explain URL``: what is known of a page, in words."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.clock import make_clock
from freshcrawl.config import ConfigError
from freshcrawl.core.listings import Listings
from freshcrawl.core.report import iso
from freshcrawl.core.schedule import is_due
from freshcrawl.core.urls import url_key
from freshcrawl.site_tables import make_site

if TYPE_CHECKING:
    import argparse

    from freshcrawl.state import SiteState


class Command(ScrapyCommand):
    """Shows one page: status and why, sources, clocks, schedule, published text."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def syntax(self) -> str:
        """Return the arguments."""
        return "[options] URL"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Explain a page: status, evidence, clocks, schedule, what is published"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the explanation."""
        cli.refuse_options(args)
        if len(args) != 1:
            raise UsageError("give one URL")
        self.exitcode = cli.guarded(lambda: self._explain(args[0], opts))

    def _explain(self, url: str, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        pages = cli.each_state(
            config, opts.site, lambda state: explain(state, url, now, config.max_age_secs)
        )
        found = [page for page in pages if page is not None]
        if opts.json:
            cli.print_json(found)
        for page in [] if opts.json else found:
            print_page(page)
        if not found:
            print(f"freshcrawl: {url} is not known to any site", file=sys.stderr)
        return cli.OK if found else cli.ERROR


def explain(state: SiteState, url: str, now: float, max_age: float) -> dict[str, Any] | None:
    """Return what a site knows of a URL, or None if it does not know it."""
    table = state.site_table()
    if table is None:
        return None
    site = make_site(table, f"state of {state.name}")
    try:
        key = url_key(url, site.rules)
    except ValueError as error:
        raise ConfigError(f"{url!r} is not a URL of a page: {error}") from None
    record = state.pages().get(key)
    if record is None:
        return None
    snapshot = state.corpus.snapshot()
    try:
        page = snapshot.page(key)
        chunks = sum(1 for _ in snapshot.chunks(key))
        indexed_at = snapshot.published_at(page.from_gen) if page else 0.0
    finally:
        snapshot.close()
    sources = Listings(state.sources()).sources_of(key)
    staged = next((entry for entry in state.staged() if entry.key == key), None)
    seen = max([record.last_seen, *(source.read_at for source in sources)])
    return {
        "site": state.name,
        "key": key,
        "url": record.url,
        "status": record.status,
        "reason": record.reason,
        "alias_of": record.alias_of,
        "sources": [{"id": s.id, "read_at": iso(s.read_at)} for s in sources],
        "first_seen": iso(record.first_seen),
        "last_seen": iso(seen),
        "last_checked": iso(record.last_checked),
        "last_attempt": iso(record.last_attempt),
        "last_changed": iso(page.changed_at) if page else None,
        "indexed_at": iso(indexed_at),
        "last_verdict": record.last_verdict,
        "next_due": iso(record.next_due),
        "due": is_due(record, now, max_age),
        "interval_s": record.interval,
        "checks": record.checks,
        "changes": record.changes,
        "failures": record.failures,
        "missing_runs": record.missing_runs,
        "etag": record.etag,
        "last_modified": record.last_modified,
        "lastmod": record.lastmod,
        "title": page.title if page else "",
        "content_digest": page.digest if page else "",
        "chunks": chunks,
        "staged": staged and {"status": staged.status, "held": staged.held},
    }


def print_page(page: dict[str, Any]) -> None:
    """Print an explanation for reading."""
    why = f" ({page['reason']})" if page["reason"] else ""
    print(f"{page['url']}\n  site {page['site']}, key {page['key']}")
    print(f"  {page['status']}{why}; {page['chunks']} chunks published")
    for source in page["sources"]:
        print(f"  listed by {source['id']} (read {source['read_at']})")
    if not page["sources"]:
        print(f"  listed nowhere; missing in {page['missing_runs']} runs")
    print(
        f"  checked {page['last_checked']} ({page['last_verdict']}), {page['checks']} checks, "
        f"{page['changes']} changes, {page['failures']} failures in a row"
    )
    print(f"  changed {page['last_changed']}, indexed {page['indexed_at']}")
    when = "due now" if page["due"] else f"next check {page['next_due']}"
    print(f"  {when}, every {cli.ago(page['interval_s'])}")
    if page["etag"] or page["last_modified"]:
        print(f"  ETag {page['etag'] or '-'}, Last-Modified {page['last_modified'] or '-'}")
    if page["staged"]:
        held = f", held by the guard on {page['staged']['held']}" if page["staged"]["held"] else ""
        print(f"  waits to become {page['staged']['status']}{held}")
