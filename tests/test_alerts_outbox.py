"""What is put into the outbox, run by run, and what a kill leaves: nothing is lost or made up."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl.alerts.telling import send_all
from freshcrawl.alerts.webhook import webhook_of
from freshcrawl.config import Config
from freshcrawl.rollback import roll_back
from freshcrawl.seams import Seam
from freshcrawl.state import make_embedder, open_for_writing
from tests.support.cuts import Cut
from tests.support.in_process import EMBEDDER, NAME, Ended, Place, work_folder
from tests.support.origin import Answer, Origin, page
from tests.support.project import REPO, command, environment, scrapy
from tests.support.receiver import SECRET, Receiver
from tests.support.site_model import SiteModel, url_of
from tests.support.site_server import BORN, Faults, SiteServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86_400.0
TABLE = 'url = "http://docs.test/"\ndiscovery = "sitemap"\n'
NOWHERE = {
    "FRESHCRAWL_WEBHOOK_URL": "http://127.0.0.1:9/nobody-listens",
    "FRESHCRAWL_WEBHOOK_SECRET": SECRET,
    "FRESHCRAWL_WEBHOOK_RUN_SECS": 0,
}
"""A webhook to which nothing is sent by the end of a run."""


class Told:
    """A modelled site, crawled day by day, and the receiver that hears of it."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.site = SiteModel(7, 12, by_links=False, nested=False)
        self.server = SiteServer(self.site)
        self.folder = work_folder("freshcrawl-alerts-")
        self.place = Place(self.folder, TABLE)
        self.runner = asyncio.Runner()
        self.day = 0
        self.config = Config(
            state_dir=str(self.place.state),
            embedder_class=EMBEDDER,
            webhook_url=receiver.url,
            webhook_secret=SECRET,
        )

    def crawl(self, settings: dict[str, Any] | None = None, **more: Any) -> Ended:
        """Crawl on the next day, with the receiver's settings unless there are others."""
        self.day += 1
        own = self.receiver.settings if settings is None else settings
        offset = {"FRESHCRAWL_CLOCK_OFFSET_SECS": self.day * DAY}
        now = BORN + self.day * DAY
        return self.place.crawl(
            self.runner, self.server, {**own, **offset}, now=now, full=True, **more
        )

    def change(self) -> dict[str, str]:
        """Change the site; return the event of each page that this will be."""
        edited, deleted, hidden = self.site.pick(3, documents=True)
        self.site.edit(edited)
        deleted.status = 410
        hidden.noindex = True  # a 404 would be gone with the next run
        added = self.site.add()
        return {
            url_of(edited.path): "page.changed",
            url_of(deleted.path): "page.gone",
            url_of(hidden.path): "page.hidden",
            url_of(added.path): "page.new",
        }

    def pages(self) -> dict[str, str]:
        """Return the type of the event of each page that was told of, and forget it."""
        told = {event["url"]: event["type"] for event in self.receiver.events("page")}
        assert len(told) == len(self.receiver.events("page")), "a page was told of twice"
        return told

    def runs(self) -> Counter[str]:
        """Return the numbers of events of runs, by type and status."""
        events = self.receiver.events("run")
        return Counter(f"{event['type']} {event['run']['status']}" for event in events)


@pytest.fixture
def told() -> Iterator[Told]:
    """Return a site that was crawled once, with all events of that delivered and forgotten."""
    with Receiver() as receiver:
        told = Told(receiver)
        assert told.crawl().went_well
        assert receiver.told() == {"page.new": 12, "run.completed": 1}
        receiver.taken.clear()
        yield told
        receiver.check()
        told.runner.close()
        shutil.rmtree(told.folder)


def test_nothing_changes_nothing_is_told_of_pages(told: Told) -> None:
    told.crawl()
    assert told.receiver.told() == {"run.completed": 1}


KILLS = [Seam.STAGED, Seam.CONTENT_KEPT, Seam.SWITCHED, Seam.RECORDS_COMMITTED, Seam.REPORTED]


@pytest.mark.parametrize("seam", KILLS)
def test_kill_before_delivery_loses_no_event(told: Told, seam: Seam) -> None:
    expected = told.change()
    killed = told.crawl(NOWHERE, cut=Cut("kill", str(seam)))
    assert killed.killed
    assert told.receiver.posts == 2, "what is dead told something"
    told.crawl()
    assert told.pages() == expected
    how = "run.completed ok" if seam == Seam.REPORTED else "run.incomplete killed"
    assert told.runs() == Counter([how, "run.completed ok"])


def test_run_that_is_stopped_leaves_its_events_to_the_next(told: Told) -> None:
    expected = told.change()
    stopped = told.crawl(cut=Cut("stop", "item", 3))
    assert stopped.report is not None
    assert stopped.report.finish_reason == "shutdown"
    assert told.receiver.posts == 2
    told.crawl()
    assert told.pages() == expected
    assert told.runs() == {"run.incomplete ok": 1, "run.completed ok": 1}


def test_receiver_that_was_down_hears_all_in_order(told: Told) -> None:
    expected = told.change()
    for _ in range(3):
        told.crawl(NOWHERE)
    told.crawl()
    assert told.pages() == expected
    assert told.runs() == {"run.completed ok": 4}
    starts = [event["run"]["run_id"] for event in told.receiver.events("run")]
    assert starts == sorted(starts)


def test_runs_without_the_settings_lose_nothing(told: Told) -> None:
    """As by hand, in a shell that lacks what the timer's has."""
    expected = told.change()
    told.crawl({})
    assert told.receiver.posts == 2
    told.crawl()
    assert told.pages() == expected
    assert all(got.body["exact"] for got in told.receiver.taken)


def test_gap_that_is_longer_than_what_is_kept_is_said(told: Told) -> None:
    first = told.change()
    for _ in range(4):
        told.site.edit(told.site.pick(1, documents=True)[0])
        told.crawl({})
    told.receiver.taken.clear()
    told.crawl()
    batches = [got.body for got in told.receiver.taken if got.body["events"][0]["type"] in PAGES]
    assert {batch["exact"] for batch in batches} == {False}
    assert first.items() <= told.pages().items()


PAGES = {"page.new", "page.changed", "page.moved", "page.hidden", "page.gone"}


def test_webhook_that_is_new_is_not_told_what_was_before(told: Told) -> None:
    state = open_for_writing(told.config, NAME, "test", 0.0)
    with closing(state):
        state.records.delete("meta:announced")
        state.records.commit()
    expected = told.change()
    told.crawl()
    assert told.pages() == expected
    assert told.runs() == {"run.completed ok": 1}


def test_only_chosen_events_are_kept(told: Told) -> None:
    expected = told.change()
    told.crawl({**told.receiver.settings, "FRESHCRAWL_WEBHOOK_EVENTS": "run.held, page.g*"})
    gone = {url: kind for url, kind in expected.items() if kind == "page.gone"}
    assert told.pages() == gone
    assert told.runs() == {}
    told.receiver.taken.clear()
    told.crawl()
    assert told.pages() == {}, "what was not chosen then is told later"


def test_damaged_letter_is_dropped(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    """As by ``verify --repair``, which drops rows that cannot be read."""
    expected = told.change()
    told.crawl(NOWHERE)
    with closing(open_for_writing(told.config, NAME, "test", 0.0)) as state:
        [(first, _), _] = state.records.items("letter:")
        state.records.delete(first)
        state.records.commit()
    told.crawl()
    assert "is damaged, and dropped" in caplog.text
    assert told.pages() == {} != expected
    assert told.runs() == {"run.completed ok": 2}


def test_batches_have_the_size_that_is_set(told: Told) -> None:
    expected = told.change()
    told.crawl({**told.receiver.settings, "FRESHCRAWL_WEBHOOK_BATCH": 2})
    assert told.pages() == expected
    assert [len(got.body["events"]) for got in told.receiver.taken] == [2, 2, 1]


def test_site_that_fails_is_told_and_its_pages_are_not(told: Told) -> None:
    told.crawl(faults=Faults(sitemap="500", pages="503"))
    assert told.runs() == {"run.incomplete ok": 1}
    [event] = told.receiver.events("run")
    assert event["run"]["incomplete_reasons"]
    assert event["remedies"] == [f"the next one tries again: scrapy crawl docs -a site={NAME}"]
    assert told.pages() == {}


def test_rollback_is_told_by_whoever_opens_the_site_next(told: Told) -> None:
    expected = told.change()
    told.crawl()
    told.receiver.taken.clear()
    webhook = webhook_of(told.config)
    assert webhook is not None
    with closing(open_for_writing(told.config, NAME, "rollback", 0.0)) as state:
        roll_back(state, told.config, lambda: make_embedder(told.config), 1, BORN + 3 * DAY)
        done, _ = send_all(state, webhook, lambda: BORN + 3 * DAY, 1)
    assert done.sent == 1
    back = {"page.gone": "page.new", "page.hidden": "page.new", "page.new": "page.hidden"}
    assert told.pages() == {url: back.get(kind, kind) for url, kind in expected.items()}
    [added] = told.receiver.events("page.hidden")
    assert added["status"] == "withdrawn"
    told.receiver.taken.clear()
    told.crawl()
    assert told.runs() == {"run.completed ok": 1, "run.held ok": 1}
    assert told.pages() == {}


AT = "freshcrawl.alerts.outbox:Outbox.remove"


def test_kill_between_delivery_and_its_note(tmp_path: Path) -> None:
    """A real process and a real kill: what was taken comes again, by the same id."""
    state = tmp_path / "state"
    with Origin() as origin, Receiver() as receiver:
        origin.serve_sitemap("/a", "/b")
        origin["/a"], origin["/b"] = page("A", "text of a"), page("B", "text of b")
        crawl = ("crawl", "docs", "-a", f"url={origin.url}")
        settings = {**receiver.settings, "FRESHCRAWL_WEBHOOK_BATCH": 1}
        line = command(crawl, state, "hash", 0, settings)
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.crash_at", f"{AT}:2", *line[3:]],
            cwd=REPO,
            env=environment(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == -9, done.stderr[-2000:]
        assert [len(got.body["events"]) for got in receiver.taken] == [1, 1]
        origin["/b"] = Answer("", 410)
        robots, before = origin.answers["/robots.txt"], list[int]()

        def asked_for_robots() -> Answer:
            before.append(len(receiver.taken))
            assert isinstance(robots, Answer)
            return robots

        origin["/robots.txt"] = asked_for_robots
        done_again = scrapy(*crawl, "-a", "full=1", state=state, settings=settings)
        assert done_again.returncode == 0, done_again.stderr[-2000:]
        assert before == [4], "what was left was not told before the first request"
        first, again = receiver.taken[1], receiver.taken[2]
        assert (first.id, first.body) == (again.id, again.body)
        assert receiver.told() == {"page.new": 2, "page.gone": 1, "run.completed": 2}
        assert len({got.id for got in receiver.taken}) == len(receiver.taken) - 1
        receiver.check()
