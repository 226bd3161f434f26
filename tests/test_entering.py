"""What stands in front of pages does not enter the answers by those that are not in them."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from freshcrawl.collapsing import reject_collapsing
from freshcrawl.core.pages import Cause, PageRecord, Status, Verdict
from freshcrawl.entering import doubtful
from freshcrawl.witnesses import to_ask
from tests.support.quick_site import QuickSite
from tests.support.runs import ROOT, Bench, key_of, stage, text
from tests.support.trouble_cases import PLAIN_WALL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from freshcrawl.core.published import Staged
    from freshcrawl.run import Run

HIDDEN = key_of("hidden")
LIVE = [f"p{number}" for number in range(6)]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.publish(*LIVE)
    bench.publish("hidden", status=Status.HIDDEN)
    bench.clock.time += 3_600
    return bench


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def begun(bench: Bench) -> Run:
    run = bench.run()
    run.ledger.set(HIDDEN, cause=Cause.NOT_FOUND, last_checked=5.0)
    for name in ("new", "newer"):
        run.ledger.add(PageRecord(key_of(name), ROOT + name))
    return run


def come(run: Run, *names: str, essence: str = "wall", verdict: str = Verdict.NEW) -> list[Staged]:
    """Let pages answer with one text, each page with its own digest."""
    entries = [text(name, f"wall of {name}") for name in names]
    for entry in entries:
        entry.essence, entry.verdict, entry.simhash = essence, verdict, -1
        entry.changed_at = run.now
        run.take(entry.key, confirm=True)
        run.checked(entry.key, verdict, cause="")
    stage(run, entries)
    return entries


def stand(run: Run, *names: str) -> None:
    for name in names:
        run.take(key_of(name), confirm=True)
        run.checked(key_of(name), Verdict.UNCHANGED)


def test_text_refused_of_a_live_page_is_refused_of_new_and_hidden_ones(bench: Bench) -> None:
    run = begun(bench)
    stand(run, "p3", "p4", "p5")
    run.checked(key_of("p1"), Verdict.REJECTED, refused="wall")
    come(run, "new", "hidden")
    reject_collapsing(run)
    assert run.ledger.staged == {}
    hidden, new = run.ledger.pages[HIDDEN], run.ledger.pages[key_of("new")]
    assert (hidden.status, hidden.cause, hidden.last_checked) == ("hidden", "not_found", 5.0)
    assert (new.status, new.last_checked, new.last_verdict) == ("pending", 0.0, "rejected")
    assert run.now < new.next_due <= run.now + 86_400
    assert run.report.rejected == 3


def test_text_refused_in_an_earlier_run_counts(bench: Bench) -> None:
    run = begun(bench)
    run.checked(key_of("p1"), Verdict.REJECTED, refused="wall")
    run.commit()
    run = begun(bench)
    stand(run, "p3", "p4")
    come(run, "new")
    reject_collapsing(run)
    assert run.ledger.staged == {}


@pytest.mark.parametrize("by", ["essence", "digest"])
def test_text_that_made_a_live_page_short_counts(bench: Bench, by: str) -> None:
    run = begun(bench)
    stand(run, "p3", "p4")
    said = {"essence": "wall", "digest": "wall of new"}[by]
    run.checked(key_of("p1"), Verdict.REJECTED, doubt={by: said})
    come(run, "new")
    reject_collapsing(run)
    assert run.ledger.staged == {}


def test_what_was_refused_of_a_new_page_says_nothing_of_others_later(bench: Bench) -> None:
    """Else pages that came with one text while the site failed would keep each other out."""
    run = begun(bench)
    come(run, "new", "newer")
    reject_collapsing(run)
    assert run.ledger.staged == {}
    run.checked(key_of("newer"), Verdict.FAILED)
    stand(run, "p3")
    come(run, "new")
    reject_collapsing(run)
    assert run.ledger.staged.keys() == {key_of("new")}


def test_two_live_pages_are_asked_whether_a_new_text_is_a_wall(bench: Bench) -> None:
    run = begun(bench)
    come(run, "new")
    asked = to_ask(run)
    assert len(asked) == 2
    assert to_ask(run) == []
    come(run, asked[0].partition("/")[2], verdict=Verdict.CHANGED)
    reject_collapsing(run)
    assert key_of("new") not in run.ledger.staged


def test_pages_of_one_text_are_believed_where_the_site_is_itself(bench: Bench) -> None:
    run = begun(bench)
    come(run, "new", "newer", "hidden")
    for key in to_ask(run):
        stand(run, key.partition("/")[2])
    reject_collapsing(run)
    assert len(run.ledger.staged) == 3


def test_pages_that_answered_before_a_wall_came_up_say_nothing_of_it(bench: Bench) -> None:
    run = begun(bench)
    stand(run, "p3", "p4")
    bench.clock.time += 60
    come(run, "new")
    assert to_ask(run) == []  # one page: nobody needs to be asked again for each
    come(run, "newer")
    assert len(to_ask(run)) == 2
    reject_collapsing(run)
    assert run.ledger.staged == {}


def test_equal_stubs_of_a_first_crawl_are_its_pages() -> None:
    bench = Bench()
    run = bench.run()
    for name in ("a", "b", "c", "d", "e"):
        run.ledger.add(PageRecord(key_of(name), ROOT + name))
    come(run, "a", "b", "c", "d", "e")
    assert to_ask(run) == []
    assert doubtful(run) == set()
    reject_collapsing(run)
    assert len(run.ledger.staged) == 5


def test_what_is_judged_at_the_end_is_not_published_in_between(bench: Bench) -> None:
    run = begun(bench)
    come(run, "new", "newer")
    come(run, "hidden", essence="own")
    assert doubtful(run) == {key_of("new"), key_of("newer")}


def test_wall_for_all_known_pages_takes_the_place_of_none(
    tmp_path: Path, runner: asyncio.Runner
) -> None:
    """Real crawls: a page that had left, and two that are new, while a wall stands."""
    site = QuickSite(tmp_path, runner)
    paths = [f"/guide/{number}" for number in range(8)]
    for path in paths:
        site.serve(path, *(f"Words number {n} of {path}, of no other page." for n in range(30)))
    site.on_sitemap(*paths)
    site.crawl()
    own, away = dict(site.server.answers), paths[3]
    del site.server.answers[away]
    site.crawl()
    assert away not in site.urls()
    new = ["/guide/new", "/guide/newer"]
    for path in (*paths, *new):
        site.server.answers[path] = type(own[away])(PLAIN_WALL)
    site.on_sitemap(*paths, *new)
    site.crawl()
    with closing(site.reading()) as state:
        known = {key.rpartition("/")[2]: record for key, record in state.pages().items()}
    assert site.urls() == set(paths) - {away}
    assert (known["3"].status, known["3"].cause) == ("hidden", "not_found")
    assert (known["new"].status, known["new"].last_verdict) == ("pending", "rejected")
    site.server.answers.update(own)
    for path in new:
        site.serve(path, f"Words of {path} alone, at last.")
    site.on_sitemap(*paths, *new)
    site.crawl()
    assert site.urls() == {*paths, *new}
