"""``scrapy alerts``: events that wait to be delivered by webhook, dead letters, and a test."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.alerts.outbox import Outbox
from freshcrawl.alerts.telling import ping, send_all
from freshcrawl.alerts.webhook import URL, Webhook, place_of, webhook_of
from freshcrawl.clock import make_clock
from freshcrawl.config import ConfigError
from freshcrawl.core.report import iso
from freshcrawl.core.words import ago, count
from freshcrawl.ledger import Ledger
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from freshcrawl.config import Config
    from freshcrawl.state import SiteState

TRIES = 3
"""Attempts that a batch gets when a person asks."""
NUMBERS = ("sent", "died", "waiting", "problem")


class Command(ScrapyCommand):
    """Shows and delivers what the webhook is to be told."""

    requires_project = True
    requires_crawler_process = False
    default_settings = cli.QUIET

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Show events that wait for the webhook and dead letters, deliver them, or test it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options."""
        super().add_options(parser)
        cli.add_common_options(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--send", action="store_true", help="deliver all that waits, now")
        what.add_argument(
            "--resend", metavar="ID", help="let a dead letter (or all) wait again, and deliver"
        )
        what.add_argument(
            "--drop", metavar="ID", help="drop a batch that waits or a dead letter (or all), unsent"
        )
        what.add_argument("--test", action="store_true", help="send a ping; exit 1 if it fails")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """List, deliver, or test."""
        cli.refuse_options(args, words=False)
        if opts.resend == "":
            raise UsageError("--resend: give the id of a dead letter, or all")
        if opts.drop == "":
            raise UsageError("--drop: give the id of a batch of events, or all")
        work = self._list
        if opts.test:
            work = self._test
        elif opts.drop:
            work = self._drop
        elif opts.send or opts.resend:
            work = self._send
        self.exitcode = cli.guarded(lambda: work(opts))

    def _list(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()

        def look(state: SiteState, own: Config) -> dict[str, Any]:
            letters = [asdict(letter) for letter in Outbox(state.records).letters()]
            return {"site": state.name, "letters": letters}

        sites, code = cli.each_state(config, opts.site, look)
        place = place_of(config.webhook_url) if config.webhook_url else ""
        if opts.json:
            cli.print_json({"webhook": place, "sites": _dated(sites)})
            return code
        print(f"webhook: {place}" if place else f"no webhook: {URL} is not set")
        for site in sites:
            for line in _lines(site, now):
                print(line)
        return code

    def _send(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        webhook, clock = _configured(config), make_clock(config.clock_offset_secs)
        resend = opts.resend or ""
        # Before anything is sent: each attempt counts, for whatever else waits.
        names, codes = _sites_with(config, opts.site, resend, dead=True)

        def work(state: SiteState, own: Config) -> dict[str, Any]:
            # A forget that was cut off is carried out before anything of its pages is sent.
            Ledger(state, clock()).commit_records()
            done, revived = send_all(state, webhook, clock, TRIES, resend)
            return {"site": state.name, **{n: getattr(done, n) for n in NUMBERS}, "again": revived}

        results = _written(config, names, clock(), work, codes)
        if opts.json:
            cli.print_json({"sites": results})
        for done in [] if opts.json else results:
            print(_done_words(done))
        codes += [cli.INCOMPLETE for done in results if done["waiting"] or done["died"]]
        return cli.worst(codes)

    def _drop(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        now = make_clock(config.clock_offset_secs)()
        names, codes = _sites_with(config, opts.site, opts.drop, dead=False)

        def work(state: SiteState, own: Config) -> dict[str, Any]:
            outbox = Outbox(state.records)
            dropped = outbox.drop(opts.drop)
            outbox.commit()
            return {"site": state.name, "dropped": dropped}

        results = _written(config, names, now, work, codes)
        if opts.json:
            cli.print_json({"sites": results})
        for done in [] if opts.json else results:
            print(f"{done['site']}: {_batches(done['dropped'])} dropped")
        return cli.worst(codes)

    def _test(self, opts: argparse.Namespace) -> int:
        config = cli.config_of(self.settings)
        webhook = _configured(config)
        problem = ping(webhook, time.time())
        if opts.json:
            cli.print_json({"webhook": webhook.place, "delivered": not problem, "problem": problem})
        elif not problem:
            print(f"{webhook.place} took a ping")
        if problem and not opts.json:
            raise StoreError(f"{webhook.place} did not take a ping: {problem}")
        return cli.ERROR if problem else cli.OK


def _configured(config: Config) -> Webhook:
    webhook = webhook_of(config)
    if webhook is None:
        raise ConfigError(f"there is no webhook: set {URL} (docs/alerts.md)")
    return webhook


def _sites_with(config: Config, site: str, name: str, *, dead: bool) -> tuple[list[str], list[int]]:
    """Return the chosen sites that have a batch of that id, and exit codes of those unread.

    All chosen sites if ``name`` is ``all`` or empty. ``dead``: only a dead letter counts.

    Raises:
        StoreError: there is none.
    """
    if name in {"", "all"}:
        return cli.chosen_sites(config, site), []

    def look(state: SiteState, own: Config) -> str:
        outbox = Outbox(state.records)
        letters = outbox.dead() if dead else outbox.letters()
        return state.name if any(letter.id == name for letter in letters) else ""

    found, code = cli.each_state(config, site, look)
    if not any(found):
        what = "dead letter" if dead else "batch of events"
        raise StoreError(f"there is no {what} {name}: scrapy alerts lists them")
    return [name for name in found if name], [code]


def _written(
    config: Config,
    names: list[str],
    now: float,
    work: Callable[[SiteState, Config], dict[str, Any]],
    codes: list[int],
) -> list[dict[str, Any]]:
    """Return what ``work`` gives as the writer of each site; add the codes of those that fail."""
    results = []
    for name in names:
        try:
            results.append(cli.with_writer(config, name, "alerts", now, work))
        except StoreError as error:
            codes.append(cli.report_error(error))
    return results


def _dated(sites: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sites with the times of their letters as JSON has them."""
    times = ("created_at", "next_at", "dead_at")
    return [
        {
            "site": site["site"],
            "letters": [
                {**letter, **{name: iso(letter[name]) for name in times}}
                for letter in site["letters"]
            ],
        }
        for site in sites
    ]


def _lines(site: dict[str, Any], now: float) -> list[str]:
    """Return a site's outbox for reading."""
    lines = [site["site"]]
    for letter in site["letters"]:
        told = f"{letter['id']}  {count(letter['events'], 'event')} ({letter['types']})"
        if letter["dead_at"]:
            told += f"  dead for {ago(now - letter['dead_at'])}: {letter['problem']}"
        else:
            told += f"  waits for {ago(now - letter['created_at'])}"
        if letter["problem"] and not letter["dead_at"]:
            tried = count(letter["attempts"], "attempt")
            told += f": {letter['problem']}, {tried}"
        lines.append(f"  {told}")
    return lines if site["letters"] else [f"{site['site']}: nothing waits"]


def _batches(number: int) -> str:
    return f"{number} batch{'' if number == 1 else 'es'}"


def _done_words(done: dict[str, Any]) -> str:
    parts = [f"{_batches(done['sent'])} delivered"]
    parts += [f"{done['died']} given up"] if done["died"] else []
    parts += [f"{done['waiting']} still waiting"] if done["waiting"] else []
    why = f" ({done['problem']})" if done["problem"] else ""
    return f"{done['site']}: {', '.join(parts)}{why}"
