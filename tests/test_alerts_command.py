"""``scrapy alerts`` and ``scrapy status --check``, by a person whose receiver was away."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import UsageError

from freshcrawl.alerts.outbox import Outbox
from freshcrawl.commands.alerts import Command
from tests.support.origin import Origin, page
from tests.support.project import Result, scrapy
from tests.support.quick_site import NOW, QuickSite
from tests.support.receiver import SECRET, Receiver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = {"FRESHCRAWL_WEBHOOK_RUN_SECS": 0.5, "FRESHCRAWL_WEBHOOK_ATTEMPTS": 1}


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver
        receiver.check()


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Path:
    """Return the state of a site whose first crawl told a receiver that was not well."""
    state = tmp_path_factory.mktemp("alerts") / "state"
    receiver.script = [400, 500]
    with Origin() as origin:
        origin["/a"] = page("A", "text")
        origin.serve_sitemap("/a")
        crawl = ("crawl", "docs", "-a", f"url={origin.url}")
        done = scrapy(*crawl, state=state, settings={**receiver.settings, **QUICK})
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if "webhook" in line]
    assert f"webhook http://127.0.0.1:{receiver.port}: answered 500; batches of events:" in line
    assert "1 given up (scrapy alerts --resend all tries again), 1 waiting for the next" in line
    return state


def alerts(receiver: Receiver, state: Path, *args: str) -> Result:
    return scrapy("alerts", *args, state=state, settings={**receiver.settings, **QUICK})


def test_check_says_that_events_are_not_taken(state: Path, receiver: Receiver) -> None:
    done = scrapy("status", "--check", "--json", state=state)
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 4
    assert [row["code"] for row in found["problems"]] == [4, 4]
    assert {"site", "code", "problem", "remedy"} == found["problems"][0].keys()
    assert "FRESHCRAWL_WEBHOOK_URL is not set" in found["problems"][1]["problem"]
    assert found["sites"][0]["alerts"] == {
        "waiting": 1,
        "failing": 1,
        "attempts": 1,
        "dead": 1,
        "problem": "answered 500",
    }


def test_list(state: Path, receiver: Receiver) -> None:
    done = alerts(receiver, state)
    assert done.returncode == 0
    [place, _, dead, waiting] = done.stdout.splitlines()
    assert place == f"webhook: http://127.0.0.1:{receiver.port}"
    assert re.fullmatch(r"  msg_\w{32}  1 event \(page.new\)  dead for .*: answered 400", dead)
    assert "1 event (run.completed)  waits for" in waiting
    assert ": answered 500, 1 attempt" in waiting
    letters = json.loads(alerts(receiver, state, "--json").stdout)["sites"][0]["letters"]
    assert [bool(letter["dead_at"]) for letter in letters] == [True, False]


def test_ping(state: Path, receiver: Receiver) -> None:
    receiver.script = [204, 403]
    done = alerts(receiver, state, "--test")
    assert (done.returncode, done.stderr) == (0, "")
    assert receiver.taken[-1].body["events"][0]["type"] == "ping"
    done = alerts(receiver, state, "--test")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"freshcrawl: http://127.0.0.1:{receiver.port} did not take a ping: answered 403\n"
    )


def test_unknown_dead_letter(state: Path, receiver: Receiver) -> None:
    receiver.always, posts = 400, receiver.posts
    done = alerts(receiver, state, "--resend", "msg_0")
    assert done.returncode == 1
    assert receiver.posts == posts, "a typing mistake has cost what waits an attempt"
    assert "there is no dead letter msg_0: scrapy alerts lists them" in done.stderr


def test_send_while_it_is_not_well(state: Path, receiver: Receiver) -> None:
    receiver.always = 503
    done = alerts(receiver, state, "--send")
    assert done.returncode == 4
    assert ": 0 batches delivered, 1 still waiting (answered 503)" in done.stdout


def test_all_is_delivered_at_last(state: Path, receiver: Receiver) -> None:
    receiver.always = None
    done = alerts(receiver, state, "--resend", "all")
    assert (done.returncode, done.stderr) == (0, "")
    assert ": 2 batches delivered" in done.stdout
    assert receiver.told() == {"page.new": 1, "run.completed": 1, "ping": 1}
    check = scrapy("status", "--check", state=state)
    assert (check.returncode, check.stdout, check.stderr) == (0, "", "")


def options(**given: object) -> argparse.Namespace:
    none = {"send": False, "resend": None, "drop": None, "test": False, "site": "", "json": False}
    return argparse.Namespace(**{**none, **given})


@pytest.mark.parametrize(
    ("args", "given", "words"),
    [
        ([], {"resend": ""}, "--resend: give the id of a dead letter, or all"),
        ([], {"drop": ""}, "--drop: give the id of a batch of events, or all"),
        (["x"], {}, "unknown argument 'x'"),
    ],
)
def test_wrong_usage(args: list[str], given: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Command().run(args, options(**given))


def test_without_a_webhook(tmp_path: Path) -> None:
    done = scrapy("alerts", "--test", state=tmp_path)
    assert done.returncode == 2
    assert "there is no webhook: set FRESHCRAWL_WEBHOOK_URL" in done.stderr
    done = scrapy("alerts", state=tmp_path)
    assert (done.returncode, done.stdout) == (0, "no webhook: FRESHCRAWL_WEBHOOK_URL is not set\n")


def dropped(site: QuickSite, name: str) -> int:
    command = Command()
    command.settings = site.place.settings({})
    command.run([], options(drop=name))
    return int(command.exitcode or 0)


def test_what_waits_and_dead_letters_are_dropped_without_a_webhook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with asyncio.Runner() as runner:
        site = QuickSite(tmp_path, runner)
        site.serve("/a", "The text of a page.")
        site.on_sitemap("/a")
        site.crawl(
            FRESHCRAWL_WEBHOOK_URL="http://127.0.0.1:9/nobody-listens",
            FRESHCRAWL_WEBHOOK_SECRET=SECRET,
            FRESHCRAWL_WEBHOOK_RUN_SECS=0,
            FRESHCRAWL_WEBHOOK_BATCH=1,
        )
        with closing(site.opened()) as state:
            outbox = Outbox(state.records)
            first, second = outbox.letters()
            first.dead_at = NOW
            outbox.put(first)
            outbox.commit()
        assert dropped(site, "msg_0") == 1
        assert "there is no batch of events msg_0" in capsys.readouterr().err
        assert dropped(site, first.id) == 0
        assert capsys.readouterr().out == "docs: 1 batch dropped\n"
        with closing(site.reading()) as state:
            assert [letter.id for letter in Outbox(state.records).letters()] == [second.id]
        assert dropped(site, "all") == 0
        assert dropped(site, "all") == 0
        assert capsys.readouterr().out == "docs: 1 batch dropped\ndocs: 0 batches dropped\n"
