"""A page that is forgotten is told as gone, once, and with nothing of what it said."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl import seams
from freshcrawl.alerts.forgotten_pages import ANNOUNCED, UNTOLD
from freshcrawl.alerts.telling import send_all
from freshcrawl.alerts.webhook import webhook_of
from freshcrawl.forgetting import forget
from freshcrawl.letting_in import let_in
from freshcrawl.seams import Seam
from tests.support.origin import Answer
from tests.support.project import scrapy
from tests.support.quick_site import NOW, QuickSite
from tests.support.receiver import SECRET, Receiver
from tests.support.site_model import key_of, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = "The zirconium vault opens with the word heliotrope."
NOINDEX = '<meta name="robots" content="noindex">'
URL, KEY = url_of("/secret"), key_of("/secret")
DOWN: dict[str, Any] = {
    "FRESHCRAWL_WEBHOOK_URL": "http://127.0.0.1:9/nobody-listens",
    "FRESHCRAWL_WEBHOOK_SECRET": SECRET,
    "FRESHCRAWL_WEBHOOK_RUN_SECS": 0,
}


class Dead(Exception):
    """Stands for a kill."""


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def site(tmp_path: Path, runner: asyncio.Runner) -> QuickSite:
    site = QuickSite(tmp_path, runner)
    for path in ("/a", "/b"):
        site.serve(path, f"The text of {path} is about valves.")
    site.serve("/secret", TEXT)
    site.on_sitemap("/a", "/b", "/secret")
    return site


@pytest.fixture
def receiver(site: QuickSite) -> Iterator[Receiver]:
    """Return a receiver that was told of the first crawl."""
    with Receiver() as receiver:
        site.crawl(**receiver.settings)
        assert receiver.told() == {"page.new": 3, "run.completed": 1}
        receiver.taken.clear()
        yield receiver
        receiver.check()


def forgotten(site: QuickSite, target: str = URL) -> None:
    site.writing(lambda state, own: forget(state, own, target, NOW))


def undone(site: QuickSite) -> None:
    site.writing(lambda state, own: let_in(state, URL, NOW, dry_run=False))


def killed(seam: str) -> None:
    if seam == Seam.SWITCHED:
        raise Dead


def pages(receiver: Receiver) -> list[tuple[str, str]]:
    return [(event["type"], event["key"]) for event in receiver.events("page")]


def holds(site: QuickSite, text: str) -> bool:
    return any(text.encode() in p.read_bytes() for p in site.folder.rglob("*") if p.is_file())


def test_it_is_told_once_and_says_nothing_of_the_page(site: QuickSite, receiver: Receiver) -> None:
    forgotten(site)
    site.crawl(**receiver.settings)
    [event] = receiver.events("page")
    assert event == {
        **{name: event[name] for name in ("id", "at", "generation", "reason")},
        "type": "page.gone",
        "key": KEY,
        "url": URL,
        "title": "",
        "content_digest": "",
        "old_status": "live",
        "status": "forgotten",
        "cause": "forgotten",
    }
    assert event["reason"].startswith("forgotten on ")
    assert event["generation"] == 2
    receiver.taken.clear()
    site.crawl(**receiver.settings)
    assert pages(receiver) == []


def test_nothing_of_the_text_waits_for_a_receiver_that_is_down(
    site: QuickSite, receiver: Receiver
) -> None:
    site.serve("/secret", f"{TEXT} Or with chrysanthemum.")
    site.crawl(**DOWN)
    forgotten(site)
    site.crawl(**DOWN)
    for text in ("zirconium", "chrysanthemum", "Page /secret"):
        assert not holds(site, text)
    site.crawl(**receiver.settings)
    assert pages(receiver) == [("page.gone", KEY)]


def test_runs_without_the_settings_leave_it_to_the_next(
    site: QuickSite, receiver: Receiver
) -> None:
    forgotten(site)
    site.crawl()
    site.crawl(**receiver.settings)
    assert pages(receiver) == [("page.gone", KEY)]


def test_the_command_that_sends_tells_it(site: QuickSite, receiver: Receiver) -> None:
    forgotten(site)
    own = replace(site.config, webhook_url=receiver.url, webhook_secret=SECRET)
    webhook = webhook_of(own)
    assert webhook is not None
    done, _ = site.writing(lambda state, own: send_all(state, webhook, lambda: NOW, 1))
    assert done.sent == 1
    assert pages(receiver) == [("page.gone", KEY)]
    site.crawl(**receiver.settings)
    assert pages(receiver) == [("page.gone", KEY)]


def test_killed_in_between_it_is_told_by_the_next_run(site: QuickSite, receiver: Receiver) -> None:
    with seams.listening(killed), pytest.raises(Dead):
        forgotten(site)
    for _ in range(2):
        site.crawl(**receiver.settings)
    assert pages(receiver) == [("page.gone", KEY)]


def test_killed_in_between_the_command_that_sends_says_nothing_of_the_page(
    site: QuickSite, receiver: Receiver
) -> None:
    site.serve("/secret", f"{TEXT} Or with chrysanthemum.")
    site.crawl(**DOWN)
    with seams.listening(killed), pytest.raises(Dead):
        forgotten(site)
    sites = {"FRESHCRAWL_SITES": str(site.place.folder / "sites.toml")}
    done = scrapy(
        "alerts", "--send", state=site.place.state, settings={**receiver.settings, **sites}
    )
    assert done.returncode == 0, done.stderr
    assert receiver.taken
    assert not [got for got in receiver.taken if b"Page /secret" in got.raw]
    assert pages(receiver)[-1] == ("page.gone", KEY)


@pytest.mark.parametrize("between", [True, False])
def test_let_in_again_it_is_told_as_gone_and_then_as_new(
    site: QuickSite, receiver: Receiver, between: bool
) -> None:
    forgotten(site)
    if between:
        site.crawl(**receiver.settings)
    undone(site)
    site.crawl(**receiver.settings)
    assert pages(receiver) == [("page.gone", KEY), ("page.new", KEY)]
    forgotten(site)
    site.crawl(**receiver.settings)
    assert pages(receiver)[2:] == [("page.gone", KEY)]


def test_let_in_again_and_not_found_any_more_it_is_gone(
    site: QuickSite, receiver: Receiver
) -> None:
    forgotten(site)
    undone(site)
    site.server.answers["/secret"] = Answer("", 404)
    site.crawl(**receiver.settings)
    assert pages(receiver) == [("page.gone", KEY)]


def test_page_that_was_hidden_is_told_and_one_that_never_was_there_is_not(
    site: QuickSite, receiver: Receiver
) -> None:
    site.server.answers["/secret"] = Answer("", 404)
    site.serve("/never", "A page that is not to be found by anyone.", head=NOINDEX)
    site.on_sitemap("/a", "/b", "/secret", "/never")
    site.crawl(**receiver.settings)
    assert pages(receiver) == [("page.hidden", KEY)]
    forgotten(site, "secret|never")
    site.crawl(**receiver.settings)
    assert pages(receiver)[1:] == [("page.gone", KEY)]
    assert receiver.events("page.gone")[0]["old_status"] == "hidden"


def test_events_that_are_not_chosen_are_not_kept(site: QuickSite, receiver: Receiver) -> None:
    forgotten(site)
    site.crawl(**receiver.settings, FRESHCRAWL_WEBHOOK_EVENTS="run.*")
    site.crawl(**receiver.settings)
    assert pages(receiver) == []


def test_nothing_is_noted_where_nobody_was_ever_told(site: QuickSite) -> None:
    site.crawl()
    forgotten(site)
    rows: Any = site.writing(lambda state, own: [state.records.get(r) for r in (ANNOUNCED, UNTOLD)])
    assert rows == [None, None]
