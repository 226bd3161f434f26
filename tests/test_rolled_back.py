"""What a rollback makes of records, staged work and the memories of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from freshcrawl import tally
from freshcrawl.core.boilerplate import Boilerplate
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.published import Edit
from freshcrawl.ledger import Ledger
from freshcrawl.rollback import release, roll_back
from freshcrawl.run_publishing import RunPublishing
from freshcrawl.staging import Content
from tests.support.embedder import HashEmbedder
from tests.support.runs import Bench, key_of, published, removal, stage, text

if TYPE_CHECKING:
    from freshcrawl.run import Run

NAMES = [f"p{number:02}" for number in range(30)]


@pytest.fixture
def bench() -> Bench:
    """Return a site of thirty pages; the second generation has other texts of the first ten."""
    bench = Bench()
    bench.publish(*NAMES)
    publish(bench, *(edit(name, "second") for name in NAMES[:10]))
    return bench


def edit(name: str, digest: str, status: Status = Status.LIVE, **fields: Any) -> Edit:
    page = published(name, status, 5.0)
    page.digest = digest
    for field, value in fields.items():
        setattr(page, field, value)
    return Edit(page)


def publish(bench: Bench, *edits: Edit) -> None:
    model = HashEmbedder()
    bench.state.corpus.publish(
        edits,
        run_id="run",
        model=model.model,
        dimension=model.dimension,
        published_at=bench.clock.time,
        build=lambda snapshot: None,
    )


def go_back(bench: Bench, generation: int = 1) -> None:
    config = bench.run().config
    roll_back(bench.state, config, HashEmbedder, generation, bench.clock.time)


def commit(run: Run) -> None:
    run.report.status = "ok"
    run.commit()


def test_staged_work_of_pages_that_differ_is_void_and_of_others_stays(bench: Bench) -> None:
    run = bench.run()
    stage(run, [text(NAMES[0]), removal(NAMES[1]), text(NAMES[20]), removal(NAMES[21])])
    commit(run)
    go_back(bench)
    ledger = Ledger(bench.state, bench.clock.time)
    assert sorted(ledger.staged) == [key_of(NAMES[20]), key_of(NAMES[21])]


def test_pages_that_differ_are_due_without_validators_and_others_are_not(bench: Bench) -> None:
    go_back(bench)
    run = bench.run()
    assert run.due_keys() == sorted(map(key_of, NAMES[:10]))
    record = run.ledger.pages[key_of(NAMES[0])]
    assert (record.etag, record.status, record.reason) == (
        *("", Status.LIVE),
        "rolled back to generation 1",
    )
    assert run.validators(key_of(NAMES[20]), run.ledger.pages[key_of(NAMES[20])].url)


def test_how_a_page_was_made_is_taken_from_its_content(bench: Bench) -> None:
    content = Content("https://docs.example.com/p00", made_by="older", generator="body")
    bench.state.corpus.put_content({"kept": str.encode(_json(content))})
    publish(bench, edit(NAMES[0], "third", content="kept"))
    publish(bench, edit(NAMES[0], "fourth"))
    go_back(bench, 3)
    record = Ledger(bench.state, 0.0).pages[key_of(NAMES[0])]
    assert (record.made_by, record.generator) == ("older", "body")


def test_content_that_is_no_json_counts_as_not_kept(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    broken = {"no json": b"{", "no object": b"[]", "no text": b"\xff", "no url": b"{}"}
    bench.state.corpus.put_content(broken)
    names = NAMES[10:14]
    publish(bench, *(edit(name, "new", content=of) for name, of in zip(names, broken, strict=True)))
    run = bench.run()
    stage(run, [text(name) for name in names])
    commit(run)
    caplog.clear()
    ledger = Ledger(bench.state, 0.0)
    assert sorted(ledger.staged) == sorted(map(key_of, names))
    assert caplog.text.count("is damaged; run scrapy verify --repair") == len(names)


def _json(content: Content) -> str:
    import json

    return json.dumps(content.to_json())


def test_memories_made_against_another_text_are_dropped(bench: Bench) -> None:
    records = bench.state.records
    for name in (NAMES[0], NAMES[20]):
        records.put(f"noise:{key_of(name)}", {"places": {}})
    records.put("meta:boilerplate", Boilerplate(["x"], basis="b").to_json())
    records.commit()
    go_back(bench)
    assert records.get(f"noise:{key_of(NAMES[0])}") is None
    assert records.get(f"noise:{key_of(NAMES[20])}") is not None
    known = bench.state.boilerplate()
    assert (known.fingerprints, known.basis, known.unfinished) == (["x"], "", True)


def test_statuses_follow_the_published_rows(bench: Bench) -> None:
    publish(
        bench,
        edit("p00", "second", Status.GONE),
        edit("p01", "second", Status.ALIAS),
        edit("later", "x"),
    )
    for key, status in ((key_of("p00"), Status.GONE), (key_of("p01"), Status.ALIAS)):
        record = Ledger(bench.state, 0.0).pages[key]
        record.status, record.alias_of = status, key_of("later")
        bench.state.records.put(f"page:{key}", record.to_json())
    later = PageRecord(key_of("later"), "https://docs.example.com/later", Status.LIVE)
    bench.state.records.put(f"page:{later.key}", later.to_json())
    bench.state.records.commit()
    go_back(bench, 2)
    pages = Ledger(bench.state, 0.0).pages
    found = {name: pages[key_of(name)] for name in ("p00", "p01", "later")}
    assert [record.status for record in found.values()] == ["live", "live", "pending"]
    assert [record.alias_of for record in found.values()] == ["", "", ""]


def test_nothing_is_let_go_while_pinned_and_marks_of_guards_stay(bench: Bench) -> None:
    go_back(bench)
    run = bench.run()
    stage(run, [text(name) for name in NAMES[:25]])
    assert tally.release(run) == []
    assert run.report.held == 25
    assert run.report.held_reasons == [
        "too many changes at once (25 of 30 live pages would change)",
        "rolled back to generation 1: nothing is published until "
        "scrapy rollback --release --site docs.example.com",
    ]
    assert {entry.held for entry in run.ledger.staged.values()} == {"changes"}


def test_work_that_no_guard_holds_waits_too(bench: Bench) -> None:
    go_back(bench)
    run = bench.run()
    stage(run, [text(name) for name in NAMES[:2]])
    assert tally.release(run) == []
    assert (run.report.held, run.report.held_classes) == (2, [])
    assert run.report.held_reasons == [run.report.pinned]


def test_way_back_to_what_was_there_before_trips_no_guard(bench: Bench) -> None:
    publish(bench, *(edit(name, "third") for name in NAMES[:25]))
    go_back(bench)
    with_release(bench)
    run = bench.run()
    stage(run, [text(name, "third") for name in NAMES[:25]])
    assert len(tally.release(run)) == 25
    other = bench.run()
    stage(other, [text(name, "never seen") for name in NAMES[:25]])
    assert tally.release(other) == []


def with_release(bench: Bench) -> None:
    release(bench.state, bench.clock.time)


def test_removals_pass_the_guards_though_they_are_what_was_gone_back_from(bench: Bench) -> None:
    publish(bench, *(edit(name, "", Status.GONE) for name in NAMES[:25]))
    go_back(bench)
    with_release(bench)
    run = bench.run()
    stage(run, [removal(name) for name in NAMES[:25]])
    assert tally.leaving(run) == set()
    assert tally.release(run) == []
    assert run.report.held_classes == ["removals"]


def released_with_another_text(bench: Bench) -> list[str]:
    """Return the names of pages that may become again what they were."""
    names = NAMES[:25]
    publish(bench, *(edit(name, "third") for name in names))
    go_back(bench)
    bench.clock.time += 60
    with_release(bench)
    bench.clock.time += 60
    return names


def test_way_back_is_free_until_a_run_has_looked_at_a_page(bench: Bench) -> None:
    names = released_with_another_text(bench)
    run = bench.run()
    for name in names[:22]:
        run.ledger.set(key_of(name), last_checked=bench.clock.time)
    assert set(run.ledger.undone) == set(map(key_of, names))
    commit(run)
    later = bench.run()
    assert set(later.ledger.undone) == set(map(key_of, names[22:]))
    stage(later, [text(name, "third") for name in names])
    assert set(tally.release(later)) == set(map(key_of, names[22:]))
    commit(later)
    assert set(bench.run().ledger.undone) == set(map(key_of, names[22:]))
    # What a guard holds is not let go by what the next run finds.
    again = bench.run()
    stage(again, [text(name, "third") for name in names])
    assert set(tally.release(again)) == set(map(key_of, names[22:]))


def test_run_that_was_cut_off_before_its_tally_does_not_end_the_way_back(bench: Bench) -> None:
    names = released_with_another_text(bench)
    run = bench.run()
    for name in names:
        run.ledger.set(key_of(name), last_checked=bench.clock.time)
    stage(run, [text(name, "third") for name in names])
    run.commit()
    assert len(tally.release(bench.run())) == 25


def test_way_back_ends_when_pages_are_published(bench: Bench) -> None:
    names = released_with_another_text(bench)
    publish(bench, *(edit(name, "fourth") for name in names))
    run = bench.run()
    assert run.ledger.undone == {}
    stage(run, [text(name, "third") for name in names])
    assert tally.release(run) == []


def test_pages_are_looked_at_while_pinned_without_an_end_of_the_way_back(bench: Bench) -> None:
    publish(bench, *(edit(name, "third") for name in NAMES[:25]))
    go_back(bench)
    bench.clock.time += 60
    run = bench.run()
    for name in NAMES[:25]:
        run.ledger.set(key_of(name), last_checked=bench.clock.time)
    stage(run, [text(name, "third") for name in NAMES[:25]])
    tally.release(run)
    commit(run)
    with_release(bench)
    assert len(tally.release(bench.run())) == 25


def test_no_publish_in_between_while_pinned(bench: Bench) -> None:
    def grown() -> list[str]:
        run = bench.run()
        names = [f"new{number:02}" for number in range(40)]
        for name in names:
            run.ledger.add(PageRecord(key_of(name), f"https://docs.example.com/{name}"))
            run.handled.add(key_of(name))
        stage(run, [text(name) for name in names])
        for entry in run.ledger.staged.values():
            entry.generator = "rule"
        return RunPublishing(run)._new_pages()

    assert len(grown()) == 40
    go_back(bench)
    assert grown() == []
    with_release(bench)
    assert len(grown()) == 40


def test_release_makes_due_what_waits_and_what_still_differs(bench: Bench) -> None:
    publish(bench, edit("later", "x"))
    bench.run().commit()
    go_back(bench)
    run = bench.run()
    for key in run.due_keys():
        run.ledger.set(key, next_due=9e9, last_attempt=bench.clock.time)
    stage(run, [text(NAMES[20])])
    commit(run)
    assert bench.run().due_keys() == []
    assert release(bench.state, bench.clock.time) == 12
    assert bench.run().due_keys() == sorted(map(key_of, [*NAMES[:10], NAMES[20], "later"]))
    assert not bench.run().ledger.pinned


def test_staged_work_that_equals_what_is_published_is_forgotten(bench: Bench) -> None:
    go_back(bench)
    run = bench.run()
    same = text(NAMES[0], f"digest of {NAMES[0]}")
    stage(run, [same, text(NAMES[1], "new")])
    commit(run)
    assert list(bench.run().ledger.staged) == [key_of(NAMES[1])]


def test_records_that_are_lost_are_brought_in_step_again(bench: Bench) -> None:
    go_back(bench)
    for name, _ in list(bench.state.records.items("")):
        bench.state.records.delete(name)
    bench.state.records.commit()
    assert bench.run().due_keys() == sorted(map(key_of, NAMES))
