"""Pages that a changed table leaves out: they leave by the guards and can come back."""

from __future__ import annotations

from typing import Any

import pytest

from freshcrawl import tally
from freshcrawl.absence import to_confirm
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.rescoping import OUT, add_targets
from freshcrawl.site_tables import make_site
from tests.support.runs import ROOT, Bench, key_of

NAMES = tuple(f"{folder}/{n}" for folder in ("a", "b") for n in range(20))


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.publish(*NAMES)
    return bench


def test_nothing_changes_with_the_same_table(bench: Bench) -> None:
    run = bench.run(full=True)
    assert not run.handled
    assert not run.ledger.staged


def test_denied_pages_are_not_asked_for_and_leave(bench: Bench) -> None:
    bench.site = {"deny": ["/a/1?[0-4]$"]}
    run = bench.run(full=True)
    out = {key_of(f"a/{n}") for n in (0, 1, 2, 3, 4, 10, 11, 12, 13, 14)}
    assert run.handled == out
    assert set(run.due_keys()) == {key_of(name) for name in NAMES} - out
    assert not set(to_confirm(run)) & out
    assert not any(run.is_due(key) for key in out)
    staged = run.ledger.staged
    reason = f"{OUT} (deny '/a/1?[0-4]$')"
    assert {(staged[key].status, staged[key].reason) for key in out} == {(Status.HIDDEN, reason)}
    assert run.report.hidden == 10
    # 10 of 40 is more than the guard lets go at once.
    assert tally.release(run) == []
    assert run.report.held_reasons == [
        "too many removals at once (10 of 40 live pages would leave the answers)"
    ]


@pytest.mark.parametrize(
    ("table", "url", "why"),
    [
        ({"deny": ["/x", "/a$"]}, "a", "deny '/a$'"),
        ({"allow": ["/x"]}, "a", "allow"),
        ({"discovery": "list", "urls": [f"{ROOT}x"]}, "a", "urls"),
        ({"url": f"{ROOT}guide/"}, "a", f"it is not below {ROOT}guide/"),
    ],
)
def test_the_key_that_leaves_a_page_out_is_named(table: Any, url: str, why: str) -> None:
    site = make_site({"url": ROOT, **table}, "test")
    assert site.key_of(ROOT + url) is None
    assert site.leaves_out(ROOT + url) == why


def test_few_denied_pages_leave_at_once(bench: Bench) -> None:
    bench.site = {"deny": ["/a/1$"]}
    assert tally.release(bench.run()) == [key_of("a/1")]


def test_a_guard_of_the_site_decides(bench: Bench) -> None:
    bench.site = {"deny": ["/a/"], "guard_removed_ratio": 1.0}
    run = bench.run()
    assert len(tally.release(run)) == 20
    assert run.report.released == 0


def test_held_pages_that_are_let_go_are_counted(bench: Bench) -> None:
    bench.site = {"deny": ["/a/"]}
    first = bench.run()
    assert tally.release(first) == []
    first.commit()
    bench.site = {"deny": ["/a/"], "guard_removed_ratio": 1.0}
    again = bench.run()
    assert len(tally.release(again)) == again.report.released == 20


def test_held_pages_that_are_found_again_are_counted_once(bench: Bench) -> None:
    bench.site = {"deny": ["/a/"]}
    first = bench.run()
    tally.release(first)
    first.commit()
    again = bench.run()
    assert (first.report.hidden, again.report.hidden) == (20, 0)
    # Only what comes late enough to confirm it is kept.
    assert len(again.ledger.staged[key_of("a/1")].held_runs) == 1
    again.commit()
    bench.clock.time += 13 * 3_600
    assert len(bench.run().ledger.staged[key_of("a/1")].held_runs) == 2


def test_a_table_that_lets_them_in_again_drops_what_is_held(bench: Bench) -> None:
    bench.site = {"deny": ["/a/"]}
    first = bench.run()
    tally.release(first)
    first.commit()
    bench.site = {}
    again = bench.run()
    assert not again.ledger.staged
    assert again.is_due(key_of("a/1"))


def test_pages_that_were_left_out_are_asked_for_again(bench: Bench) -> None:
    record = PageRecord(key_of("c"), ROOT + "c", Status.EXCLUDED, OUT, next_due=9e9, left_out=True)
    bench.state.records.put(f"page:{record.key}", record.to_json())
    run = bench.run()
    assert run.ledger.pages[record.key].status == Status.PENDING
    assert run.is_due(record.key)


def test_a_page_that_other_rules_give_another_key_becomes_its_alias() -> None:
    bench = Bench()
    bench.publish("a?theme=dark", "b")
    bench.site = {"drop_params": ["theme"]}
    run = bench.run()
    staged = run.ledger.staged[key_of("a?theme=dark")]
    assert (staged.status, staged.alias_of) == (Status.ALIAS, key_of("a"))
    # Not before the page that it stands for was read.
    assert tally.release(run) == []
    add_targets(run)
    assert run.is_due(key_of("a"))
    assert tally.release(run) == []
    run.ledger.set(key_of("a"), status=Status.EXCLUDED)
    assert tally.release(run) == [key_of("a?theme=dark")]


def test_pages_that_are_left_out_list_nothing_and_take_no_room(bench: Bench) -> None:
    bench.site = {"discovery": "links", "max_pages": len(NAMES) + 2}
    run = bench.run()
    run.sightings.list_links(key_of("a/1"), [ROOT + "b/1", ROOT + "b/2"])
    run.commit()
    bench.site = {**bench.site, "deny": ["/a/"]}
    run = bench.run()
    assert not run.ledger.listings.lists(key_of("b/1"))
    assert run.sightings.list_links(key_of("b/3"), [f"{ROOT}new/{n}" for n in range(22)])
    assert not run.sightings.list_links(key_of("b/3"), [f"{ROOT}new/{n}" for n in range(23)])
    assert run.report.incomplete_reasons == ["more than 42 pages (max_pages)"]


def test_a_page_keeps_its_key_by_the_spelling_that_is_listed() -> None:
    bench = Bench(site={"drop_index": True})
    bench.publish("a")
    record = bench.run().ledger.pages[key_of("a")]
    record.url, record.listed_url = ROOT + "a/index.html", ROOT + "a"
    bench.state.records.put(f"page:{record.key}", record.to_json())
    bench.site = {"drop_index": False}
    run = bench.run()
    assert not run.ledger.staged
    assert run.ledger.pages[key_of("a")].url == ROOT + "a"
