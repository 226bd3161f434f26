"""The report shows what the contract names, with times that people can read."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshcrawl.core.report import RunReport, iso

CONTRACT = {
    *("run_id", "started_at", "finished_at", "complete", "incomplete_reasons", "held"),
    *("held_reasons", "discovered", "not_due", "fetched", "not_modified", "new", "changed"),
    *("cosmetic", "links_only", "unchanged", "moved", "gone", "hidden", "missing", "rejected"),
    *("failed", "chunks_embedded", "chunks_reused", "chunks_removed", "bytes_downloaded"),
    *("generation", "duration_s"),
}


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0, None),
        (0.0, None),
        (1, "1970-01-01T00:00:01.000Z"),
        (1_800_000_000.25, "2027-01-15T08:00:00.250Z"),
        (1_800_000_000.9996, "2027-01-15T08:00:00.999Z"),
        (-1.0, "1969-12-31T23:59:59.000Z"),
    ],
)
def test_iso(moment: float, text: str | None) -> None:
    assert iso(moment) == text


@given(st.floats(1, 2**34))
def test_iso_is_utc_and_exact_to_a_millisecond(moment: float) -> None:
    text = iso(moment)
    assert text is not None
    assert text.endswith("Z")
    assert datetime.fromisoformat(text).timestamp() == pytest.approx(moment, abs=0.001_01)


@pytest.mark.parametrize(
    ("started", "finished", "duration"),
    [(100.0, 0.0, 0.0), (100.0, 160.5, 60.5), (100.0, 100.12345, 0.123), (100.0, 40.0, 0.0)],
)
def test_duration(started: float, finished: float, duration: float) -> None:
    assert RunReport("r", started, finished).duration_s == duration


def test_a_reason_is_noted_once() -> None:
    report = RunReport("r", 1.0)
    for reason in ("sitemap a: HTTP 500", "sitemap b: HTTP 500", "sitemap a: HTTP 500"):
        report.incomplete(reason)
    assert report.incomplete_reasons == ["sitemap a: HTTP 500", "sitemap b: HTTP 500"]


def test_every_name_of_the_contract_is_shown() -> None:
    data = RunReport("r", 1_800_000_000.0).as_contract()
    assert set(data) >= CONTRACT
    assert data["started_at"] == "2027-01-15T08:00:00.000Z"
    assert data["finished_at"] is None
    assert (data["status"], data["complete"], data["held"]) == ("running", False, 0)
    json.dumps(data)


def test_two_reports_share_nothing() -> None:
    one, other = RunReport("a", 1.0), RunReport("b", 1.0)
    one.incomplete("x")
    assert other.as_contract()["incomplete_reasons"] == []
