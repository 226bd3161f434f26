"""Which events there are, and what they say."""

from __future__ import annotations

from typing import Any

import pytest

from freshcrawl.core.events import (
    as_it_stands,
    in_batches,
    made_id,
    page_event,
    page_type,
    run_event,
    run_types,
)
from freshcrawl.core.pages import PageRecord, Status
from freshcrawl.core.published import Published
from freshcrawl.core.report import RunReport

LIVE, HIDDEN, GONE, ALIAS, EXCLUDED = (
    str(status)
    for status in (Status.LIVE, Status.HIDDEN, Status.GONE, Status.ALIAS, Status.EXCLUDED)
)


def row(status: str = LIVE, **fields: Any) -> Published:
    return Published("docs.test/a", **{"url": "http://docs.test/a", "status": status, **fields})


def of(status: str | None) -> Published | None:
    return None if status is None else row(status)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (None, LIVE, "page.new"),
        (HIDDEN, LIVE, "page.new"),
        (GONE, LIVE, "page.new"),
        (ALIAS, LIVE, "page.new"),
        (LIVE, LIVE, ""),
        (LIVE, HIDDEN, "page.hidden"),
        (LIVE, EXCLUDED, "page.hidden"),
        (LIVE, None, "page.hidden"),
        (LIVE, GONE, "page.gone"),
        (HIDDEN, GONE, "page.gone"),
        (LIVE, ALIAS, "page.moved"),
        (HIDDEN, ALIAS, "page.moved"),
        (HIDDEN, EXCLUDED, ""),
        (HIDDEN, HIDDEN, ""),
        (HIDDEN, None, ""),
        (GONE, HIDDEN, ""),
        (None, HIDDEN, ""),
        (None, GONE, ""),
        (None, ALIAS, ""),
        (None, None, ""),
    ],
)
def test_type_of_what_happened_to_a_page(before: str | None, after: str | None, kind: str) -> None:
    assert page_type(of(before), of(after)) == kind


@pytest.mark.parametrize(
    ("published", "known", "stands"),
    [
        (HIDDEN, GONE, GONE),
        (HIDDEN, ALIAS, ALIAS),
        (ALIAS, GONE, GONE),
        (GONE, ALIAS, ALIAS),
        (HIDDEN, EXCLUDED, HIDDEN),
        (GONE, HIDDEN, GONE),
        (HIDDEN, None, HIDDEN),
        (LIVE, GONE, LIVE),
        (None, GONE, None),
    ],
)
def test_what_became_of_a_page_after_it_left(
    published: str | None, known: str | None, stands: str | None
) -> None:
    record = PageRecord("docs.test/a", "http://docs.test/a", known) if known else None
    assert as_it_stands(of(published), record) == of(stands)


def test_ids_of_what_is_found_later_differ_by_when() -> None:
    ids = [event_of(row(HIDDEN), row(GONE), at=at, later=True) for at in (1.0, 1.0, 2.0)]
    first, again, other = (event["id"] for event in ids if event)
    assert first == again != other


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"digest": "2"}, ["text"]),
        ({"digest": "2", "links_digest": "2"}, ["text"]),
        ({"links_digest": "2"}, ["links"]),
        ({"digest": "2", "title": "B"}, ["text", "title"]),
        ({"url": "https://docs.test/a"}, ["url"]),
        ({"simhash": 5, "changed_at": 7.0, "content": "x", "from_gen": 9}, None),
    ],
)
def test_parts_of_a_change(fields: dict[str, Any], parts: list[str] | None) -> None:
    event = event_of(row(), row(**fields))
    assert (event and event["parts"]) == parts


def event_of(old: Published | None, new: Published | None, **more: Any) -> dict[str, Any] | None:
    record = PageRecord("docs.test/a", "http://docs.test/a", reason="answered 404", cause="moved")
    return page_event("docs", old, new, record, **{"at": 1.0, "generation": 3, **more})


def test_fields_of_an_event() -> None:
    event = event_of(row(title="A", digest="1"), row(ALIAS), moved_to="http://docs.test/b")
    assert event == {
        "id": made_id("docs", "page.moved", "docs.test/a", 3, "alias", "", "http://docs.test/a"),
        "type": "page.moved",
        "at": "1970-01-01T00:00:01.000Z",
        "generation": 3,
        "key": "docs.test/a",
        "url": "http://docs.test/a",
        "title": "A",
        "content_digest": "",
        "old_status": "live",
        "status": "alias",
        "moved_to": "http://docs.test/b",
        "cause": "moved",
        "reason": "answered 404",
    }
    new = event_of(None, row(), moved_from="http://docs.test/old")
    assert new is not None
    assert (new["old_status"], new["previous_url"]) == (None, "http://docs.test/old")
    respelled = event_of(row(), row(url="https://docs.test/a"))
    assert respelled is not None
    assert respelled["previous_url"] == "http://docs.test/a"


def test_ids_are_of_what_happened() -> None:
    one = event_of(None, row(digest="1"))
    assert one == event_of(None, row(digest="1"))
    others = [
        event_of(None, row(digest="2")),
        event_of(None, row(digest="1"), generation=4),
        event_of(row(), row(digest="1")),
    ]
    assert one is not None
    ids = {one["id"], *(other["id"] for other in others if other)}
    assert len(ids) == 4


@pytest.mark.parametrize(
    ("values", "types"),
    [
        ({"complete": True}, ["run.completed"]),
        ({"complete": True, "held": 3}, ["run.completed", "run.held"]),
        ({"complete": True, "pinned": "rolled back"}, ["run.completed", "run.held"]),
        ({"complete": False}, ["run.incomplete"]),
        ({"complete": False, "held": 1}, ["run.incomplete", "run.held"]),
        ({"complete": True, "status": "failed"}, ["run.incomplete"]),
        ({"complete": False, "status": "killed"}, ["run.incomplete"]),
    ],
)
def test_events_of_a_run(values: dict[str, Any], types: list[str]) -> None:
    report = RunReport("r1", 100.0, 160.0, **{"status": "ok", **values})
    run = report.as_contract()
    assert run_types(run) == types
    event = run_event("docs", types[0], run, ["do this"], 200.0)
    assert event["at"] == run["finished_at"]
    assert (event["run"], event["remedies"]) == (run, ["do this"])
    report.finished_at = 0.0  # killed
    assert run_event("docs", types[0], report.as_contract(), [], 200.0)["at"].endswith("03:20.000Z")


def test_batches() -> None:
    events = [{"id": str(number), "type": "page.new"} for number in range(5)]
    made = list(in_batches("docs", events, 2, run_id="r", generation=4, at=1.0, exact=False))
    assert [[event["id"] for event in batch["events"]] for batch in made] == [
        ["0", "1"],
        ["2", "3"],
        ["4"],
    ]
    assert len({batch["id"] for batch in made}) == 3
    again = list(in_batches("docs", events[2:4], 2, run_id="s", generation=5, at=9.0))
    assert again[0]["id"] == made[1]["id"]
    assert {batch["exact"] for batch in made} == {False}
    assert list(in_batches("docs", [], 2, run_id="r", generation=4, at=1.0)) == []
