"""What the end of a run does with site boilerplate, over stores in memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from freshcrawl import tally
from freshcrawl.boilerplate.settling import settle
from freshcrawl.core.blocks import Block
from freshcrawl.core.boilerplate import BODY, find, prints_of, whole, without
from freshcrawl.core.changes import content_digest, links_digest
from freshcrawl.core.chunks import chunk_page
from freshcrawl.core.pages import PageRecord, Status, Verdict
from freshcrawl.core.published import Staged
from freshcrawl.explanation import explain, page_lines
from freshcrawl.run_publishing import MIN_PUBLISH_PAGES, RunPublishing
from freshcrawl.staging import pack, pack_blocks
from tests.support.embedder import HashEmbedder
from tests.support.runs import ROOT, Bench, key_of, removal

if TYPE_CHECKING:
    from freshcrawl.run import Run

DAY = 86_400.0
NAMES = [chr(ord("a") + number) * 3 for number in range(24)]
OLD, NEW = ["Old head", "Old foot"], ["New head", "New foot"]


def blocks(name: str, frame: list[str], text: str = "") -> list[Block]:
    own = [
        Block("heading", f"# {name}", level=1, title=name),
        Block("paragraph", text or f"Of {name}."),
    ]
    return [Block("paragraph", frame[0]), *own, Block("paragraph", frame[1])]


def read(run: Run, name: str, frame: list[str], text: str = "", *, upgrade: bool = False) -> None:
    """Stage a page as the pipelines do that have read it with the site's list."""
    key, found = key_of(name), blocks(name, frame, text)
    if key not in run.ledger.pages:
        run.ledger.add(PageRecord(key, ROOT + name))
    places = find(found, run.ledger.boilerplate.fingerprints)
    shown, model = without(found, places), HashEmbedder()
    prints = prints_of(found[at] for at in places)
    found_now = Verdict.NEW if key not in run.ledger.published else Verdict.CHANGED
    chunks = chunk_page(key, name, shown, model.token_offsets, model.max_tokens)
    entry = Staged(
        key, ROOT + name, Status.LIVE, Verdict.UNCHANGED if upgrade else found_now, run.now,
        changed_at=run.now, digest=content_digest(name, shown),
        links_digest=links_digest(ROOT + name, "", shown, prints), title=name, generator=BODY,
        made_by=run.made_by, left_out=places,
        blocks=pack_blocks(whole(shown, {at: found[at] for at in places})),
        body=pack(f"{frame} {text}"), chunks=[chunk.to_json() for chunk in chunks],
    )  # fmt: skip
    run.checked(
        key, entry.verdict, etag='"1"', validator_url=ROOT + name, generator=BODY,
        validator_digest=entry.digest + entry.links_digest, recipe=run.recipe,
    )  # fmt: skip
    run.stage(entry)


def end(run: Run) -> None:
    """End a run as the extension does."""
    asyncio.run(settle(run))
    keys = tally.release(run)
    run.commit()
    if keys:
        rows = run.ledger.whole([run.ledger.staged[key] for key in keys])
        run.adopt(run.publisher.publish(rows, run.report.run_id, run.clock))
        run.commit()


def shown(run: Run) -> dict[str, str]:
    """Return what is published of each page."""
    texts = {}
    for key in run.ledger.live_keys():
        kept = run.ledger.published_blocks(key) or []
        texts[key.rpartition("/")[2]] = " ".join(block.plain for block in kept)
    return texts


@pytest.fixture
def bench() -> Bench:
    """Return a site of 24 pages with the old frame, of which the list was learned."""
    bench = Bench()
    run = bench.run()
    for name in NAMES:
        read(run, name, OLD)
    end(run)
    bench.clock.time += DAY
    return bench


def own(*names: str) -> dict[str, str]:
    return {name: f"# {name} Of {name}." for name in names}


def validators(run: Run, name: str) -> bool:
    return bool(run.validators(key_of(name), ROOT + name))


def test_first_crawl(bench: Bench) -> None:
    run = bench.run()
    assert shown(run) == own(*NAMES)
    learned = run.ledger.boilerplate
    assert (len(learned.fingerprints), learned.pages, learned.unfinished) == (2, 24, False)
    assert learned.samples == ["Old foot", "Old head"]
    assert all(validators(run, name) for name in NAMES)
    end(run)
    assert (run.report.remade, run.ledger.generation) == (0, 1)
    page = explain(bench.state, f"{ROOT}aaa", run.now, run.schedule)
    assert page is not None
    assert (page["left_out"], page["boilerplate"]) == (2, learned.version)
    found = f"so the whole body; 2 blocks left out as site boilerplate (list {learned.version})"
    assert found in "\n".join(page_lines(page, run.now))


def test_a_redesign_trips_no_guard(bench: Bench) -> None:
    run = bench.run()
    intervals = {key: record.interval for key, record in run.ledger.pages.items()}
    for name in NAMES:
        read(run, name, NEW)
    end(run)
    assert shown(run) == own(*NAMES)
    assert (run.report.changed, run.report.cosmetic, run.report.held) == (0, 24, 0)
    assert run.report.chunks_embedded == 0
    for key, record in run.ledger.pages.items():
        assert (record.last_verdict, record.changes, record.churn) == ("cosmetic", 0, 0)
        assert record.interval == intervals[key]
        assert record.next_due > run.now
        assert record.difference["reason"] == "only what repeats across the site differs"
    assert {page.changed_at for page in run.ledger.published.values()} == {run.now - DAY}
    assert all(validators(bench.run(), name) for name in NAMES)


def test_what_an_upgrade_reads_anew_is_published_whatever_was_learned() -> None:
    bench, frame = Bench(), ["Own head", "Own foot"]
    run = bench.run()
    for name in NAMES:
        read(run, name, frame if name == "aaa" else OLD)
    run.ledger.staged[key_of("aaa")].made_by = "older"
    run.ledger.restage(run.ledger.whole([run.ledger.staged[key_of("aaa")]])[0])
    end(run)
    bench.clock.time += DAY
    run = bench.run()
    record = run.ledger.pages[key_of("aaa")]
    assert record.made_by == "older"
    for name in NAMES[1:]:
        read(run, name, NEW)
    read(run, "aaa", frame, upgrade=True)
    interval, due = record.interval, record.next_due
    end(run)
    assert (record.made_by, record.last_verdict) == (run.made_by, "unchanged")
    assert (record.interval, record.next_due) == (interval, due)
    assert (run.report.unchanged, run.report.cosmetic) == (1, 23)


@pytest.mark.parametrize("published", [False, True])
def test_an_upgrade_that_is_cut_off_is_made_up_for(bench: Bench, published: bool) -> None:
    key, run = key_of("aaa"), bench.run()
    run.ledger.set(key, made_by="older")
    content = run.ledger.published[key].content
    read(run, "aaa", OLD, upgrade=True)
    run.ledger.staged[key].made_by = "newer"
    run.ledger.restage(run.ledger.whole([run.ledger.staged[key]])[0])
    run.commit()
    rows = run.ledger.whole([run.ledger.staged[key]])
    if published:
        run.publisher.publish(rows, run.report.run_id, run.clock)
    later = bench.run()
    assert later.ledger.staged.keys() == (set() if published else {key})
    end(later)
    assert (later.ledger.pages[key].made_by, later.ledger.generation) == ("newer", 2)
    kept = later.ledger.published_content(key)
    assert kept is not None
    assert kept.made_by == "newer"
    assert later.ledger.published[key].content != content


def test_a_redesign_that_an_older_list_had_held_is_let_go(bench: Bench) -> None:
    run = bench.run()
    for name in NAMES:
        read(run, name, NEW)
        run.ledger.mark_held(key_of(name), "changes")
    run.commit()
    bench.clock.time += DAY
    later = bench.run()
    end(later)
    assert shown(later) == own(*NAMES)
    assert later.report.held == 0
    assert (later.report.changed, later.report.cosmetic) == (0, 0), "counted when they were found"


@pytest.mark.parametrize("verdict", [Verdict.REJECTED, Verdict.FAILED])
def test_held_work_that_is_let_go_hides_no_failed_check(bench: Bench, verdict: Verdict) -> None:
    run = bench.run()
    for name in NAMES:
        read(run, name, NEW)
        run.ledger.mark_held(key_of(name), "changes")
    run.commit()
    bench.clock.time += DAY
    later = bench.run()
    later.checked(key_of(NAMES[0]), verdict)
    end(later)
    counted = later.report.rejected + later.report.failed
    assert (counted, later.report.cosmetic, later.report.held) == (1, 0, 0)
    verdicts = [later.ledger.pages[key_of(name)].last_verdict for name in NAMES[:2]]
    assert verdicts == [verdict, "cosmetic"]


def test_what_a_guard_holds_teaches_nothing_until_it_is_let_go(bench: Bench) -> None:
    known = bench.run().ledger.boilerplate
    for hours, learned in ((0, False), (13, False), (26, True)):
        bench.clock.time = 2_000_000.0 + hours * 3_600
        run = bench.run()
        for name in NAMES:
            read(run, name, NEW, f"Other words of {name}.")
        end(run)
        assert (run.ledger.boilerplate != known) is learned
        assert bool(run.report.held) is not learned
    assert shown(run)["aaa"] == "# aaa Other words of aaa."


def test_published_pages_are_made_anew_from_what_is_kept(bench: Bench) -> None:
    run = bench.run()
    for name in NAMES[:12]:
        read(run, name, NEW)
    # Twelve of 24 have the new frame: both frames are on half of the pages.
    end(run)
    assert shown(run) == own(*NAMES)
    assert (run.report.cosmetic, run.report.remade) == (12, 0)
    bench.clock.time += DAY
    run = bench.run()
    for name in NAMES[12:]:
        read(run, name, NEW)
    end(run)
    assert shown(run) == own(*NAMES)
    assert (run.report.changed, run.report.chunks_embedded) == (0, 0)


def test_pages_that_show_the_frame_are_made_anew(bench: Bench) -> None:
    """Few pages had the new frame at first, and were published with it."""
    run = bench.run()
    for name in NAMES[:8]:
        read(run, name, NEW)
    end(run)
    assert run.report.changed == 8
    assert shown(run)["aaa"] == "New head # aaa Of aaa. New foot"
    bench.clock.time += DAY
    run = bench.run()
    for name in NAMES[8:13]:
        read(run, name, NEW)
    end(run)
    assert (run.report.changed, run.report.cosmetic, run.report.remade) == (0, 5, 8)
    assert shown(run) == own(*NAMES)
    after = bench.run()
    assert all(validators(after, name) for name in NAMES[:13]), "the same body, read anew"
    # Those with the old frame owe it: their next body tells.
    assert not any(validators(after, name) for name in NAMES[13:])
    read(after, NAMES[13], OLD)
    end(after)
    assert (after.report.changed, after.report.cosmetic) == (0, 1)
    assert shown(after)[NAMES[13]] == "Old head # nnn Of nnn. Old foot"


def test_page_that_waits_to_leave_is_not_made_anew(bench: Bench) -> None:
    run = bench.run()
    for name in NAMES[:8]:
        read(run, name, NEW)
    end(run)
    bench.clock.time += DAY
    run = bench.run()
    for name in NAMES[8:13]:
        read(run, name, NEW)
    for name in NAMES[:7]:
        run.stage(removal(name))
    end(run)
    assert run.report.held_classes == ["removals"]
    assert run.ledger.staged[key_of("aaa")].status == Status.GONE
    assert not validators(bench.run(), "aaa")


def test_pages_that_leave_are_not_learned_from(bench: Bench) -> None:
    run = bench.run()
    assert tally.leaving(run) == set()
    for name in NAMES[:5]:
        run.stage(removal(name))
    assert tally.leaving(run) == {key_of(name) for name in NAMES[:5]}
    end(run)
    assert run.ledger.boilerplate.pages == 19
    run = bench.run()
    for name in NAMES[5:11]:
        run.stage(removal(name))
    assert tally.leaving(run) == set(), "too many: held"


def test_a_run_that_is_stopped_is_finished_by_the_next(bench: Bench) -> None:
    run = bench.run()
    for name in NAMES[:8]:
        read(run, name, NEW)
    end(run)
    run = bench.run()
    for name in NAMES[8:13]:
        read(run, name, NEW)
    run.stopping = True
    asyncio.run(settle(run))
    assert run.ledger.boilerplate.unfinished
    run.commit()
    bench.clock.time += DAY
    later = bench.run()
    assert later.ledger.boilerplate.unfinished
    end(later)
    assert shown(later) == own(*NAMES)
    assert later.report.remade == 8
    assert not later.ledger.boilerplate.unfinished


def test_lost_records_make_no_page_change(bench: Bench) -> None:
    for name, _ in list(bench.state.records.items("")):
        bench.state.records.delete(name)
    run = bench.run()
    for name in NAMES:
        read(run, name, OLD)
    end(run)
    assert (run.report.changed, run.report.unchanged) == (0, 24)
    assert (run.ledger.generation, run.ledger.staged) == (1, {})
    assert all(validators(bench.run(), name) for name in NAMES)


def test_new_pages_wait_for_the_list_unless_an_earlier_run_left_them() -> None:
    bench, started = Bench(), []
    names = [f"p{number}" for number in range(MIN_PUBLISH_PAGES)]

    async def grow(run: Run) -> None:
        publishing = RunPublishing(run)
        publishing.publish_if_grown()
        await publishing.settled()
        started.append(run.ledger.generation)

    run = bench.run()
    for name in names:
        read(run, name, OLD)
    asyncio.run(grow(run))
    run.commit()
    asyncio.run(grow(bench.run()))
    assert started == [0, 1]


def test_what_a_person_discarded_stays_so_when_its_page_is_made_anew(bench: Bench) -> None:
    run = bench.run()
    for name in NAMES[:8]:
        read(run, name, NEW)
    end(run)
    run.stage(removal("aaa"))
    run.ledger.discard(key_of("aaa"), run.now)
    run.commit()
    bench.clock.time += DAY
    run = bench.run()
    for name in NAMES[8:13]:
        read(run, name, NEW)
    end(run)
    assert run.report.remade == 8
    assert bench.run().ledger.is_discarded(removal("aaa"))
