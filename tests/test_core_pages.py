"""Records survive their JSON, also that of a version with other fields."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.blocks import Block, Document
from freshcrawl.core.boilerplate import Boilerplate
from freshcrawl.core.listings import Source
from freshcrawl.core.pages import JsonRecord, PageRecord, Status, Verdict
from freshcrawl.core.published import Chunk, Published, Staged
from freshcrawl.core.report import RunReport

RECORDS: list[type[JsonRecord]] = [
    PageRecord, Block, Chunk, Published, Staged, Source, RunReport, Boilerplate,
]  # fmt: skip
TEXT = st.text(max_size=8)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "list[str]": st.lists(TEXT, max_size=3),
    "list[int]": st.lists(st.integers(0, 99), max_size=3),
    "list[float]": st.lists(st.floats(0, 4e9), max_size=3),
    "dict[str, Any]": st.dictionaries(TEXT, st.integers() | TEXT, max_size=2),
    "dict[str, int]": st.dictionaries(TEXT, st.integers(), max_size=2),
    "dict[str, list[str]]": st.dictionaries(TEXT, st.lists(TEXT, max_size=2), max_size=2),
    "list[list[str]]": st.lists(st.lists(TEXT, min_size=2, max_size=2), max_size=2),
    "list[dict[str, Any]]": st.lists(st.dictionaries(TEXT, st.integers() | TEXT), max_size=2),
}


def records(kind: type[JsonRecord]) -> st.SearchStrategy[JsonRecord]:
    return st.builds(kind, **{f.name: VALUES[str(f.type)] for f in fields(kind)})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", RECORDS)
@given(data=st.data())
def test_json_round_trip(kind: type[JsonRecord], data: st.DataObject) -> None:
    record = data.draw(records(kind))
    stored = json.loads(json.dumps(record.to_json()))
    assert kind.from_json(stored) == record


@pytest.mark.parametrize("kind", RECORDS)
@given(data=st.data())
def test_names_that_are_not_known_are_left_out(kind: type[JsonRecord], data: st.DataObject) -> None:
    record = data.draw(records(kind))
    stored = {**record.to_json(), "of_a_later_version": [1], "": None}
    assert kind.from_json(stored) == record


@pytest.mark.parametrize("kind", RECORDS)
@given(data=st.data())
def test_only_what_differs_from_the_default_is_stored(
    kind: type[JsonRecord], data: st.DataObject
) -> None:
    record = data.draw(records(kind))
    stored = record.to_json()
    for f in fields(kind):  # type: ignore[arg-type]
        default = f.default if f.default_factory is MISSING else f.default_factory()
        at_default = default is not MISSING and getattr(record, f.name) == default
        assert (f.name in stored) is not at_default


def test_a_record_without_a_field_gets_its_default() -> None:
    record = PageRecord.from_json({"key": "docs.example.com/a", "url": "u", "etag": '"1"'})
    assert record == PageRecord("docs.example.com/a", "u", etag='"1"')
    assert record.status == Status.PENDING


def test_words_are_stored_as_plain_text() -> None:
    record = PageRecord("k", "u", status=Status.GONE, last_verdict=Verdict.GONE)
    text = json.dumps(record.to_json())
    assert text == '{"key": "k", "url": "u", "status": "gone", "last_verdict": "gone"}'
    assert PageRecord.from_json(json.loads(text)).status == Status.GONE


def test_lists_of_two_records_are_apart() -> None:
    one, other = Staged("a", "u", "live", "new", 1.0), Staged("b", "u", "live", "new", 1.0)
    one.held_runs.append(1.0)
    assert other.held_runs == []
    assert Staged.from_json({**other.to_json()}).chunks == []


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (PageRecord("k", "u"), ""),
        (PageRecord("k", "u", reason="no sitemap or page links to it any more"), ""),
        (PageRecord("k", "u", failures=2), "the last checks failed"),
        (PageRecord("k", "u", failures=2, reason="HTTP 503"), "HTTP 503"),
    ],
)
def test_stale_reason(record: PageRecord, reason: str) -> None:
    assert record.stale_reason == reason


def test_plain_text_of_a_block() -> None:
    assert Block("paragraph", "See [a](/b).", bare="See a.").plain == "See a."
    assert Block("paragraph", "See a.").plain == "See a."


def test_markdown_of_a_document() -> None:
    document = Document(
        blocks=[Block("heading", "# A", level=1), Block("paragraph", "[b](/c)", bare="b")]
    )
    assert document.markdown == "# A\n\n[b](/c)"
    assert document.bare_markdown == "# A\n\nb"
    assert Document().markdown == ""
